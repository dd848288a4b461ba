// SPDX-License-Identifier: Apache-2.0
// What the catalog keeps of upstream: projects with their pages, look-ups, saving.
#include <stdlib.h>
#include <string.h>

#include "lib/base/counted.h"
#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/base/str.h"
#include "lib/state/catalog/catalog-upstream.h"
#include "lib/state/config/state-files.h"
#include "lib/state/upstream/mirror-pages.h"
#include "lib/state/upstream/mirror-pins.h"
#include "lib/state/upstream/owned-names.h"
#include "lib/state/upstream/upstream-row.h"

// --- projects ---

static enum upstream_result result_named(const char *name)
{
	for (int i = 0; name && i < UPSTREAM_RESULT_COUNT; i++)
		if (strcmp(name, upstream_result_name[i]) == 0)
			return (enum upstream_result)i;
	return UPSTREAM_NEVER_ASKED;
}

// Ignores rows of indexes that are no longer configured.
static int take_row(void *ctx, const struct catalog_upstream *found, struct err *e UNUSED)
{
	struct upstream_project *p = ctx;
	for (size_t i = 0; i < p->upstreams->indexes; i++) {
		struct upstream_row *row = &p->row[i];
		if (strcmp(found->source, p->upstreams->index[i].shown) != 0)
			continue;
		row->result = result_named(found->result);
		row->last_definitive = result_named(found->last_definitive);
		free(row->why);
		row->why = xstrdup(found->why);
		free(row->etag);
		row->etag = found->etag ? xstrdup(found->etag) : NULL;
		row->asked = found->asked;
		row->fetched = found->fetched;
		row->max_age = found->max_age;
		row->changed = found->changed;
		row->has_doubt = found->doubt != NULL;
		row->doubted = found->doubted;
		row->certain = found->certain;
		row->had_since = found->had_since;
		if (found->doubt)
			memcpy(row->doubt, found->doubt, SHA256_SIZE);
		buf_clear(&row->packed);
		buf_str(&row->packed, found->page);
	}
	return 0;
}

// What outlives a catalog: the answers that made the name both's.
static int recall_rows(struct upstream_project *p, struct catalog *c, struct err *e)
{
	for (size_t i = 0; i < p->upstreams->indexes; i++) {
		struct upstream_row *row = &p->row[i];
		int64_t arrived = upstream_row_arrived(row);
		if (!arrived || row->last_definitive != UPSTREAM_NEVER_ASKED)
			continue;
		if (catalog_upstream_had(c, p->name, row->index->shown, arrived, &row->had_since, e) < 0)
			return -1;
		row->fetched = row->had_since ? arrived : 0;
	}
	return 0;
}

// The rows of a project of a mirror, if the catalog, which was made again, has none.
static int take_kept_rows(struct upstream_project *p, struct catalog *c, struct err *e)
{
	for (size_t i = 0; i < p->upstreams->indexes; i++)
		if (p->row[i].result != UPSTREAM_NEVER_ASKED)
			return 0;
	const struct config where = {.state = p->upstreams->state};
	CLEANUP(mem_free) char *mirrors = state_file(&where, catalog_path(c), STATE_FILE_MIRRORS);
	if (mirror_pages_read(mirrors, p->name, take_row, p, e) < 0)
		return -1;
	for (size_t i = 0; i < p->upstreams->indexes; i++) // to be saved with the next answer
		p->row[i].has_new_page = p->row[i].is_changed = p->row[i].packed.len > 0;
	return 0;
}

