// SPDX-License-Identifier: Apache-2.0
// Which files of the upstreams' pages are offered: the rules of the configuration and of the state, and pages without what
// they hide.
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/advisories/advisories.h"
#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/base/search.h"
#include "lib/domain/text/filename.h"
#include "lib/os/clock.h"
#include "lib/os/fs.h"
#include "lib/state/config/state-files.h"
#include "lib/state/upstream/offering.h"
#include "lib/state/upstream/right-clock.h"
#include "lib/state/upstream/upstream-row.h"

enum { BLOCKED_TEXT = 1000 }; // bytes of the reason why a project is blocked as a whole

// --- the rules ---

// What was read, shared by the rules that are made while it counts.
struct rule_part {
	atomic_uint refs;
	struct requirements lines; // of a list
	struct holds holds;        // or these
};

// A list of the operator, or the holds.
struct rule_source {
	char *path; // NULL: none
	struct stat seen;
	bool is_missing; // at the last look
	struct rule_part *part;
	char *error;    // why it could not be read again, so that part is an older one; NULL: it could
	int64_t failed; // since when, in seconds since 1970
};

// Constant once it is made, but for is_missing, so that answers can borrow from it.
struct upstream_rules {
	atomic_uint refs;
	struct right_clock *clock; // NULL: the wall clock
	struct rule_source holds;
	char *contact;
	size_t count;
	struct offering_rules *of; // of each upstream
	struct rule_source *deny, *allow; // the same
	struct advisories *lists;
	bool are_none;
};

static struct rule_part *new_part(void)
{
	struct rule_part *part = xcalloc(1, sizeof(*part));
	atomic_init(&part->refs, 1);
	return part;
}

static void drop_part(struct rule_part *part)
{
	if (!part || atomic_fetch_sub_explicit(&part->refs, 1, memory_order_acq_rel) != 1)
		return;
	requirements_release(&part->lines);
	holds_release(&part->holds);
	free(part);
}

static void release_source(struct rule_source *s)
{
	drop_part(s->part);
	free(s->error);
	free(s->path);
}

void upstream_rules_drop(struct upstream_rules *r)
{
	if (!r || atomic_fetch_sub_explicit(&r->refs, 1, memory_order_acq_rel) != 1)
		return;
	for (size_t i = 0; i < r->count; i++) {
		release_source(&r->deny[i]);
		release_source(&r->allow[i]);
		free((char *)(uintptr_t)r->of[i].upstream);
		free((char *)(uintptr_t)r->of[i].exempt);
	}
	release_source(&r->holds);
	free(r->of);
	free(r->deny);
	free(r->allow);
	free(r->contact);
	advisories_unref(r->lists);
	free(r);
}

static void cleanup_rules(struct upstream_rules **r)
{
	upstream_rules_drop(*r);
}

// What cannot be read is as it was before, under the same path.
static int keep_part(struct rule_source *s, const struct rule_source *before, struct err *e)
{
	if (!before || !before->path || strcmp(before->path, s->path) != 0)
		return -1;
	drop_part(s->part);
	s->part = before->part;
	atomic_fetch_add_explicit(&s->part->refs, 1, memory_order_relaxed);
	s->error = xstrdup(e->msg);
	s->failed = before->error ? before->failed : clock_wall_seconds();
	if (!before->error || strcmp(before->error, s->error) != 0)
		log_error("%s; what it said before counts", s->error);
	*e = (struct err)ERR_INIT;
	return 0;
}

static int fill_list(struct requirements *lines, const char *path, const char *key, struct err *e)
{
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_REQUIREMENTS);
	int result = fs_read_file(path, &text, e);
	if (result == 0)
		result = requirements_parse(lines, buf_view(&text), path, REQUIREMENT_PACKAGES, e);
	for (size_t i = 0; i < lines->count && result == 0; i++)
		if (lines->item[i].platform)
			result = err_set(e, ERR_USAGE, "%s: files of upstreams have no platform",
				lines->item[i].source);
	if (result == 0)
		return 0;
	e->kind = ERR_USAGE;
	return err_prefix(e, "[upstream] %s: ", key);
}

