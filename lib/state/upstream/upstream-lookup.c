// SPDX-License-Identifier: Apache-2.0
// Cached facts about a project, and the look-up of many projects.
#include <stdlib.h>
#include <string.h>

#include "lib/base/log.h"
#include "lib/base/str.h"
#include "lib/state/upstream/owned-names.h"
#include "lib/state/upstream/upstream-row.h"

enum {
	BATCH = 64,  // projects per transaction
	SEVERAL = 3, // a working index knows at least one of so many projects
};

// Opens the owned names at the first use, in any thread.
static int open_ours(struct upstream *u, struct catalog *c, struct err *e)
{
	CLEANUP(mem_free) char *path = owned_names_path(catalog_path(c));
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
static int find_owner(struct upstream *u, struct catalog *c, const char *project, bool minds_hidden,
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

int upstream_load_cached_any(struct upstream *u, struct catalog *c, const char *project, upstream_fn *fn, void *ctx,
	struct err *e)
{
	struct upstream_project *p;
	if (upstream_load(u, c, project, &p, e) < 0)
		return -1;
	int r = upstream_report(u, p, fn, ctx, e);
	upstream_project_unref(p);
	return r;
}

static int load_cached(struct upstream *u, struct catalog *c, const char *project, bool minds_hidden, upstream_fn *fn,
	void *ctx, struct err *e)
{
	struct ownership owner;
	if (find_owner(u, c, project, minds_hidden, &owner, e) < 0)
		return -1;
	return owner.why ? report_private(project, &owner, fn, ctx, e)
			 : upstream_load_cached_any(u, c, project, fn, ctx, e);
}

int upstream_load_cached(struct upstream *u, struct catalog *c, const char *project, upstream_fn *fn, void *ctx,
	struct err *e)
{
	return load_cached(u, c, project, true, fn, ctx, e);
}

int upstream_load_cached_open(struct upstream *u, struct catalog *c, const char *project, upstream_fn *fn, void *ctx,
	struct err *e)
{
	return load_cached(u, c, project, false, fn, ctx, e);
}

struct look {
	struct upstream *upstream;
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
	l->has_failed = l->upstream->is_ending = true;
	fetch_pool_cancel(l->upstream->pool, 0);
}

static int flush_batch(struct look *l)
{
	int r = upstream_save(l->upstream, l->catalog, l->batch, l->batched, l->e);
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
		if (find_owner(l->upstream, l->catalog, project, true, &owner, l->e) < 0 ||
			(owner.why && report_private(project, &owner, l->fn, l->ctx, l->e) < 0))
			return -1;
	}
	if (upstream_load(l->upstream, l->catalog, project, &p, l->e) < 0)
		return -1;
	upstream_request(l->upstream, p, on_answer, l);
	return 0;
}

// Does not report the facts of upstream about a name that is ours. Names that upstream does not have are recorded at
// the end.
static int report_project(void *ctx, const struct upstream_answer *a, struct err *e)
{
	struct look *l = ctx;
	const char *project = l->project->name;
	bool is_missing = a->last_definitive == UPSTREAM_NOT_FOUND || a->last_definitive == UPSTREAM_ABSENT;
	bool is_ours = name_rules_find(&l->upstream->rules, project) == NAME_RULE_MERGE &&
		       name_owner_judge(&l->project->here, a) == NAME_OWNER_OURS;
	l->known += a->result == UPSTREAM_KNOWN;
	if (!is_ours)
		return l->fn(l->ctx, a, e);
	if (is_missing) {
		strset_add(&l->unknown, project);
		return l->fn(l->ctx, a, e);
	}
	const struct ownership owner = {upstream_owner(NAME_RULE_MERGE, true, false), true};
	return owned_names_add(l->upstream->ours, project, e) < 0 ? -1
								  : report_private(project, &owner, l->fn, l->ctx, e);
}

static int take_answer(struct look *l, struct upstream_project *p)
{
	upstream_parse(l->upstream, p);
	l->project = p;
	int r = upstream_report(l->upstream, p, report_project, l, l->e);
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
	struct upstream *u = l->upstream;
	strset_release(&u->noted);
	strset_sort(&l->unknown);
	if (l->unknown.count >= SEVERAL && !l->known && !u->trust_404) {
		log_warn("upstream knows none of %zu projects, so they are not recorded as ours; check [upstream] url, "
			 "or set trust-404 = yes, or list them as private",
			l->unknown.count);
		return 0;
	}
	for (size_t i = 0; i < l->unknown.count; i++) {
		strset_add(&u->noted, l->unknown.item[i]);
		if (owned_names_add(u->ours, l->unknown.item[i], e) < 0)
			return -1;
	}
	return 0;
}

int upstream_lookup(struct upstream *u, struct catalog *c, const char *const *projects, size_t count, upstream_fn *fn,
	void *ctx, struct err *e)
{
	CLEANUP(look_release)
	struct look l = {
		.upstream = u, .catalog = c, .projects = projects, .count = count, .fn = fn, .ctx = ctx, .e = e};
	for (unsigned i = 0; i < u->concurrency && !l.has_failed; i++)
		if (ask_next(&l) < 0)
			cancel_lookup(&l);
	fetch_pool_run(u->pool);
	u->is_ending = false;
	struct err unsaid = ERR_INIT; // what was learned before it failed is good
	l.e = l.has_failed ? &unsaid : e;
	int r = flush_batch(&l) < 0 || note_unknown(&l, l.e) < 0 ? -1 : 0;
	return l.has_failed ? -1 : r;
}
