// SPDX-License-Identifier: Apache-2.0
#include "pruner/plan/plan.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/format/jsondoc.h"
#include "lib/os/clock.h"
#include "lib/state/access/downloads.h"
#include "lib/state/catalog/catalog-candidate.h"
#include "lib/state/upstream/name-owner.h"
#include "lib/state/upstream/upstream.h"
#include "pruner/plan/plan-entry.h"
#include "pruner/plan/plan-totals.h"
#include "pruner/plan/pins.h"
#include "pruner/plan/quarantined.h"
#include "pruner/plan/verdict.h"
#include "pruner/plan/view-losses.h"

// A platform of the store.
struct plan_platform {
	const struct platform *platform; // NULL: it was not chosen
	struct plan_totals plan_totals;
};

struct plan_state {
	const struct config *config;
	const struct store *store;
	struct catalog *catalog; // for writing
	struct catalog *reader;  // one read transaction, for all decisions
	const struct policy *policy;
	const struct plan_options *options;
	struct upstream *upstream;
	struct downloads *downloads; // NULL: there are no counts
	struct plan_writer plan_writer;
	struct plan *plan;
	struct plan_platform *chosen; // as store->platform
	struct view_losses *losses;   // NULL: they are not asked for
	int64_t now;
	struct strset projects; // to look up
	struct quarantined refused;
	uint64_t done, failed; // look-ups
	// The project and platform that are being decided.
	const char *name;
	struct plan_platform *on;
	struct verdict_upstream upstream_facts;
};

// --- which platforms, which projects ---

static int choose_platforms(struct plan_state *x, struct err *e)
{
	size_t count = 0;
	x->chosen = xcalloc(x->store->platform_count + 1, sizeof(*x->chosen));
	for (size_t i = 0; i < x->store->platform_count; i++) {
		const struct platform *p = &x->store->platform[i];
		if (!store_is_wanted(x->options->glob, x->options->globs, p->name))
			continue;
		x->chosen[i].platform = p;
		count++;
	}
	if (count || !x->options->globs)
		return count ? 0 : err_set(e, ERR_NOT_FOUND, "the store has no platform: nothing can be pruned");
	return store_refuse_platform(x->store, x->options->glob[0], ERR_NOT_FOUND, e);
}

static struct plan_platform *find_chosen_platform(struct plan_state *x, int64_t platform)
{
	for (size_t i = 0; i < x->store->platform_count; i++)
		if (x->chosen[i].platform && x->chosen[i].platform->id == platform)
			return &x->chosen[i];
	return NULL;
}

static bool is_wanted_project(const struct plan_options *o, const char *project)
{
	return !o->projects || !o->projects->count || strset_has(o->projects, project);
}

static void add_project_if_wanted(struct plan_state *x, const char *project)
{
	if (is_wanted_project(x->options, project))
		strset_add(&x->projects, project);
}

static int add_owned_project(void *ctx, const char *project, int64_t platform, struct err *e UNUSED)
{
	struct plan_state *x = ctx;
	if (find_chosen_platform(x, platform))
		add_project_if_wanted(x, project);
	return 0;
}

static int collect_projects(struct plan_state *x, struct catalog *in, struct err *e)
{
	strset_release(&x->projects);
	quarantined_release(&x->refused);
	if (catalog_name_owners(in, add_owned_project, x, e) < 0 || quarantined_read(&x->refused, in, e) < 0)
		return -1;
	for (size_t i = 0; i < x->refused.count; i++)
		if (*x->refused.file[i].project && find_chosen_platform(x, x->refused.file[i].row.platform))
			add_project_if_wanted(x, x->refused.file[i].project);
	strset_sort(&x->projects);
	return 0;
}

// --- one file ---