static int read_rule_list(struct rule_source *s, const char *path, const char *key,
	const struct rule_source *before, struct err *e)
{
	s->part = new_part();
	if (!path)
		return 0;
	s->path = xstrdup(path);
	if (stat(path, &s->seen) < 0)
		s->seen = (struct stat){0};
	return fill_list(&s->part->lines, path, key, e) < 0 ? keep_part(s, before, e) : 0;
}

static int read_holds(struct rule_source *s, const char *folder, uint64_t *mark, const struct rule_source *before,
	struct err *e)
{
	s->part = new_part();
	if (!folder)
		return 0;
	s->path = xstrdup(folder);
	bool is_read = holds_mark(folder, mark, e) == 0 && holds_read(folder, &s->part->holds, e) == 0;
	return is_read ? 0 : keep_part(s, before, e);
}

static enum offering_unknown unknown_named(const char *name)
{
	enum offering_unknown i = OFFERING_FIRST_SEEN;
	while (name && i + 1 < OFFERING_UNKNOWN_COUNT && strcmp(name, offering_unknown_name[i]) != 0)
		i++;
	return i;
}

static int make_one(struct upstream_rules *r, size_t i, const struct config_upstream *c,
	const struct upstream_rules *before, struct err *e)
{
	r->count++;
	if (read_rule_list(&r->deny[i], c->deny, "deny", before ? &before->deny[i] : NULL, e) < 0 ||
		read_rule_list(&r->allow[i], c->allow, "allow", before ? &before->allow[i] : NULL, e) < 0)
		return -1;
	r->of[i] = (struct offering_rules){.upstream = xstrdup(c->name),
		.cooldown = (int64_t)c->cooldown,
		.exempt = name_list_normal(c->cooldown_exempt, NULL),
		.unknown = unknown_named(c->cooldown_unknown),
		.deny = &r->deny[i].part->lines,
		.allow = &r->allow[i].part->lines,
		.lists = advisories_concern(r->lists, c->name) ? r->lists : NULL,
		.holds = &r->holds.part->holds,
		.contact = r->contact};
	return 0;
}

// What cannot be read is taken from the rules before; NULL: that is an error. With change_lock held.
static struct upstream_rules *make_rules(struct upstreams *u, const struct config *c,
	const struct upstream_rules *before, struct err *e)
{
	uint64_t mark = 0;
	CLEANUP(cleanup_rules) struct upstream_rules *r = xcalloc(1, sizeof(*r));
	atomic_init(&r->refs, 1);
	r->clock = u->clock;
	r->of = xcalloc(u->count + 1, sizeof(*r->of));
	r->deny = xcalloc(u->count + 1, sizeof(*r->deny));
	r->allow = xcalloc(u->count + 1, sizeof(*r->allow));
	r->lists = advisories_ref(u->lists);
	r->contact = c->contact ? xstrdup(c->contact) : NULL;
	if (read_holds(&r->holds, u->offers, &mark, before ? &before->holds : NULL, e) < 0)
		return NULL;
	r->are_none = true;
	for (size_t i = 0; i < u->count; i++) {
		if (make_one(r, i, config_upstreams_named(&c->upstreams, u->item[i].name), before, e) < 0)
			return NULL;
		r->are_none = r->are_none && offering_rules_are_none(&r->of[i]);
	}
	u->holds_mark = mark;
	return STEAL_PTR(r);
}

// With change_lock held.
static void set_rules(struct upstreams *u, struct upstream_rules *rules)
{
	pthread_mutex_lock(&u->lock);
	struct upstream_rules *before = u->offer_rules;
	u->offer_rules = rules;
	pthread_mutex_unlock(&u->lock);
	upstream_rules_drop(before);
}