int upstream_load(struct upstreams *u, struct catalog *c, const char *project, struct upstream_project **out,
	struct err *e)
{
	struct upstream_project *p = xcalloc(1, sizeof(*p) + u->indexes * sizeof(p->row[0]));
	atomic_init(&p->refs, 1);
	p->name = xstrdup(project);
	p->upstreams = u;
	for (size_t i = 0; i < u->indexes; i++) {
		struct upstream_row *row = &p->row[i];
		row->project = p;
		row->index = &u->index[i];
		row->max_age = -1;
		row->result = row->last_definitive = UPSTREAM_NEVER_ASKED;
		buf_init(&row->packed, SIZE_MAX / 2);
	}
	if (c && (upstream_rules_open(u, c, e) < 0 ||
			 name_owner_look(c, u->hidden, u->count, project, p->here, e) < 0 ||
			 catalog_upstream_rows(c, project, take_row, p, e) < 0 || take_kept_rows(p, c, e) < 0)) {
		upstream_project_unref(p);
		return -1;
	}
	for (size_t i = 0; i < u->indexes; i++) {
		upstream_row_unpack(&p->row[i]);
		p->row[i].has_new_page = p->row[i].has_new_page && p->row[i].has_page;
	}
	if (c && recall_rows(p, c, e) < 0) {
		upstream_project_unref(p);
		return -1;
	}
	*out = p;
	return 0;
}

struct upstream_project *upstream_project_ref(struct upstream_project *p)
{
	atomic_fetch_add_explicit(&p->refs, 1, memory_order_relaxed);
	return p;
}

void upstream_project_unref(struct upstream_project *p)
{
	if (!p || atomic_fetch_sub_explicit(&p->refs, 1, memory_order_acq_rel) != 1)
		return;
	upstream_decisions_drop(p);
	for (size_t i = 0; i < p->upstreams->indexes; i++) {
		upstream_row_release(&p->row[i]);
		upstream_project_unref(p->from[i]);
	}
	free(p->name);
	free(p);
}

// A row is taken of the project that asked for it, so that none leads to another one and so on.
void upstream_project_adopt(struct upstream_project *p, struct upstream_project *before)
{
	if (!before || upstream_project_is_superseded(before))
		return;
	upstream_decisions_drop(p);
	for (size_t i = 0; i < p->upstreams->indexes; i++) {
		struct upstream_project *from = before->from[i] ? before->from[i] : before;
		if (!p->row[i].is_dirty && !p->from[i] && from->row[i].asked > p->row[i].asked)
			p->from[i] = upstream_project_ref(from);
	}
}

const char *upstream_project_name(const struct upstream_project *p)
{
	return p->name;
}

bool upstream_project_is_superseded(const struct upstream_project *p)
{
	bool is_superseded = atomic_load_explicit(&p->is_superseded, memory_order_acquire);
	for (size_t i = 0; i < p->upstreams->indexes && !is_superseded; i++)
		is_superseded = p->from[i] && atomic_load_explicit(&p->from[i]->is_superseded, memory_order_acquire);
	return is_superseded;
}

size_t upstream_project_unread(const struct upstream_project *p)
{
	size_t sum = 0;
	for (size_t i = 0; i < p->upstreams->indexes; i++)
		sum += p->row[i].response.body.len;
	return sum;
}

size_t upstream_project_bytes(const struct upstream_project *p)
{
	struct upstream_rules *rules = upstream_rules_take(p->upstreams);
	size_t sum = sizeof(*p), pages = rules ? 2 : 1; // with what is offered
	upstream_rules_drop(rules);
	for (size_t i = 0; i < p->upstreams->indexes; i++) {
		const struct upstream_row *row = &p->row[i];
		sum += sizeof(*row) + row->packed.len + row->page.text.total +
		       pages * row->page.files * sizeof(*row->page.file);
	}
	return sum;
}

int64_t upstream_project_changed(const struct upstream_project *p)
{
	int64_t newest = 0;
	for (size_t i = 0; i < p->upstreams->indexes && !upstream_project_is_superseded(p); i++) {
		int64_t changed = (p->from[i] ? p->from[i] : p)->row[i].changed;
		newest = changed > newest ? changed : newest;
	}
	return newest;
}

// --- look-ups ---

enum {
	BATCH = 64,  // projects per transaction
	SEVERAL = 3, // a working index knows at least one of so many projects
};

