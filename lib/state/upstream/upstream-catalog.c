// SPDX-License-Identifier: Apache-2.0
// What the catalog keeps of upstream: projects with their pages, look-ups, saving.
#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/base/str.h"
#include "lib/state/catalog/catalog-upstream.h"
#include "lib/state/config/state-files.h"
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
	for (size_t i = 0; p->here.arrived && i < p->upstreams->indexes; i++) {
		struct upstream_row *row = &p->row[i];
		if (row->last_definitive != UPSTREAM_NEVER_ASKED)
			continue;
		if (catalog_upstream_had(c, p->name, row->index->shown, p->here.arrived, &row->had_since, e) < 0)
			return -1;
		row->fetched = row->had_since ? p->here.arrived : 0;
	}
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
	if (c && (name_owner_look(c, &u->hidden_platforms, project, &p->here, e) < 0 ||
			 catalog_upstream_rows(c, project, take_row, p, e) < 0)) {
		upstream_project_unref(p);
		return -1;
	}
	for (size_t i = 0; i < u->indexes; i++)
		upstream_row_unpack(&p->row[i]);
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
	for (size_t i = 0; i < p->upstreams->indexes; i++)
		upstream_row_release(&p->row[i]);
	free(p->name);
	free(p);
}

const char *upstream_project_name(const struct upstream_project *p)
{
	return p->name;
}

bool upstream_project_is_superseded(const struct upstream_project *p)
{
	return atomic_load_explicit(&p->is_superseded, memory_order_acquire);
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
	size_t sum = sizeof(*p);
	for (size_t i = 0; i < p->upstreams->indexes; i++) {
		const struct upstream_row *row = &p->row[i];
		sum += sizeof(*row) + row->packed.len + row->page.text.total +
		       row->page.files * sizeof(*row->page.file);
	}
	return sum;
}

int64_t upstream_project_changed(const struct upstream_project *p)
{
	int64_t newest = 0;
	for (size_t i = 0; i < p->upstreams->indexes && !upstream_project_is_superseded(p); i++)
		newest = p->row[i].changed > newest ? p->row[i].changed : newest;
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
	const char *why; // why it is ours alone; NULL: upstream may be asked
	bool is_ours;
};

// minds_hidden: a name that only hidden platforms have is ours alone.
static int find_owner(struct upstreams *u, struct catalog *c, const char *project, bool minds_hidden,
	struct ownership *out, struct err *e)
{
	struct name_presence here = {0};
	if (open_ours(u, c, e) < 0 ||
		(minds_hidden && name_owner_look(c, &u->hidden_platforms, project, &here, e) < 0))
		return -1;
	out->is_ours = owned_names_has(u->ours, project) && !strset_has(&u->noted, project);
	out->why = upstream_owner(name_rules_find(&u->rules, project), out->is_ours, name_owner_is_hidden(&here));
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

int upstream_load_cached_any(struct upstreams *u, struct catalog *c, const char *project, upstream_fn *fn, void *ctx,
	struct err *e)
{
	struct upstream_project *p;
	if (upstream_load(u, c, project, &p, e) < 0)
		return -1;
	int r = upstream_report(u, p, fn, ctx, e);
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
			 : upstream_load_cached_any(u, c, project, fn, ctx, e);
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
	size_t known;                           // number of projects that upstream has
	struct strset unknown;                  // that it does not, and are ours for that
	const struct upstream_project *project; // that is reported
};

static void look_release(struct look *l)
{
	strset_release(&l->unknown);
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
	upstream_request(l->upstreams, p, on_answer, l);
	return 0;
}

// Does not report the facts of upstream about a name that is ours. Names that upstream does not have are recorded at
// the end.
static int report_project(void *ctx, const struct upstream_answer *a, struct err *e)
{
	struct look *l = ctx;
	const char *project = l->project->name;
	bool is_missing = a->last_definitive == UPSTREAM_NOT_FOUND || a->last_definitive == UPSTREAM_ABSENT;
	bool is_ours = name_rules_find(&l->upstreams->rules, project) == NAME_RULE_MERGE &&
		       name_owner_judge(&l->project->here, a) == NAME_OWNER_OURS;
	l->known += a->result == UPSTREAM_KNOWN;
	if (!is_ours)
		return l->fn(l->ctx, a, e);
	if (is_missing) {
		strset_add(&l->unknown, project);
		return l->fn(l->ctx, a, e);
	}
	const struct ownership owner = {upstream_owner(NAME_RULE_MERGE, true, false), true};
	return owned_names_add(l->upstreams->ours, &project, 1, e) < 0 ? -1
								      : report_private(project, &owner, l->fn, l->ctx, e);
}

static int take_answer(struct look *l, struct upstream_project *p)
{
	upstream_parse(l->upstreams, p);
	l->project = p;
	int r = upstream_report(l->upstreams, p, report_project, l, l->e);
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
static int note_unknown(struct look *l, struct err *e)
{
	struct upstreams *u = l->upstreams;
	strset_release(&u->noted);
	strset_sort(&l->unknown);
	if (l->unknown.count >= SEVERAL && !l->known && !upstreams_trust_404(u)) {
		log_warn("upstream knows none of %zu projects, so they are not recorded as ours; check [upstream] url, "
			 "or set trust-404 = yes, or list them as private",
			l->unknown.count);
		return 0;
	}
	for (size_t i = 0; i < l->unknown.count; i++)
		strset_add(&u->noted, l->unknown.item[i]);
	const char *const *names = (const char *const *)l->unknown.item;
	return l->unknown.count ? owned_names_add(u->ours, names, l->unknown.count, e) : 0;
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
	int r = flush_batch(&l) < 0 || note_unknown(&l, l.e) < 0 ? -1 : 0;
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
	int64_t changed = 0, arrived = row->project->here.arrived;
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

int upstream_forget(struct catalog *c, struct err *e)
{
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	if (catalog_begin(c, &t, e) < 0)
		return -1;
	if (catalog_upstream_forget(c, UPSTREAM_UNKNOWN_NAMES, e) < 0 ||
		catalog_upstream_forget_pages(c, LIMIT_PAGES_KEPT, e) < 0)
		return -1;
	return catalog_commit(&t, e);
}