// Whether it names all of u: which upstreams there are takes effect after a restart.
static bool names_all(const struct upstreams *u, const struct config *c)
{
	for (size_t i = 0; i < u->count; i++)
		if (!config_upstreams_named(&c->upstreams, u->item[i].name))
			return false;
	return true;
}

int upstream_rules_configure(struct upstreams *u, const struct config *c, struct err *e)
{
	if (!names_all(u, c))
		return err_set(e, ERR_USAGE, "other upstreams take effect after a restart");
	pthread_mutex_lock(&u->change_lock);
	struct upstream_rules *rules = make_rules(u, c, NULL, e);
	if (rules) {
		set_rules(u, rules);
		config_release(&u->config);
		config_copy(c, &u->config);
	}
	pthread_mutex_unlock(&u->change_lock);
	return rules ? 0 : -1;
}

// Of a command: the last good ones.
static int open_lists(struct upstreams *u, const char *catalog, struct err *e)
{
	const struct config where = {.state = u->state, .upstreams = u->config.upstreams};
	return advisories_open(&where, catalog, &u->lists, e);
}

static int open_rules(struct upstreams *u, struct catalog *c, struct err *e)
{
	const struct config where = {.state = u->state};
	CLEANUP(mem_free) char *path = state_file(&where, catalog_path(c), STATE_FILE_OFFERS);
	struct right_clock *clock;
	if (right_clock_open(path, &clock, e) < 0)
		return -1;
	if (!u->lists && open_lists(u, catalog_path(c), e) < 0) {
		right_clock_close(clock);
		return -1;
	}
	u->clock = clock;
	u->offers = STEAL_PTR(path);
	struct upstream_rules *rules = make_rules(u, &u->config, u->offer_rules, e);
	if (!rules) {
		right_clock_close(u->clock);
		free(u->offers);
		u->clock = NULL;
		u->offers = NULL;
		return -1;
	}
	set_rules(u, rules);
	atomic_store(&u->has_offers, true);
	return 0;
}

int upstream_rules_open(struct upstreams *u, struct catalog *c, struct err *e)
{
	if (atomic_load(&u->has_offers))
		return 0;
	pthread_mutex_lock(&u->change_lock);
	int opened = u->offers ? 0 : open_rules(u, c, e);
	pthread_mutex_unlock(&u->change_lock);
	return opened;
}

void upstream_rules_release(struct upstreams *u)
{
	if (u->clock && u->offer_rules && !u->offer_rules->are_none)
		right_clock_save(u->clock);
	upstream_rules_drop(u->offer_rules);
	right_clock_close(u->clock);
	config_release(&u->config);
	advisories_unref(u->lists);
	free(u->offers);
}

struct right_clock *upstreams_clock(struct upstreams *u)
{
	return atomic_load(&u->has_offers) ? u->clock : NULL;
}

static struct upstream_rules *take_rules(struct upstreams *u, bool also_none)
{
	pthread_mutex_lock(&u->lock);
	struct upstream_rules *r = u->offer_rules && (also_none || !u->offer_rules->are_none) ? u->offer_rules : NULL;
	if (r)
		atomic_fetch_add_explicit(&r->refs, 1, memory_order_relaxed);
	pthread_mutex_unlock(&u->lock);
	return r;
}

struct upstream_rules *upstream_rules_take(struct upstreams *u)
{
	return take_rules(u, false);
}

int64_t upstream_rules_young_since(struct upstreams *u)
{
	int64_t since = INT64_MAX;
	CLEANUP(cleanup_rules) struct upstream_rules *r = upstream_rules_take(u);
	if (!r || !r->clock)
		return since;
	int64_t now = right_clock_now(r->clock);
	for (size_t i = 0; i < r->count; i++) {
		const struct holds *h = r->of[i].holds;
		if (r->of[i].cooldown && now - r->of[i].cooldown < since)
			since = now - r->of[i].cooldown;
		if (h->holds && h->hold[0].after < since)
			since = h->hold[0].after;
	}
	return since;
}

static bool has_upstream(const struct upstreams *u, const char *name)
{
	for (size_t i = 0; i < u->count; i++)
		if (strcmp(u->item[i].name, name) == 0)
			return true;
	return false;
}