// Opens the owned names at the first use, in any thread.
static int open_ours(struct upstreams *u, struct catalog *c, struct err *e)
{
	const struct config where = {.state = u->state};
	CLEANUP(mem_free) char *path = state_file(&where, catalog_path(c), STATE_FILE_OWNED_NAMES);
	pthread_mutex_lock(&u->lock);
	int opened = u->ours ? 0 : owned_names_open(path, &u->ours, e);
	pthread_mutex_unlock(&u->lock);
	return opened;
}

// The owner of a name.
struct ownership {
	const char *why; // why it is ours alone; NULL: some upstream may be asked
	bool is_ours;
	struct config_order order; // which ones; those at which it is ours are set aside
};

static bool is_noted_ours(struct upstreams *u, size_t upstream, const char *project)
{
	return name_rules_find(&u->rules, upstream, project) == NAME_RULE_MERGE &&
	       owned_names_has(u->ours, project, u->item[upstream].name) && !strset_has(&u->item[upstream].noted, project);
}

// minds_hidden: a name that only hidden platforms have is ours alone.
static int find_owner(struct upstreams *u, struct catalog *c, const char *project, bool minds_hidden,
	struct ownership *out, struct err *e)
{
	struct name_presence here[LIMIT_UPSTREAMS] = {0};
	*out = (struct ownership){.order = u->order};
	if (open_ours(u, c, e) < 0 ||
		(minds_hidden && name_owner_look(c, u->hidden, u->count, project, here, e) < 0))
		return -1;
	enum name_rule rule = name_rules_admit(&u->rules, project, &out->order);
	struct config_order admitted = out->order;
	out->order.count = 0;
	for (size_t i = 0; i < admitted.count; i++) {
		size_t upstream = admitted.item[i];
		bool is_merged = name_rules_find(&u->rules, upstream, project) == NAME_RULE_MERGE;
		if (is_merged && name_owner_is_hidden(&here[upstream]))
			continue;
		out->order.item[out->order.count++] = (uint8_t)upstream;
		if (is_noted_ours(u, upstream, project))
			out->order.aside |= (uint32_t)1 << upstream;
	}
	bool is_hidden = admitted.count && !out->order.count;
	out->is_ours = out->order.count && config_order_has_none(&out->order);
	out->why = upstream_owner(rule, out->is_ours, is_hidden);
	return 0;
}

static int report_private(const char *project, const struct ownership *owner, upstream_fn *fn, void *ctx, struct err *e)
{
	const struct upstream_answer answer = {.result = UPSTREAM_PRIVATE,
		.last_definitive = UPSTREAM_NEVER_ASKED,
		.project = project,
		.index = "",
		.why = owner->why,
		.max_age = -1,
		.is_ours = owner->is_ours};
	return fn(ctx, &answer, e);
}

int upstream_load_cached_any(struct upstreams *u, struct catalog *c, const char *project,
	const struct config_order *order, upstream_fn *fn, void *ctx, struct err *e)
{
	struct upstream_project *p;
	if (upstream_load(u, c, project, &p, e) < 0)
		return -1;
	int r = upstream_report(u, p, order, fn, ctx, e);
	upstream_project_unref(p);
	return r;
}

static int load_cached(struct upstreams *u, struct catalog *c, const char *project, bool minds_hidden, upstream_fn *fn,
	void *ctx, struct err *e)
{
	struct ownership owner;
	if (find_owner(u, c, project, minds_hidden, &owner, e) < 0)
		return -1;
	return owner.why ? report_private(project, &owner, fn, ctx, e)
			 : upstream_load_cached_any(u, c, project, &owner.order, fn, ctx, e);
}

int upstream_load_cached(struct upstreams *u, struct catalog *c, const char *project, upstream_fn *fn, void *ctx,
	struct err *e)
{
	return load_cached(u, c, project, true, fn, ctx, e);
}