static int decide_file(void *ctx, const struct catalog_candidate *file, struct err *e)
{
	struct plan_state *x = ctx;
	CLEANUP(verdict_release) struct verdict v = {0};
	CLEANUP(mem_free) char *view = NULL;
	if (file->sha256 && pins_find(x->reader, file->platform, file->filename, file->sha256, &view, e) < 0)
		return -1;
	const struct verdict_file ours = {
		.filename = file->filename,
		.project = x->name,
		.version = file->version,
		.sha256 = file->sha256,
		.mtime = file->mtime_ns / 1000000000,
		.requires_python = file->requires_python,
		.refusal = file->refusal,
		.was_downloaded =
			policy_was_downloaded(x->policy, x->downloads, x->on->platform->name, file->filename, x->now),
		.view = view,
	};
	verdict_decide(x->policy, x->on->platform, &ours, &x->upstream_facts, x->now, &v);
	if (v.removes && view_losses_has_verdict(verdict_name[v.kind]))
		view_losses_remove(x->losses, file->platform, file->filename);
	plan_totals_add(&x->on->plan_totals, v.kind, v.why, file->size);
	CLEANUP(plan_entry_release) struct plan_entry entry;
	plan_entry_init(&entry, x->on->platform->name, x->name, file, &v, x->upstream_facts.answer);
	return plan_writer_add(&x->plan_writer, x->on->platform->id, &entry.plan, e);
}

// Decides the quarantined files whose name gives this project; "": those whose name gives none.
static int decide_quarantined(struct plan_state *x, const char *project, struct err *e)
{
	int result = 0;
	for (size_t i = 0; i < x->refused.count && result == 0; i++) {
		const struct quarantined_file *file = &x->refused.file[i];
		x->on = find_chosen_platform(x, file->row.platform);
		if (x->on && strcmp(file->project, project) == 0)
			result = decide_file(x, &file->row, e);
	}
	return result;
}

// --- one project ---

// An answer that upstream does not have the project is no failure.
static bool is_failed_lookup(enum upstream_result result)
{
	static const enum upstream_result fine[] = {
		UPSTREAM_KNOWN, UPSTREAM_ABSENT, UPSTREAM_NOT_FOUND, UPSTREAM_QUARANTINED, UPSTREAM_PRIVATE};
	for (size_t i = 0; i < ARRAY_SIZE(fine); i++)
		if (result == fine[i])
			return false;
	return true;
}

static void add_failed_lookup(struct plan *p, const struct upstream_answer *answer)
{
	GROW(p->failure, p->head.failures, p->failure_room);
	p->failure[p->head.failures++] = (struct planfile_failure){
		.project = arena_copy(&p->text, str_from(answer->project)),
		.result = upstream_result_name[answer->result],
		.why = arena_copy(&p->text, str_from(answer->why ? answer->why : "")),
	};
	p->head.failed += is_failed_lookup(answer->result);
}

static int decide_project(void *ctx, const struct upstream_answer *answer, struct err *e)
{
	struct plan_state *x = ctx;
	int result = 0;
	enum name_age age;
	if (answer->result != UPSTREAM_KNOWN && answer->result != UPSTREAM_ABSENT)
		add_failed_lookup(x->plan, answer);
	if (name_owner_find_age(x->upstream, x->reader, answer, &age, e) < 0)
		return -1;
	verdict_upstream_init(&x->upstream_facts, x->name, answer);
	x->upstream_facts.is_younger = age != NAME_AGE_OLDER;
	for (size_t i = 0; i < x->store->platform_count && result == 0; i++) {
		x->on = &x->chosen[i];
		if (x->on->platform)
			result = catalog_candidates(x->reader, x->on->platform->id, x->name, decide_file, x, e);
	}
	if (result == 0)
		result = decide_quarantined(x, x->name, e);
	verdict_upstream_release(&x->upstream_facts);
	return result < 0 ? -1 : view_losses_count(x->losses, x->reader, x->name, e);
}