bool upstreams_hide_version(struct upstreams *u, const char *upstream, const char *project, const struct version *version,
	struct arena *a, const char **denied)
{
	bool hides = upstream && !has_upstream(u, upstream);
	struct upstream_rules *r = upstream_rules_take(u);
	CLEANUP(buf_release) struct buf why = buf_up_to(BLOCKED_TEXT);
	*denied = NULL;
	for (size_t i = 0; r && i < r->count; i++) {
		struct offering o;
		struct offering_project p;
		struct offering_rules rules = r->of[i];
		rules.contact = NULL; // the operator asks
		if (upstream && strcmp(rules.upstream, upstream) != 0)
			continue;
		offering_project_init(&p, &rules, project, r->clock ? right_clock_now(r->clock) : clock_wall_seconds());
		offering_judge(&p, &(struct offering_file){.version = version}, &o);
		hides |= o.hides & (1u << OFFERING_DENY | 1u << OFFERING_RECORD);
		if (!o.deny || *denied)
			continue;
		offering_write(&o, OFFERING_DENY, &why);
		*denied = arena_copy(a, buf_view(&why));
	}
	upstream_rules_drop(r);
	return hides;
}

// --- following changes ---

// An editor may just replace the file: it is missing if it is so at two looks.
static bool list_has_changed(struct rule_source *s)
{
	struct stat now = {0};
	if (!s->path)
		return false;
	bool was_missing = s->is_missing;
	s->is_missing = stat(s->path, &now) < 0;
	if (s->is_missing)
		return was_missing && s->seen.st_ino;
	return now.st_ino != s->seen.st_ino || now.st_size != s->seen.st_size ||
	       fs_mtime_ns(&now) != fs_mtime_ns(&s->seen) || now.st_ctim.tv_sec != s->seen.st_ctim.tv_sec ||
	       now.st_ctim.tv_nsec != s->seen.st_ctim.tv_nsec;
}

static bool holds_have_changed(const struct upstreams *u)
{
	uint64_t mark;
	struct holds now;
	struct err e = ERR_INIT; // make_rules() says it where it matters
	bool was_wrong = u->offer_rules->holds.error;
	if (holds_mark(u->offers, &mark, &e) < 0)
		return !was_wrong;
	if (mark != u->holds_mark)
		return true;
	if (!was_wrong || holds_read(u->offers, &now, &e) < 0)
		return false;
	holds_release(&now);
	return true;
}

// With change_lock held. Looks at each.
static bool rules_have_changed(struct upstreams *u)
{
	bool has_changed = holds_have_changed(u);
	for (size_t i = 0; i < u->offer_rules->count; i++) {
		has_changed |= list_has_changed(&u->offer_rules->deny[i]);
		has_changed |= list_has_changed(&u->offer_rules->allow[i]);
	}
	return has_changed;
}

// What cannot be read stays as it was; all else is new. With change_lock held.
static bool renew_rules(struct upstreams *u)
{
	struct err e = ERR_INIT;
	struct upstream_rules *rules = make_rules(u, &u->config, u->offer_rules, &e);
	if (rules)
		set_rules(u, rules);
	else
		log_error("the rules of what is offered stay as they were: %s", e.msg);
	return rules;
}

void upstreams_use_lists(struct upstreams *u, struct advisories *lists)
{
	pthread_mutex_lock(&u->change_lock);
	struct advisories *before = u->lists;
	u->lists = advisories_ref(lists);
	if (before != lists)
		renew_rules(u);
	pthread_mutex_unlock(&u->change_lock);
	advisories_unref(before);
}

bool upstreams_look(struct upstreams *u)
{
	pthread_mutex_lock(&u->change_lock);
	uint64_t clock = u->clock && !u->offer_rules->are_none ? right_clock_follow(u->clock) : u->clock_changes;
	bool is_stepping = clock != u->clock_changes;
	u->clock_changes = clock;
	bool is_new = u->offers && rules_have_changed(u) && renew_rules(u);
	pthread_mutex_unlock(&u->change_lock);
	return is_stepping || is_new;
}

