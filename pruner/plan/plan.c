// SPDX-License-Identifier: Apache-2.0
#include "pruner/plan/plan.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/domain/index/simplepage.h"
#include "lib/domain/text/filename.h"
#include "lib/format/jsondoc.h"
#include "lib/os/clock.h"
#include "lib/state/access/downloads.h"
#include "lib/state/catalog/catalog-plan.h"
#include "lib/state/catalog/catalog-row.h"
#include "lib/state/store/project-status.h"
#include "lib/state/upstream/name-owner.h"
#include "lib/state/upstream/upstream.h"
#include "pruner/plan/pins.h"
#include "pruner/plan/verdict.h"
#include "pruner/plan/view-losses.h"

enum { LABEL_ROOM = 16 }; // of an environment: "3.13t"

// A platform of the store, with the totals of its files.
struct plan_platform {
	const struct platform *platform; // NULL: it was not chosen
	struct {
		uint64_t files, bytes;
	} sum[VERDICT_COUNT][VERDICT_WHY_COUNT];
};

// Nothing else is known of a damaged file than its name.
struct quarantined_file {
	const char *project; // normalised; "": the file name gives none
	struct catalog_candidate row;
};

struct plan_state {
	const struct config *config;
	const struct store *store;
	struct catalog *catalog; // for writing
	struct catalog *reader;  // one read transaction, for all decisions
	const struct policy *policy;
	const struct plan_options *options;
	struct upstreams *upstreams;
	struct downloads *downloads; // NULL: there are no counts
	struct planfile_writer *file;
	struct catalog_planner *planner; // NULL: there is no file, so nothing is written to the catalog for the web page
	struct plan *plan;
	struct plan_platform *chosen; // as store->platform
	const struct platform **platforms; // of the store
	struct view_losses *losses;   // NULL: they are not asked for
	int64_t now;
	struct strset projects;          // to look up
	struct quarantined_file *refused; // by project, then platform and path
	size_t refuseds, refused_room;
	uint64_t done, failed; // look-ups
	struct arena text;     // of all of these
	// The project and platform that are being decided.
	const char *name;
	struct plan_platform *on;
	struct verdict_upstream upstream_says;
	struct arena scratch; // of the project
};

// --- which platforms, which projects ---

