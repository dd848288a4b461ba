// SPDX-License-Identifier: Apache-2.0
// Which files of the upstreams' pages are offered by the rules, and pages without what they hide.
#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/search.h"
#include "lib/domain/text/filename.h"
#include "lib/os/clock.h"
#include "lib/state/upstream/offering.h"
#include "lib/state/upstream/right-clock.h"
#include "lib/state/upstream/upstream-row.h"

enum { BLOCKED_TEXT = 1000 }; // bytes of the reason why a project is blocked as a whole

// --- files ---

// The release of the last file that was judged: its files mostly stand together on a page, and have one version.
struct release {
	struct filename name;              // all zero: of none
	const struct offering_project *of; // whose rules looked is about; NULL: not yet
	struct offering_version looked;
};

static void release_end(struct release *r)
{
	filename_release(&r->name);
}

// Whether the file is of another release than the one before. Each name is parsed: what is malformed has no version.
static bool release_turn(struct release *r, const char *filename, const char *project)
{
	struct err ignored = ERR_INIT;
	CLEANUP(filename_release) struct filename before = r->name;
	if (filename_parse_listed(str_from(filename), project, &r->name, &ignored) < 0)
		r->name = (struct filename){0};
	bool is_same = r->name.kind != FILENAME_OTHER && before.kind != FILENAME_OTHER &&
		       strcmp(r->name.version.text, before.version.text) == 0;
	r->of = is_same ? r->of : NULL;
	return !is_same;
}

// NULL: the name has none.
static const struct version *release_version(const struct release *r)
{
	return r->name.kind == FILENAME_OTHER ? NULL : &r->name.version;
}

static void judge_page_file(const struct offering_project *p, const struct simplepage_file *f, const char *project,
	struct release *r, struct offering *out)
{
	struct offering_file asked = {.uploaded = f->uploaded, .seen = f->seen};
	if (offering_needs_version(p)) {
		release_turn(r, f->filename, project);
		if (r->of != p)
			offering_look_up(p, release_version(r), &r->looked);
		r->of = p;
		asked.version = &r->looked;
	}
	offering_judge(p, &asked, out);
}

void upstream_judge(const struct upstream_answer *answer, const struct upstream *upstream,
	const struct simplepage_file *file, struct offering *out)
{
	struct offering_project p;
	CLEANUP(release_end) struct release r = {0};
	*out = (struct offering){.is_offered = true};
	if (!answer->rules)
		return;
	size_t i = (size_t)(upstream - answer->of->upstreams->item);
	offering_project_init(&p, &answer->rules->of[i], answer->project, answer->now);
	judge_page_file(&p, file, answer->project, &r, out);
}

// --- versions of which no file is offered ---

struct listed_version {
	struct str key; // of struct version
	bool is_offered;
};

static int by_key(const void *a, const void *b)
{
	return str_cmp(((const struct listed_version *)a)->key, ((const struct listed_version *)b)->key);
}

static bool is_before_key(const void *version, const void *key)
{
	return str_cmp(((const struct listed_version *)version)->key, *(const struct str *)key) < 0;
}

// Fills v, sorted and each once, with the versions of the page's files. Keys are in text.
static size_t list_versions(const struct simplepage *listed, const char *project, const bool *hidden,
	struct listed_version *v, struct arena *text)
{
	CLEANUP(release_end) struct release r = {0};
	size_t count = 0, kept = 0;
	for (size_t i = 0; i < listed->files; i++) {
		bool is_other = release_turn(&r, listed->file[i].filename, project);
		const struct version *version = release_version(&r);
		if (version && is_other)
			v[count++].key = (struct str){arena_copy(text, version->key), version->key.len};
		if (version && !hidden[i])
			v[count - 1].is_offered = true;
	}
	if (count)
		qsort(v, count, sizeof(*v), by_key);
	for (size_t i = 0; i < count; i++)
		if (kept && str_eq(v[kept - 1].key, v[i].key))
			v[kept - 1].is_offered |= v[i].is_offered;
		else
			v[kept++] = v[i];
	return kept;
}

static bool lacks_version(const struct listed_version *v, size_t count, const char *text)
{
	struct err ignored = ERR_INIT;
	struct version version;
	if (version_parse(str_from(text), &version, &ignored) < 0)
		return false;
	size_t at = lower_bound(&version.key, v, count, sizeof(*v), is_before_key);
	bool lacks = at < count && str_eq(v[at].key, version.key) && !v[at].is_offered;
	version_release(&version);
	return lacks;
}