// --- lists that cannot be read ---

static void tell_list(const struct rule_source *s, const char *upstream, const char *key, upstreams_list_fn *fn,
	void *ctx)
{
	const struct upstreams_list l = {upstream, key, s->path, s->error, s->failed};
	if (s->path)
		fn(ctx, &l);
}

void upstreams_lists(struct upstreams *u, upstreams_list_fn *fn, void *ctx)
{
	CLEANUP(cleanup_rules) struct upstream_rules *r = take_rules(u, true);
	for (size_t i = 0; r && i < r->count; i++) {
		tell_list(&r->deny[i], r->of[i].upstream, "deny", fn, ctx);
		tell_list(&r->allow[i], r->of[i].upstream, "allow", fn, ctx);
	}
	if (r)
		tell_list(&r->holds, NULL, "holds", fn, ctx);
}

static void check_list(const char *path, const char *upstream, const char *key, upstreams_list_fn *fn, void *ctx)
{
	struct err e = ERR_INIT;
	struct requirements lines = {0};
	bool is_read = path && fill_list(&lines, path, key, &e) == 0;
	const struct upstreams_list l = {upstream, key, path, is_read ? NULL : e.msg, 0};
	requirements_release(&lines);
	if (path)
		fn(ctx, &l);
}

void upstreams_check_lists(const struct config *c, upstreams_list_fn *fn, void *ctx)
{
	for (size_t i = 0; i < c->upstreams.count; i++) {
		const struct config_upstream *u = &c->upstreams.item[i];
		check_list(u->deny, u->name, "deny", fn, ctx);
		check_list(u->allow, u->name, "allow", fn, ctx);
	}
}

int upstreams_rules(struct upstreams *u, struct catalog *c, upstreams_rules_fn *fn, void *ctx, struct err *e)
{
	if (upstream_rules_open(u, c, e) < 0)
		return -1;
	CLEANUP(cleanup_rules) struct upstream_rules *r = take_rules(u, true);
	if (r)
		fn(ctx, r->of, r->count);
	return 0;
}

void upstreams_end_waivers(struct upstreams *u, upstreams_waiver_fn *fn, void *ctx)
{
	struct err e = ERR_INIT;
	CLEANUP(cleanup_rules) struct upstream_rules *r = upstream_rules_take(u);
	for (size_t i = 0; r && r->clock && i < r->holds.part->holds.waivers; i++) {
		const struct waiver *w = &r->holds.part->holds.waiver[i];
		if (w->until >= right_clock_now(r->clock))
			continue;
		int ended = holds_end(u->offers, w->id, &e);
		if (ended < 0)
			log_error("waiver %s: %s", w->id, e.msg);
		else if (ended)
			fn(ctx, w);
	}
}

bool upstreams_offered_names(struct upstreams *u, const struct upstream *upstream, struct str names, struct buf *out)
{
	size_t i = (size_t)(upstream - u->item);
	CLEANUP(cleanup_rules) struct upstream_rules *r = upstream_rules_take(u);
	if (!r || (!r->of[i].lists && !r->of[i].deny->count))
		return false;
	while (names.len) {
		struct offering_project p;
		char name[LIMIT_FILE_NAME + 1];
		struct str line = str_cut(&names, '\n');
		if (line.len > LIMIT_FILE_NAME)
			continue; // no project has such a name
		memcpy(name, line.ptr, line.len);
		name[line.len] = '\0';
		offering_project_init(&p, &r->of[i], name, 0);
		if (offering_is_blocked(&p))
			continue;
		buf_str(out, line);
		buf_putc(out, '\n');
	}
	return true;
}

// --- files ---

static struct offering_file file_of(const struct simplepage_file *f, const struct version *version)
{
	return (struct offering_file){.version = version, .uploaded = f->uploaded, .seen = f->seen};
}