static int choose_platforms(struct plan_state *x, struct err *e)
{
	size_t count = 0;
	x->chosen = ARENA_NEW(&x->text, struct plan_platform, x->store->platform_count);
	x->platforms = ARENA_NEW(&x->text, const struct platform *, x->store->platform_count);
	for (size_t i = 0; i < x->store->platform_count; i++) {
		const struct platform *p = x->platforms[i] = &x->store->platform[i];
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

static void add_project_if_wanted(struct plan_state *x, const char *project)
{
	const struct strset *wanted = x->options->projects;
	if (!wanted || !wanted->count || strset_has(wanted, project))
		strset_add(&x->projects, project);
}

static int add_owned_project(void *ctx, const char *project, int64_t platform, struct err *e UNUSED)
{
	struct plan_state *x = ctx;
	if (find_chosen_platform(x, platform))
		add_project_if_wanted(x, project);
	return 0;
}

static int add_quarantined_file(void *ctx, const struct catalog_candidate *file, struct err *e UNUSED)
{
	struct plan_state *x = ctx;
	struct err none = ERR_INIT;
	CLEANUP(filename_release) struct filename name = {0};
	bool has_project = filename_parse(str_from(file->filename), &name, &none) == 0 && name.project;
	ARENA_GROW(&x->text, x->refused, x->refuseds, x->refused_room);
	struct quarantined_file *kept = &x->refused[x->refuseds++];
	*kept = (struct quarantined_file){has_project ? arena_strdup(&x->text, name.project) : "", *file};
	catalog_candidate_copy(&x->text, &kept->row);
	return 0;
}

static int compare_quarantined(const void *a, const void *b)
{
	const struct quarantined_file *left = a, *right = b;
	int order = strcmp(left->project, right->project);
	if (!order)
		order = (left->row.platform > right->row.platform) - (left->row.platform < right->row.platform);
	return order ? order : strcmp(left->row.path, right->row.path);
}

static int read_quarantined(struct plan_state *x, struct catalog *in, struct err *e)
{
	x->refuseds = 0;
	if (catalog_quarantined_files(in, add_quarantined_file, x, e) < 0)
		return -1;
	if (x->refuseds)
		qsort(x->refused, x->refuseds, sizeof(*x->refused), compare_quarantined);
	return 0;
}

static int collect_projects(struct plan_state *x, struct catalog *in, struct err *e)
{
	strset_release(&x->projects);
	if (catalog_name_owners(in, add_owned_project, x, e) < 0 || read_quarantined(x, in, e) < 0)
		return -1;
	for (size_t i = 0; i < x->refuseds; i++)
		if (*x->refused[i].project && find_chosen_platform(x, x->refused[i].row.platform))
			add_project_if_wanted(x, x->refused[i].project);
	strset_sort(&x->projects);
	return 0;
}

// --- one file ---

// Upstream's file, and for each environment the one that pip would take there.
static void fill_evidence(struct plan_state *x, const struct verdict *v, struct planfile_evidence *out)
{
	const struct upstream_answer *answer = x->upstream_says.answer;
	const struct simplepage_file *file = v->file;
	struct planfile_cover *cover = ARENA_NEW(&x->scratch, struct planfile_cover, v->evidence.places);
	*out = (struct planfile_evidence){
		.filename = file->filename,
		.url = file->url,
		.index = answer->index,
		.has_sha256 = file->has_sha256,
		.is_identical = v->is_identical,
		.uploaded = file->uploaded,
		.fetched = answer->fetched,
		.etag = answer->etag,
		.cover = cover,
	};
	memcpy(out->sha256, file->sha256, SHA256_SIZE);
	for (size_t i = 0; i < v->evidence.places; i++) {
		const struct replacement_place *place = &v->evidence.place[i];
		CLEANUP(buf_release) struct buf label = buf_up_to(LABEL_ROOM);
		if (!place->file)
			continue;
		python_print(&place->environment->python, &label);
		cover[out->covers++] = (struct planfile_cover){
			arena_copy(&x->scratch, buf_view(&label)), place->file->filename};
	}
}

// Writes the entry to the plan's file, to the catalog, and to the caller.
static int write_entry(struct plan_state *x, const struct planfile_entry *f, struct err *e)
{
	const struct catalog_planned planned = {
		.platform = x->on->platform->id,
		.project = f->project,
		.version = f->version,
		.filename = f->filename,
		.path = f->path,
		.size = f->size,
		.mtime_ns = f->mtime_ns,
		.verdict = f->verdict,
		.removes = f->removes,
		.why = f->why,
		.reason = f->reason,
		.upstream = f->evidence.filename,
		.is_identical = f->evidence.is_identical,
	};
	if (planfile_add(x->file, f, e) < 0 || (x->planner && catalog_plan_add(x->planner, &planned, e) < 0))
		return -1;
	return x->options->entry ? x->options->entry(x->options->entry_ctx, f, e) : 0;
}

static int decide_file(void *ctx, const struct catalog_candidate *file, struct err *e)
{
	struct plan_state *x = ctx;
	const struct platform *on = x->on->platform;
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
		.was_downloaded = policy_was_downloaded(x->policy, x->downloads, on->name, file->filename, x->now),
		.view = view,
		.lock = kept_locks_find(&x->policy->locks, file->sha256),
	};
	verdict_decide(x->policy, on, &ours, &x->upstream_says, x->now, &v);
	if (v.removes && view_losses_has_verdict(verdict_name[v.kind]))
		view_losses_remove(x->losses, file->platform, file->filename);
	x->on->sum[v.kind][v.why].files++;
	x->on->sum[v.kind][v.why].bytes += file->size;
	struct planfile_entry entry = {
		.platform = on->name,
		.filename = file->filename,
		.path = file->path,
		.project = x->name,
		.version = file->version,
		.requires_python = file->requires_python,
		.size = file->size,
		.mtime_ns = file->mtime_ns,
		.has_sha256 = file->sha256 != NULL,
		.verdict = verdict_name[v.kind],
		.removes = v.removes,
		.why = verdict_why_name[v.why],
		.reason = v.reason.data,
	};
	if (file->sha256)
		memcpy(entry.sha256, file->sha256, SHA256_SIZE);
	if (v.file && x->upstream_says.answer)
		fill_evidence(x, &v, &entry.evidence);
	return write_entry(x, &entry, e);
}

// Decides the quarantined files whose name gives this project; "": those whose name gives none.
static int decide_quarantined(struct plan_state *x, const char *project, struct err *e)
{
	int result = 0;
	for (size_t i = 0; i < x->refuseds && result == 0; i++) {
		x->on = find_chosen_platform(x, x->refused[i].row.platform);
		if (x->on && strcmp(x->refused[i].project, project) == 0)
			result = decide_file(x, &x->refused[i].row, e);
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

static int decide_project(void *ctx, const struct upstream_answer *answer, struct err *e)
{
	struct plan_state *x = ctx;
	int result = 0;
	enum name_age age;
	if (answer->result != UPSTREAM_KNOWN && answer->result != UPSTREAM_ABSENT) {
		struct plan *p = x->plan;
		ARENA_GROW(&p->text, p->failure, p->head.failures, p->failure_room);
		p->failure[p->head.failures++] = (struct planfile_failure){
			.project = arena_strdup(&p->text, answer->project),
			.result = upstream_result_name[answer->result],
			.why = arena_strdup(&p->text, answer->why ? answer->why : ""),
		};
		p->head.failed += is_failed_lookup(answer->result);
	}
	CLEANUP(project_status_release) struct project_status status = {0};
	if (name_owner_find_age(x->upstreams, x->reader, answer, &age, e) < 0 ||
		project_status_find(x->reader, x->name, x->platforms, x->store->platform_count, &status, e) < 0)
		return -1;
	// Clients get nothing of upstream under a name that is in quarantine here.
	bool is_withdrawn = status.status == SIMPLEPAGE_QUARANTINED;
	verdict_upstream_init(&x->upstream_says, x->name, is_withdrawn ? NULL : answer);
	x->upstream_says.is_younger = age != NAME_AGE_OLDER;
	for (size_t i = 0; i < x->store->platform_count && result == 0; i++) {
		x->on = &x->chosen[i];
		if (x->on->platform)
			result = catalog_candidates(x->reader, x->on->platform->id, x->name, decide_file, x, e);
	}
	if (result == 0)
		result = decide_quarantined(x, x->name, e);
	verdict_upstream_release(&x->upstream_says);
	arena_release(&x->scratch);
	return result < 0 ? -1 : view_losses_count(x->losses, x->reader, x->name, e);
}

static int decide_projects(struct plan_state *x, struct err *e)
{
	for (size_t i = 0; i < x->projects.count; i++) {
		x->name = x->projects.item[i];
		if (upstream_load_cached(x->upstreams, x->reader, x->name, decide_project, x, e) < 0)
			return -1;
	}
	x->name = NULL;
	verdict_upstream_init(&x->upstream_says, "", NULL);
	int result = decide_quarantined(x, "", e);
	verdict_upstream_release(&x->upstream_says);
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
	return upstream_lookup(x->upstreams, x->catalog, (const char *const *)x->projects.item, x->projects.count,
		count_answer, x, e);
}

// --- the plan ---

// The totals of a platform by verdict and by the reason to keep.
static void summarize_platform(struct plan_state *x, const struct plan_platform *on, struct planfile_platform *all,
	struct planfile_total *total)
{
	struct planfile_head *h = &x->plan->head;
	*all = (struct planfile_platform){.name = on->platform->name};
	for (size_t kind = 0; kind < VERDICT_COUNT; kind++)
		for (size_t why = 0; why < VERDICT_WHY_COUNT; why++) {
			uint64_t files = on->sum[kind][why].files, bytes = on->sum[kind][why].bytes;
			all->files += files;
			all->bytes += bytes;
			if (files)
				total[h->totals++] = (struct planfile_total){all->name, verdict_name[kind],
					verdict_why_name[why], why == VERDICT_REMOVES, files, bytes};
		}
}

static void summarize_plan(struct plan_state *x)
{
	struct plan *p = x->plan;
	struct planfile_head *h = &p->head;
	struct policy_takes takes = x->policy->takes;
	size_t most = x->store->platform_count;
	struct planfile_platform *platform = ARENA_NEW(&p->text, struct planfile_platform, most);
	struct planfile_total *total =
		ARENA_NEW(&p->text, struct planfile_total, most * VERDICT_COUNT * VERDICT_WHY_COUNT);
	const char **option = ARENA_NEW(&p->text, const char *, POLICY_OPTIONS);
	for (size_t i = 0; i < most; i++)
		if (x->chosen[i].platform)
			summarize_platform(x, &x->chosen[i], &platform[h->platforms++], total);
	for (size_t i = 0; i < POLICY_OPTIONS; i++)
		if (*policy_takes_class(&takes, policy_class[i]))
			option[h->options++] = policy_class[i];
	h->platform = platform;
	h->total = total;
	h->option = option;
	h->glob = x->options->glob;
	h->globs = x->options->globs;
	h->projects = x->projects.count;
	h->failure = p->failure;
	h->view = view_losses_found(x->losses, &h->views);
	p->losses = STEAL_PTR(x->losses);
}

static int finish_files(struct plan_state *x, struct err *e)
{
	const char *path = x->options->path, *slash = path ? strrchr(path, '/') : NULL;
	struct planfile_head named = x->plan->head;
	CLEANUP(buf_release) struct buf text = buf_up_to(SIZE_MAX / 2);
	if (planfile_finish(x->file, &named, e) < 0)
		return -1;
	named.file = slash ? slash + 1 : path;
	planfile_write_head(&named, &text);
	return x->planner ? catalog_plan_finish(x->planner, named.id, named.made, text.data, e) : 0;
}

static int make_plan(struct plan_state *x, struct err *e)
{
	bool scanned;
	const char *path = x->options->path;
	if (catalog_was_scanned(x->catalog, &scanned, e) < 0)
		return -1;
	if (!scanned)
		return err_set(e, ERR_NOT_FOUND, "%s: no scan of the store has ended yet: run wheelcache index first",
			catalog_path(x->catalog));
	if (catalog_enlarge_cache(x->catalog, e) < 0 || choose_platforms(x, e) < 0 ||
		policy_open_downloads(x->policy, x->config, catalog_path(x->catalog), &x->downloads, e) < 0 ||
		planfile_create(path, &x->file, e) < 0 ||
		(path && catalog_plan_begin(x->catalog, &x->planner, e) < 0) ||
		view_losses_open(x->config, x->store, x->catalog, &x->losses, e) < 0 || ask_upstream(x, e) < 0 ||
		decide_all(x, e) < 0)
		return -1;
	summarize_plan(x);
	return finish_files(x, e);
}

static void plan_state_release(struct plan_state *x)
{
	strset_release(&x->projects);
	planfile_cleanup(&x->file);
	catalog_plan_cleanup(&x->planner);
	downloads_close(x->downloads);
	upstreams_free(x->upstreams);
	view_losses_free(x->losses);
	catalog_close(x->reader);
	arena_release(&x->text);
	arena_release(&x->scratch);
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
	// The policy for people to read; apply compares its hash. Without upstream's URLs, which may contain passwords.
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_CONFIG);
	jsondoc_put_int(doc, "min-age", (int64_t)c->prune_min_age);
	jsondoc_put_int(doc, "upstream-min-age", (int64_t)c->prune_upstream_min_age);
	jsondoc_put_int(doc, "downloaded", (int64_t)c->prune_downloaded);
	if (c->prune_packages)
		jsondoc_put_str(doc, "packages", c->prune_packages);
	if (c->prune_constraints)
		jsondoc_put_str(doc, "constraints", c->prune_constraints);
	if (c->prune_locks)
		jsondoc_put_str(doc, "locks", c->prune_locks);
	jsondoc_write(doc, 0, &text);
	out->head.policy = arena_copy(&out->text, buf_view(&text));
	return upstreams_new(c, &x.upstreams, e) < 0 || pins_sync(c, catalog, e) < 0 ? -1 : make_plan(&x, e);
}

static int decide_again(struct plan_state *x, struct err *e)
{
	for (size_t i = 0; i < x->options->projects->count; i++)
		strset_add(&x->projects, x->options->projects->item[i]);
	if (choose_platforms(x, e) < 0 || read_quarantined(x, x->catalog, e) < 0 ||
		policy_open_downloads(x->policy, x->config, catalog_path(x->catalog), &x->downloads, e) < 0 ||
		planfile_create(NULL, &x->file, e) < 0)
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
		.upstreams = again->upstreams,
		.plan = &unused,
		.now = clock_wall_seconds(),
	};
	int result = decide_again(&x, e);
	x.upstreams = NULL; // the caller's, like the catalog
	x.reader = NULL;
	return result;
}

void plan_release(struct plan *p)
{
	arena_release(&p->text);
	view_losses_free(p->losses);
	*p = (struct plan){0};
}