int upstream_load_cached_open(struct upstreams *u, struct catalog *c, const char *project, upstream_fn *fn, void *ctx,
	struct err *e)
{
	return load_cached(u, c, project, false, fn, ctx, e);
}

struct owner_settling {
	const struct name_rules *rules;
	const struct name_presence *here;
	struct config_order *order;
	size_t upstream; // that is judged
	bool has_home;
	upstream_owner_fn *fn;
	void *ctx;
};

static int settle_one(void *ctx, const struct upstream_answer *one, struct err *e)
{
	struct owner_settling *s = ctx;
	enum name_owner owner = name_rules_find(s->rules, s->upstream, one->project) == NAME_RULE_MERGE
					? name_owner_judge(&s->here[s->upstream], one)
					: NAME_OWNER_BOTH;
	s->has_home = owner == NAME_OWNER_BOTH && !one->is_lacking;
	if (owner == NAME_OWNER_BOTH)
		return 0;
	s->order->aside |= (uint32_t)1 << s->upstream;
	return s->fn(s->ctx, s->upstream, owner == NAME_OWNER_OURS, one, e);
}

int upstream_settle_owner(struct upstreams *u, const struct name_rules *rules, const struct name_presence *here,
	const struct upstream_answer *a, struct config_order *order, upstream_owner_fn *fn, void *ctx, struct err *e)
{
	struct owner_settling s = {.rules = rules, .here = here, .order = order, .fn = fn, .ctx = ctx};
	for (size_t i = 0; i < order->count && (order->is_together || !s.has_home); i++) {
		s.upstream = order->item[i];
		if (!(order->aside & (uint32_t)1 << s.upstream) &&
			upstream_report_one(u, a->of, s.upstream, order->is_together, settle_one, &s, e) < 0)
			return -1;
	}
	return 0;
}

int upstream_find_order(struct upstreams *u, struct catalog *c, const char *project, struct config_order *out,
	struct err *e)
{
	struct ownership owner = {.order = u->order};
	enum name_rule rule = name_rules_admit(&u->rules, project, &owner.order);
	if (c && find_owner(u, c, project, true, &owner, e) < 0)
		return -1;
	*out = owner.order;
	owner.why = c ? owner.why : upstream_owner(rule, false, false);
	return owner.why ? err_set(e, ERR_DENIED, "upstream is not asked for %s: %s", project, owner.why) : 0;
}

struct look {
	struct upstreams *upstreams;
	struct catalog *catalog;
	const char *const *projects;
	size_t next, count;
	upstream_fn *fn;
	void *ctx;
	struct err *e;
	bool has_failed;
	struct upstream_project *batch[BATCH]; // to be written
	size_t batched;
	struct {
		size_t known;          // number of projects that it has
		struct strset unknown; // that it does not, and are ours for that
	} at[LIMIT_UPSTREAMS];
	struct config_order order; // of the project that is reported
	bool is_foreign;           // what an upstream has under its name is not the same project
};

static void look_release(struct look *l)
{
	for (size_t i = 0; i < LIMIT_UPSTREAMS; i++)
		strset_release(&l->at[i].unknown);
}

static void cancel_lookup(struct look *l)
{
	l->has_failed = true;
	upstreams_cancel(l->upstreams);
}

static int flush_batch(struct look *l)
{
	int r = upstream_save(l->upstreams, l->catalog, l->batch, l->batched, l->e);
	for (size_t i = 0; i < l->batched; i++)
		upstream_project_unref(l->batch[i]);
	l->batched = 0;
	return r;
}

static void on_answer(void *ctx, struct upstream_project *p);

static int ask_next(struct look *l)
{
	struct upstream_project *p;
	struct ownership owner = {.why = ""};
	const char *project = NULL;
	while (owner.why) {
		if (l->next == l->count)
			return 0;
		project = l->projects[l->next++];
		if (find_owner(l->upstreams, l->catalog, project, true, &owner, l->e) < 0 ||
			(owner.why && report_private(project, &owner, l->fn, l->ctx, l->e) < 0))
			return -1;
	}
	if (upstream_load(l->upstreams, l->catalog, project, &p, l->e) < 0)
		return -1;
	upstream_request(l->upstreams, p, &owner.order, on_answer, l);
	return 0;
}