static void judge_page_file(const struct offering_project *p, const struct simplepage_file *f, const char *project,
	struct offering *out)
{
	struct err ignored = ERR_INIT;
	CLEANUP(filename_release) struct filename name = {0};
	bool has_version = offering_needs_version(p) &&
			   filename_parse_listed(str_from(f->filename), project, &name, &ignored) == 0;
	const struct offering_file asked = file_of(f, has_version ? &name.version : NULL);
	offering_judge(p, &asked, out);
}

void upstream_judge(const struct upstream_answer *answer, const struct upstream *upstream,
	const struct simplepage_file *file, struct offering *out)
{
	struct offering_project p;
	*out = (struct offering){.is_offered = true};
	if (!answer->rules)
		return;
	size_t i = (size_t)(upstream - answer->of->upstreams->item);
	offering_project_init(&p, &answer->rules->of[i], answer->project, answer->now);
	judge_page_file(&p, file, answer->project, out);
}

// --- versions of which no file is offered ---

// The versions of hidden files, sorted by key, each once.
struct hidden_versions {
	struct version *item;
	bool *is_offered; // another file of it is
	size_t count;
	struct str stem; // of the last file, and where its version is; count: it is not hidden
	size_t at;
};

static void hidden_versions_release(struct hidden_versions *h)
{
	for (size_t i = 0; i < h->count; i++)
		version_release(&h->item[i]);
	free(h->item);
	free(h->is_offered);
}

static int order_versions(const void *a, const void *b)
{
	return version_cmp(a, b);
}

static bool is_before_version(const void *version, const void *key)
{
	return str_cmp(((const struct version *)version)->key, *(const struct str *)key) < 0;
}

static void add_hidden(struct hidden_versions *h, const char *filename, const char *project)
{
	struct err ignored = ERR_INIT;
	struct filename name;
	if (filename_parse_listed(str_from(filename), project, &name, &ignored) < 0)
		return;
	h->item[h->count++] = name.version;
	name.version = (struct version){0};
	filename_release(&name);
}

static void sort_hidden(struct hidden_versions *h)
{
	size_t kept = 0;
	if (h->count)
		qsort(h->item, h->count, sizeof(*h->item), order_versions);
	for (size_t i = 0; i < h->count; i++)
		if (kept && version_cmp(&h->item[kept - 1], &h->item[i]) == 0)
			version_release(&h->item[i]);
		else
			h->item[kept++] = h->item[i];
	h->count = h->at = kept;
	h->is_offered = xcalloc(kept + 1, sizeof(*h->is_offered));
}

// count: it is none of them.
static size_t find_hidden(const struct hidden_versions *h, struct str key)
{
	size_t at = lower_bound(&key, h->item, h->count, sizeof(*h->item), is_before_version);
	return at < h->count && str_eq(h->item[at].key, key) ? at : h->count;
}

// "NAME-VERSION" of a wheel, which files of a release begin with; all of another name.
static struct str stem_of(const char *filename)
{
	struct str name = str_from(filename);
	const char *dash = filename_kind(name) == FILENAME_WHEEL ? memchr(name.ptr, '-', name.len) : NULL;
	const char *end = dash ? strchr(dash + 1, '-') : NULL;
	return end ? (struct str){name.ptr, (size_t)(end - name.ptr)} : name;
}

static void note_offered(struct hidden_versions *h, const char *filename, const char *project)
{
	struct str stem = stem_of(filename);
	struct err ignored = ERR_INIT;
	CLEANUP(filename_release) struct filename name = {0};
	if (!str_eq(stem, h->stem)) {
		h->at = h->count;
		h->stem = stem;
		if (filename_parse_listed(str_from(filename), project, &name, &ignored) == 0)
			h->at = find_hidden(h, name.version.key);
	}
	if (h->at < h->count)
		h->is_offered[h->at] = true;
}