// Sets lacks of each version of the page whose files are all hidden. One that has no file stays.
static void find_lacking(const struct simplepage *listed, const char *project, const bool *hidden, bool *lacks)
{
	CLEANUP(arena_release) struct arena text = {0};
	CLEANUP(mem_free) struct listed_version *v = xcalloc(listed->files + 1, sizeof(*v));
	size_t count = list_versions(listed, project, hidden, v, &text);
	for (size_t i = 0; i < listed->versions; i++)
		lacks[i] = lacks_version(v, count, listed->version[i]);
}

// --- decisions ---

// What the rules say of a page, or of several together. It is kept with the project until a rule or the time changes
// it, so that an answer costs a look at it. Constant once it is made.
struct upstream_decision {
	atomic_uint refs;
	struct upstream_decision *after; // in the list of the project
	uint8_t row[LIMIT_UPSTREAM_INDEXES]; // the numbers of the rows whose pages it is about
	size_t rows;
	uint64_t rules;     // their number
	int64_t made, next; // it is so from made on, and before next; next 0: always
	struct simplepage page; // what is offered, if some are hidden: of file and version, and of strings of the project
	struct simplepage_file *file;
	const char **version;
	// As in struct upstream_answer:
	bool *hidden;
	uint8_t *origin;
	char *blocked;
};

void upstream_decision_unref(struct upstream_decision *d)
{
	if (!d || atomic_fetch_sub_explicit(&d->refs, 1, memory_order_acq_rel) != 1)
		return;
	free(d->file);
	free(d->version);
	free(d->hidden);
	free(d->origin);
	free(d->blocked);
	free(d);
}

// The ids of records, or what a line of `deny` says, each once.
static void note_block(const struct offering *o, struct buf *why)
{
	CLEANUP(buf_release) struct buf one = buf_up_to(LIMIT_PAGE);
	if (offering_first_rule(o) == OFFERING_RECORD)
		buf_str(&one, o->record.id);
	else
		offering_write(o, OFFERING_DENY, &one);
	if (strstr(why->data, one.data) || why->len + one.len > BLOCKED_TEXT)
		return;
	buf_puts(why, why->len ? ", " : "");
	buf_str(why, buf_view(&one));
}

static void note_next(struct upstream_decision *d, int64_t at)
{
	d->next = at && (!d->next || at < d->next) ? at : d->next;
}

// Returns how many files are hidden.
static size_t judge_page(struct upstream_decision *d, bool *hidden, const struct upstream_rules *r,
	const struct upstream_answer *a)
{
	const struct upstreams *u = a->of->upstreams;
	CLEANUP(mem_free) struct offering_project *p = xcalloc(r->count, sizeof(*p));
	CLEANUP(buf_release) struct buf why = buf_up_to(LIMIT_PAGE);
	CLEANUP(release_end) struct release release = {0};
	size_t blocked = 0, count = 0;
	for (size_t i = 0; i < r->count; i++)
		offering_project_init(&p[i], &r->of[i], a->project, a->now);
	for (size_t i = 0; i < a->listed->files; i++) {
		struct offering o;
		size_t row = a->origin ? a->origin[i] : a->home;
		judge_page_file(&p[u->index[row].upstream - u->item], &a->listed->file[i], a->project, &release, &o);
		hidden[i] = !o.is_offered;
		count += !o.is_offered;
		bool is_blocked = o.hides & (1u << OFFERING_DENY | 1u << OFFERING_RECORD);
		blocked += is_blocked;
		if (is_blocked && blocked == i + 1)
			note_block(&o, &why);
		note_next(d, o.next);
		note_next(d, o.lifts ? o.lifts->until + 1 : 0); // then another record may be the worst one
	}
	if (count && blocked == a->listed->files)
		d->blocked = buf_steal(&why);
	return count;
}