static int decide_projects(struct plan_state *x, struct err *e)
{
	for (size_t i = 0; i < x->projects.count; i++) {
		x->name = x->projects.item[i];
		if (upstream_load_cached(x->upstream, x->reader, x->name, decide_project, x, e) < 0)
			return -1;
	}
	x->name = NULL;
	verdict_upstream_init(&x->upstream_facts, "", NULL);
	int result = decide_quarantined(x, "", e);
	verdict_upstream_release(&x->upstream_facts);
	return result;
}

// Reads in one transaction, so that no file comes twice or never while others write.
static int decide_all(struct plan_state *x, struct err *e)
{
	if (catalog_open_read(catalog_path(x->catalog), &x->reader, e) < 0 || catalog_enlarge_cache(x->reader, e) < 0 ||
		catalog_read_begin(x->reader, e) < 0)
		return -1;
	CLEANUP(catalog_read_end) struct catalog *snapshot = x->reader;
	if (catalog_newest_change(snapshot, &x->plan->head.change, e) < 0 || collect_projects(x, snapshot, e) < 0)
		return -1;
	return decide_projects(x, e);
}

// --- looking up ---

static int count_answer(void *ctx, const struct upstream_answer *answer, struct err *e UNUSED)
{
	struct plan_state *x = ctx;
	x->done++;
	x->failed += is_failed_lookup(answer->result);
	if (x->options->progress)
		x->options->progress(x->options->ctx, x->done, x->projects.count, x->failed);
	return 0;
}

static int ask_upstream(struct plan_state *x, struct err *e)
{
	if (x->options->is_offline)
		return 0;
	if (collect_projects(x, x->catalog, e) < 0)
		return -1;
	return upstream_lookup(x->upstream, x->catalog, (const char *const *)x->projects.item, x->projects.count,
		count_answer, x, e);
}

// --- the plan ---

static void summarize_platforms(struct plan_state *x)
{
	struct plan *p = x->plan;
	size_t most = x->store->platform_count;
	p->platform = xcalloc(most + 1, sizeof(*p->platform));
	p->total = xcalloc((most + 1) * VERDICT_COUNT * VERDICT_WHY_COUNT, sizeof(*p->total));
	for (size_t i = 0; i < most; i++) {
		const struct plan_platform *on = &x->chosen[i];
		if (!on->platform)
			continue;
		p->platform[p->head.platforms++] = plan_totals_all(&on->plan_totals, on->platform->name);
		p->head.totals = plan_totals_rows(&on->plan_totals, on->platform->name, p->total, p->head.totals);
	}
	p->head.platform = p->platform;
	p->head.total = p->total;
}

static void summarize_plan(struct plan_state *x)
{
	struct plan *p = x->plan;
	struct policy_takes takes = x->policy->takes;
	summarize_platforms(x);
	for (size_t i = 0; i < POLICY_OPTIONS; i++)
		if (*policy_takes_class(&takes, policy_class[i]))
			p->option[p->head.options++] = policy_class[i];
	p->head.option = p->option;
	p->head.glob = x->options->glob;
	p->head.globs = x->options->globs;
	p->head.projects = x->projects.count;
	p->head.failure = p->failure;
	p->head.view = view_losses_found(x->losses, &p->head.views);
	p->losses = STEAL_PTR(x->losses);
}

// The policy for people to read; apply compares its hash. Without upstream's URLs, which may contain passwords.
static char *policy_text(const struct config *c)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
	struct buf text;
	buf_init(&text, LIMIT_CONFIG);
	jsondoc_put_int(doc, "min-age", (int64_t)c->prune_min_age);
	jsondoc_put_int(doc, "upstream-min-age", (int64_t)c->prune_upstream_min_age);
	jsondoc_put_int(doc, "downloaded", (int64_t)c->prune_downloaded);
	if (c->prune_packages)
		jsondoc_put_str(doc, "packages", c->prune_packages);
	if (c->prune_constraints)
		jsondoc_put_str(doc, "constraints", c->prune_constraints);
	jsondoc_write(doc, 0, &text);
	return buf_steal(&text);
}