static bool is_version_hidden(const struct hidden_versions *h, const char *text)
{
	struct err ignored = ERR_INIT;
	struct version version;
	if (version_parse(str_from(text), &version, &ignored) < 0)
		return false;
	size_t at = find_hidden(h, version.key);
	version_release(&version);
	return at < h->count && !h->is_offered[at];
}

static void take_versions(const struct simplepage *listed, const char *project, struct upstream_offered *o)
{
	CLEANUP(hidden_versions_release)
	struct hidden_versions h = {.item = xcalloc(listed->files - o->page.files, sizeof(*h.item))};
	for (size_t i = 0; i < listed->files; i++)
		if (o->hidden[i])
			add_hidden(&h, listed->file[i].filename, project);
	sort_hidden(&h);
	for (size_t i = 0; i < o->page.files; i++)
		note_offered(&h, o->file[i].filename, project);
	o->version = xcalloc(listed->versions + 1, sizeof(*o->version));
	o->page.version = o->version;
	o->page.versions = 0;
	for (size_t i = 0; i < listed->versions; i++)
		if (!is_version_hidden(&h, listed->version[i]))
			o->version[o->page.versions++] = listed->version[i];
}

// --- pages ---

static void take_offered(const struct simplepage *listed, const char *project, struct upstream_offered *o)
{
	o->page = *listed;
	o->page.files = 0;
	o->page.file = o->file = xcalloc(listed->files, sizeof(*o->file));
	for (size_t i = 0; i < listed->files; i++)
		if (!o->hidden[i])
			o->file[o->page.files++] = listed->file[i];
	if (listed->versions)
		take_versions(listed, project, o);
}

static void take_origin(const struct simplepage *listed, const uint8_t *origin, struct upstream_offered *o)
{
	size_t count = 0;
	o->origin = xcalloc(listed->files + 1, sizeof(*o->origin));
	for (size_t i = 0; i < listed->files; i++)
		if (!o->hidden[i])
			o->origin[count++] = origin[i];
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

void upstream_offer(const struct upstream_rules *r, struct upstream_answer *answer, struct upstream_offered *out)
{
	const struct simplepage *listed = answer->listed;
	const struct upstreams *u = answer->of->upstreams;
	CLEANUP(mem_free) struct offering_project *p = xcalloc(r->count, sizeof(*p));
	size_t hidden = 0, blocked = 0;
	CLEANUP(buf_release) struct buf why = buf_up_to(LIMIT_PAGE);
	answer->rules = r;
	answer->now = r->clock ? right_clock_now(r->clock) : clock_wall_seconds();
	bool stands_still = r->clock && right_clock_is_doubted(r->clock, NULL);
	for (size_t i = 0; i < r->count; i++)
		offering_project_init(&p[i], &r->of[i], answer->project, answer->now);
	out->hidden = xcalloc((listed ? listed->files : 0) + 1, sizeof(*out->hidden));
	for (size_t i = 0; listed && i < listed->files; i++) {
		struct offering o;
		size_t row = answer->origin ? answer->origin[i] : answer->home;
		judge_page_file(&p[u->index[row].upstream - u->item], &listed->file[i], answer->project, &o);
		out->hidden[i] = !o.is_offered;
		hidden += !o.is_offered;
		bool is_blocked = o.hides & (1u << OFFERING_DENY | 1u << OFFERING_RECORD);
		blocked += is_blocked;
		if (is_blocked && blocked == i + 1)
			note_block(&o, &why);
		if (o.next && !stands_still && (!answer->next || o.next < answer->next))
			answer->next = o.next;
	}
	if (!hidden)
		return;
	take_offered(listed, answer->project, out);
	if (answer->origin)
		take_origin(listed, answer->origin, out);
	answer->stale = &out->page;
	answer->origin = out->origin;
	answer->hidden = out->hidden;
	if (blocked == listed->files)
		answer->blocked = out->blocked = buf_steal(&why);
}

void upstream_offered_release(struct upstream_offered *o)
{
	free(o->file);
	free(o->version);
	free(o->hidden);
	free(o->origin);
	free(o->blocked);
}