// Takes hidden over.
static void take_offered(struct upstream_decision *d, const struct upstream_answer *a, bool *hidden, size_t count)
{
	const struct simplepage *listed = a->listed;
	CLEANUP(mem_free) bool *lacks = xcalloc(listed->versions + 1, sizeof(*lacks));
	d->hidden = hidden;
	d->page = *listed;
	d->page.files = d->page.versions = 0;
	d->page.file = d->file = xcalloc(listed->files - count + 1, sizeof(*d->file));
	d->page.version = d->version = xcalloc(listed->versions + 1, sizeof(*d->version));
	d->origin = a->origin ? xcalloc(listed->files - count + 1, sizeof(*d->origin)) : NULL;
	for (size_t i = 0; i < listed->files; i++) {
		if (hidden[i])
			continue;
		if (a->origin)
			d->origin[d->page.files] = a->origin[i];
		d->file[d->page.files++] = listed->file[i];
	}
	if (listed->versions)
		find_lacking(listed, a->project, hidden, lacks);
	for (size_t i = 0; i < listed->versions; i++)
		if (!lacks[i])
			d->version[d->page.versions++] = listed->version[i];
}

static void name_rows(const struct upstream_answer *a, struct upstream_decision *d)
{
	if (!a->origin)
		d->row[d->rows++] = a->home;
	for (size_t i = 0; a->origin && i < a->rows->count; i++)
		d->row[d->rows++] = (uint8_t)(a->rows->row[i]->index - a->of->upstreams->index);
}

static struct upstream_decision *decide(const struct upstream_rules *r, const struct upstream_answer *a)
{
	struct upstream_decision *d = xcalloc(1, sizeof(*d));
	CLEANUP(mem_free) bool *hidden = xcalloc(a->listed->files + 1, sizeof(*hidden));
	atomic_init(&d->refs, 1);
	d->rules = r->number;
	d->made = a->now;
	name_rows(a, d);
	size_t count = judge_page(d, hidden, r, a);
	if (count)
		take_offered(d, a, STEAL_PTR(hidden), count);
	return d;
}

static bool is_about(const struct upstream_decision *d, const uint8_t *row, size_t rows)
{
	return d->rows == rows && memcmp(d->row, row, rows) == 0;
}

// With a reference; NULL: there is none, or not any more.
static struct upstream_decision *find_kept(const struct upstream_rules *r, const struct upstream_answer *a)
{
	struct upstream_decision asked = {0}, *found;
	name_rows(a, &asked);
	pthread_mutex_lock(&a->of->upstreams->lock);
	for (found = a->of->kept; found && !is_about(found, asked.row, asked.rows);)
		found = found->after;
	if (found && (found->rules != r->number || a->now < found->made || (found->next && a->now >= found->next)))
		found = NULL;
	if (found)
		atomic_fetch_add_explicit(&found->refs, 1, memory_order_relaxed);
	pthread_mutex_unlock(&a->of->upstreams->lock);
	return found;
}

// In place of that about the same rows, and of the oldest one, if there are too many.
static void keep_decision(struct upstream_project *p, struct upstream_decision *d)
{
	size_t count = 1;
	pthread_mutex_lock(&p->upstreams->lock);
	for (struct upstream_decision **at = &p->kept; *at;) {
		struct upstream_decision *other = *at;
		if (!is_about(other, d->row, d->rows) && count++ <= p->upstreams->indexes) {
			at = &other->after;
			continue;
		}
		*at = other->after;
		upstream_decision_unref(other);
	}
	atomic_fetch_add_explicit(&d->refs, 1, memory_order_relaxed);
	d->after = p->kept;
	p->kept = d;
	pthread_mutex_unlock(&p->upstreams->lock);
}

void upstream_decisions_drop(struct upstream_project *p)
{
	while (p->kept) {
		struct upstream_decision *d = p->kept;
		p->kept = d->after;
		upstream_decision_unref(d);
	}
}

struct upstream_decision *upstream_offer(const struct upstream_rules *r, struct upstream_answer *answer)
{
	answer->rules = r;
	answer->now = r->clock ? right_clock_now(r->clock) : clock_wall_seconds();
	if (!answer->listed)
		return NULL;
	struct upstream_decision *d = find_kept(r, answer);
	if (!d)
		keep_decision(answer->of, d = decide(r, answer));
	if (!r->clock || !right_clock_is_doubted(r->clock, NULL))
		answer->next = d->next;
	if (!d->hidden)
		return d;
	answer->stale = &d->page;
	answer->origin = d->origin;
	answer->hidden = d->hidden;
	answer->blocked = d->blocked;
	return d;
}