const char *upstream_noted_name(const struct upstreams *u, size_t upstream)
{
	return u->count > 1 ? u->item[upstream].name : NULL;
}

// Names that upstream does not have are recorded at the end.
static int note_owner(void *ctx, size_t upstream, bool is_ours, const struct upstream_answer *one, struct err *e)
{
	struct look *l = ctx;
	struct upstreams *u = l->upstreams;
	bool is_missing = one->last_definitive == UPSTREAM_NOT_FOUND || one->last_definitive == UPSTREAM_ABSENT;
	if (!is_ours) { // what is known may be used: a later answer decides
		l->order.aside &= ~((uint32_t)1 << upstream);
		return 0;
	}
	if (is_missing)
		strset_add(&l->at[upstream].unknown, one->project);
	l->is_foreign |= !is_missing;
	return is_missing ? 0 : owned_names_add(u->ours, &one->project, 1, upstream_noted_name(u, upstream), e);
}

// Does not report the facts of an upstream about a name that is ours.
static int report_project(void *ctx, const struct upstream_answer *a, struct err *e)
{
	struct look *l = ctx;
	struct upstreams *u = l->upstreams;
	l->is_foreign = false;
	if (upstream_settle_owner(u, &u->rules, a->of->here, a, &l->order, note_owner, l, e) < 0)
		return -1;
	const struct ownership owner = {.why = upstream_owner(NAME_RULE_MERGE, true, false), .is_ours = true};
	if (config_order_has_none(&l->order))
		return l->is_foreign ? report_private(a->project, &owner, l->fn, l->ctx, e) : l->fn(l->ctx, a, e);
	return upstream_report(u, a->of, &l->order, l->fn, l->ctx, e);
}

static int count_known(void *ctx, const struct upstream_answer *one, struct err *e UNUSED)
{
	*(size_t *)ctx += one->result == UPSTREAM_KNOWN;
	return 0;
}

static int take_answer(struct look *l, struct upstream_project *p)
{
	int r = 0;
	upstream_parse(l->upstreams, p);
	l->order = *upstream_project_order(p);
	for (size_t i = 0; i < l->upstreams->count && r == 0; i++)
		if (upstream_project_asked(p, i))
			r = upstream_report_one(l->upstreams, p, i, l->order.is_together, count_known, &l->at[i].known, l->e);
	r = r < 0 ? r : upstream_report(l->upstreams, p, &l->order, report_project, l, l->e);
	upstream_project_slim(p);
	l->batch[l->batched++] = p;
	if (r < 0 || (l->batched == BATCH && flush_batch(l) < 0))
		return -1;
	return ask_next(l);
}

static void on_answer(void *ctx, struct upstream_project *p)
{
	struct look *l = ctx;
	if (l->has_failed)
		upstream_project_unref(p);
	else if (take_answer(l, p) < 0)
		cancel_lookup(l);
}

// An index that knows none of several projects is probably the wrong one or broken; then no name is recorded.
static int note_unknown(struct look *l, size_t upstream, struct err *e)
{
	struct upstreams *u = l->upstreams;
	struct upstream *one = &u->item[upstream];
	struct strset *unknown = &l->at[upstream].unknown;
	const char *name = upstream_noted_name(u, upstream);
	strset_release(&one->noted);
	strset_sort(unknown);
	if (unknown->count >= SEVERAL && !l->at[upstream].known && !one->trust_404) {
		log_warn("upstream%s%s knows none of %s, so they are not recorded as ours; check [upstream%s%s] url, "
			 "or set trust-404 = yes, or list them as private",
			name ? " " : "", name ? name : "", COUNTED(unknown->count, "project|projects"), name ? " " : "",
			name ? name : "");
		return 0;
	}
	for (size_t i = 0; i < unknown->count; i++)
		strset_add(&one->noted, unknown->item[i]);
	const char *const *names = (const char *const *)unknown->item;
	return unknown->count ? owned_names_add(u->ours, names, unknown->count, name, e) : 0;
}