static int make_plan(struct plan_state *x, struct err *e)
{
	bool scanned;
	if (catalog_was_scanned(x->catalog, &scanned, e) < 0)
		return -1;
	if (!scanned)
		return err_set(e, ERR_NOT_FOUND, "%s: no scan of the store has ended yet: run wheelcache index first",
			catalog_path(x->catalog));
	if (catalog_enlarge_cache(x->catalog, e) < 0 || choose_platforms(x, e) < 0 ||
		policy_open_downloads(x->policy, catalog_path(x->catalog), &x->downloads, e) < 0 ||
		plan_writer_open(&x->plan_writer, x->options->path, x->catalog, x->options->entry,
			x->options->entry_ctx, e) < 0 ||
		view_losses_open(x->config, x->store, x->catalog, &x->losses, e) < 0 || ask_upstream(x, e) < 0 ||
		decide_all(x, e) < 0)
		return -1;
	summarize_plan(x);
	return plan_writer_finish(&x->plan_writer, &x->plan->head, e);
}

static void plan_state_release(struct plan_state *x)
{
	strset_release(&x->projects);
	quarantined_release(&x->refused);
	free(x->chosen);
	plan_writer_release(&x->plan_writer);
	downloads_close(x->downloads);
	upstream_free(x->upstream);
	view_losses_free(x->losses);
	catalog_close(x->reader);
}

int plan_make(const struct config *c, const struct store *store, struct catalog *catalog, const struct policy *policy,
	const struct plan_options *options, struct plan *out, struct err *e)
{
	*out = (struct plan){0};
	CLEANUP(plan_state_release)
	struct plan_state x = {
		.config = c,
		.store = store,
		.catalog = catalog,
		.policy = policy,
		.options = options,
		.plan = out,
		.now = clock_wall_seconds(),
	};
	planfile_new_id(x.now, out->id);
	out->head.id = out->id;
	out->head.made = x.now;
	out->head.store = store->path ? store->path : "";
	out->head.policy_hash = policy->hash;
	out->head.policy = out->policy = policy_text(c);
	return upstream_new(c, &x.upstream, e) < 0 || pins_sync(c, catalog, e) < 0 ? -1 : make_plan(&x, e);
}

static int decide_again(struct plan_state *x, struct err *e)
{
	for (size_t i = 0; i < x->options->projects->count; i++)
		strset_add(&x->projects, x->options->projects->item[i]);
	if (choose_platforms(x, e) < 0 || quarantined_read(&x->refused, x->catalog, e) < 0 ||
		policy_open_downloads(x->policy, catalog_path(x->catalog), &x->downloads, e) < 0 ||
		plan_writer_open(&x->plan_writer, NULL, x->catalog, x->options->entry, x->options->entry_ctx, e) < 0)
		return -1;
	return decide_projects(x, e);
}

int plan_decide_again(const struct plan_again *again, struct err *e)
{
	const struct plan_options options = {.glob = again->platform,
		.globs = again->platforms,
		.projects = again->projects,
		.is_offline = true,
		.entry = again->entry,
		.entry_ctx = again->entry_ctx};
	CLEANUP(plan_release) struct plan unused = {0};
	CLEANUP(plan_state_release)
	struct plan_state x = {
		.store = again->store,
		.catalog = again->catalog,
		.reader = again->catalog,
		.policy = again->policy,
		.options = &options,
		.upstream = again->upstream,
		.plan = &unused,
		.now = clock_wall_seconds(),
	};
	int result = decide_again(&x, e);
	x.upstream = NULL; // the caller's, like the catalog
	x.reader = NULL;
	return result;
}

void plan_release(struct plan *p)
{
	arena_release(&p->text);
	free(p->policy);
	free(p->failure);
	free(p->platform);
	free(p->total);
	view_losses_free(p->losses);
	*p = (struct plan){0};
}