int upstream_lookup(struct upstreams *u, struct catalog *c, const char *const *projects, size_t count, upstream_fn *fn,
	void *ctx, struct err *e)
{
	CLEANUP(look_release)
	struct look l = {
		.upstreams = u, .catalog = c, .projects = projects, .count = count, .fn = fn, .ctx = ctx, .e = e};
	for (unsigned i = 0; i < upstreams_concurrency(u) && !l.has_failed; i++)
		if (ask_next(&l) < 0)
			cancel_lookup(&l);
	upstreams_run(u);
	u->is_ending = false;
	struct err unsaid = ERR_INIT; // what was learned before it failed is good
	l.e = l.has_failed ? &unsaid : e;
	int r = flush_batch(&l);
	for (size_t i = 0; i < u->count && r == 0; i++)
		r = note_unknown(&l, i, l.e);
	return l.has_failed ? -1 : r;
}

// --- what the catalog keeps ---

// A page that is too large is not saved; it is requested again when it is needed.
static int save_row(struct catalog *c, struct upstream_row *row, struct str packed, struct err *e)
{
	if (!packed.ptr)
		return 0;
	const struct catalog_upstream put = {
		.project = row->project->name,
		.source = row->index->shown,
		.result = upstream_result_name[row->result],
		.why = row->why ? row->why : "",
		.last_definitive = row->last_definitive == UPSTREAM_NEVER_ASKED
					   ? NULL
					   : upstream_result_name[row->last_definitive],
		.etag = row->etag,
		.asked = row->asked,
		.fetched = row->fetched,
		.max_age = row->max_age,
		.page = packed,
		.doubt = row->has_doubt ? row->doubt : NULL,
		.doubted = row->doubted,
		.certain = row->certain,
		.had_since = row->had_since,
	};
	int64_t changed = 0, arrived = upstream_row_arrived(row);
	bool is_had = row->last_definitive == UPSTREAM_KNOWN || row->last_definitive == UPSTREAM_QUARANTINED;
	if (is_had && arrived && row->certain >= arrived &&
		catalog_upstream_had_put(c, put.project, put.source, arrived, row->had_since, e) < 0)
		return -1;
	if (catalog_upstream_put(c, &put, row->has_new_page, row->is_changed, &changed, e) < 0)
		return -1;
	// Another server may have written the row meanwhile: then this one does not know its contents.
	row->changed = row->is_changed || changed == row->changed ? changed : 0;
	return 0;
}

static bool is_dirty(const struct upstream_project *p)
{
	bool is_dirty = false;
	for (size_t i = 0; i < p->upstreams->indexes; i++)
		is_dirty = is_dirty || p->row[i].is_dirty;
	return is_dirty;
}

// The packed pages, those of a project one after another. They are packed before the transaction, for which other
// writers wait.
struct packing {
	struct str *page;
	struct buf *room; // of each
	size_t count;
};

static void packing_release(struct packing *k)
{
	for (size_t i = 0; i < k->count; i++)
		buf_release(&k->room[i]);
	free(k->room);
	free(k->page);
}

static void pack_project(struct packing *k, struct upstream_project *p)
{
	for (size_t i = 0; i < p->upstreams->indexes; i++, k->count++) {
		buf_init(&k->room[k->count], SIZE_MAX / 2);
		if (p->row[i].is_dirty)
			k->page[k->count] = upstream_row_packed(&p->row[i], &k->room[k->count]);
	}
}

struct comparison {
	const struct upstream_project *ours;
	bool is_other; // another server has written since ours was read
};

static int compare_row(void *ctx, const struct catalog_upstream *found, struct err *e UNUSED)
{
	struct comparison *x = ctx;
	for (size_t i = 0; i < x->ours->upstreams->indexes; i++)
		if (strcmp(found->source, x->ours->row[i].index->shown) == 0 &&
			found->changed != x->ours->row[i].changed)
			x->is_other = true;
	return 0;
}

// Loads the catalog's current rows if they are not those that ours is based on; else NULL.
static int find_other(struct catalog *c, const struct upstream_project *p, struct upstream_project **other,
	struct err *e)
{
	struct comparison x = {.ours = p};
	*other = NULL;
	if (catalog_upstream_rows(c, p->name, compare_row, &x, e) < 0)
		return -1;
	return x.is_other ? upstream_load(p->upstreams, c, p->name, other, e) : 0;
}

// Whether our row loses against the saved one. Of two pages the newer one wins, regardless of the order of requests and
// writes. A row without news (a 304, a failure) loses against one with news. Else the later request wins.
static bool is_superseded(const struct upstream_row *row, const struct upstream_row *other)
{
	if (other->changed == row->changed)
		return false;
	if (!row->is_changed)
		return true;
	if (row->has_page && other->has_page)
		return upstream_page_is_older(&row->page, &other->page);
	return other->asked > row->asked;
}

static void unref_other(struct upstream_project **other)
{
	upstream_project_unref(*other);
}

static int save_project(struct catalog *c, struct upstream_project *p, const struct str *page, struct err *e)
{
	CLEANUP(unref_other) struct upstream_project *other = NULL;
	if (find_other(c, p, &other, e) < 0)
		return -1;
	for (size_t i = 0; i < p->upstreams->indexes; i++) {
		struct upstream_row *row = &p->row[i];
		bool stays = row->is_dirty && other && is_superseded(row, &other->row[i]);
		if (stays)
			atomic_store_explicit(&p->is_superseded, true, memory_order_release);
		if (stays && catalog_upstream_touch(c, p->name, row->index->shown, e) < 0)
			return -1;
		if (row->is_dirty && !stays && save_row(c, row, page[i], e) < 0)
			return -1;
	}
	return 0;
}

// Records that the rows were not saved.
static void note_lost(struct upstream_project *const *projects, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < projects[i]->upstreams->indexes; k++)
			projects[i]->row[k].changed = 0;
}

static int save_all(struct catalog *c, struct upstream_project *const *projects, size_t count, struct err *e)
{
	size_t rows = projects[0]->upstreams->indexes;
	CLEANUP(packing_release)
	struct packing packed = {.page = xcalloc(count * rows, sizeof(*packed.page)),
		.room = xcalloc(count * rows, sizeof(*packed.room))};
	for (size_t i = 0; i < count; i++)
		pack_project(&packed, projects[i]);
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	if (catalog_begin(c, &t, e) < 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		if (save_project(c, projects[i], &packed.page[i * rows], e) < 0)
			return -1;
	return catalog_commit(&t, e);
}

int upstream_save(struct upstreams *u UNUSED, struct catalog *c, struct upstream_project *const *projects, size_t count,
	struct err *e)
{
	bool is_any = false;
	for (size_t i = 0; i < count; i++)
		is_any = is_any || is_dirty(projects[i]);
	if (!is_any)
		return 0;
	int kept = save_all(c, projects, count, e);
	if (kept < 0)
		note_lost(projects, count);
	return kept;
}

int upstream_forget(struct upstreams *u, struct catalog *c, struct err *e)
{
	CLEANUP(buf_release) struct buf pinned = buf_up_to(SIZE_MAX / 2);
	mirror_pins_projects(u->pins, &pinned);
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	if (catalog_begin(c, &t, e) < 0)
		return -1;
	if (catalog_upstream_forget(c, UPSTREAM_UNKNOWN_NAMES, e) < 0 ||
		catalog_upstream_forget_pages(c, LIMIT_PAGES_KEPT, pinned.data, e) < 0)
		return -1;
	return catalog_commit(&t, e);
}
