// SPDX-License-Identifier: Apache-2.0
#include "server/pages/home.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/domain/text/name.h"
#include "lib/format/jsondoc.h"
#include "lib/os/clock.h"
#include "lib/state/catalog/catalog-file.h"
#include "lib/state/catalog/catalog-mark.h"
#include "lib/state/catalog/catalog-plan.h"
#include "lib/state/catalog/catalog-told.h"
#include "lib/state/catalog/catalog-upstream.h"
#include "lib/state/store/retired.h"
#include "lib/state/store/tombstone.h"
#include "lib/state/upstream/file-cache.h"
#include "lib/state/upstream/offering.h"
#include "server/core/build-results.h"
#include "server/pages/builds-page.h"
#include "server/pages/plan-rows.h"

enum {
	DAY = 86400,
	FILES_LOOKED = 16, // newest files of a project on a platform
	MARKS_LOOKED = 32, // newest tombstones of a platform
	PLAN_MOST = 1 << 20,
};

struct overview_reader {
	struct server_context *context;
	struct catalog *catalog;
	const struct readable *readable; // without retired platforms
	const struct readable *all;
	uint32_t upstreams; // readable_upstreams() of all
	struct overview_data *data;
	int64_t now;
	struct overview_arrival *arrival;  // whose files are counted
	struct str version_key;            // of its version
	bool is_here;                      // a file of it is on this platform
	int64_t newest[OVERVIEW_ARRIVALS]; // of the arrivals, as the directory has it
};

static void *insert_at(void *list, size_t *count, size_t most, size_t at, size_t size)
{
	char *place = (char *)list + at * size;
	*count += *count < most;
	memmove(place + size, place, (*count - 1 - at) * size);
	return place;
}

// --- projects: what is new, and what is old ---

// A project is as new as its newest file on any platform.
static void take_overview_project(void *ctx, const struct project_entry *p)
{
	struct overview_reader *r = ctx;
	int64_t newest = 0;
	for (size_t i = 0; i < p->places; i++)
		if (p->place[i].files && p->place[i].newest > newest &&
			readable_platform(r->readable, p->place[i].platform, p->name))
			newest = p->place[i].newest;
	if (!newest)
		return;
	if (newest < r->now - (int64_t)OVERVIEW_OLD_DAYS * DAY) {
		struct overview_data *d = r->data;
		size_t at = d->olds;
		d->old_total++;
		while (at > 0 && d->old[at - 1].when > newest)
			at--;
		if (at < OVERVIEW_OLD)
			*(struct overview_old *)insert_at(d->old, &d->olds, OVERVIEW_OLD, at, sizeof(d->old[0])) =
				(struct overview_old){arena_copy(&d->text, str_from(p->name)), newest};
	} else {
		struct overview_data *d = r->data;
		size_t at = d->arrivals;
		while (at > 0 && r->newest[at - 1] < newest)
			at--;
		if (at != OVERVIEW_ARRIVALS) {
			size_t count = d->arrivals;
			*(int64_t *)insert_at(r->newest, &count, OVERVIEW_ARRIVALS, at, sizeof(r->newest[0])) = newest;
			*(struct overview_arrival *)insert_at(d->arrival, &d->arrivals, OVERVIEW_ARRIVALS, at,
				sizeof(d->arrival[0])) =
				(struct overview_arrival){.project = arena_copy(&d->text, str_from(p->name))};
		}
	}
}

static int find_newest_version(void *ctx, const struct catalog_file *f, struct err *e UNUSED)
{
	struct overview_reader *r = ctx;
	struct overview_arrival *a = r->arrival;
	if (catalog_file_came(f) < a->when || (catalog_file_came(f) == a->when && str_cmp(f->version_key, r->version_key) <= 0))
		return 0;
	a->when = catalog_file_came(f);
	a->version = arena_copy(&r->data->text, str_from(f->version));
	r->version_key = (struct str){arena_copy(&r->data->text, f->version_key), f->version_key.len};
	return 0;
}

static int count_arrived_file(void *ctx, const struct catalog_file *f, struct err *e UNUSED)
{
	struct overview_reader *r = ctx;
	struct overview_arrival *a = r->arrival;
	if (strcmp(f->version, a->version) != 0 || catalog_file_came(f) < a->when - DAY)
		return 0;
	a->files++;
	r->is_here = true;
	return 0;
}

static int each_arrived_file(struct overview_reader *r, const char *project, catalog_file_fn *fn, struct err *e)
{
	const struct store *store = &r->readable->site->store;
	for (size_t i = 0; i < store->platform_count; i++) {
		r->is_here = false;
		if (r->readable->is_readable[i] &&
			catalog_newest_files(r->catalog, store->platform[i].id, project, FILES_LOOKED, fn, r, e) < 0)
			return -1;
		if (r->is_here)
			r->arrival->platforms++;
	}
	return 0;
}

static int read_arrivals(struct overview_reader *r, struct err *e)
{
	struct overview_data *d = r->data;
	size_t kept = 0;
	for (size_t i = 0; i < d->arrivals; i++) {
		r->arrival = &d->arrival[i];
		r->version_key = STR("");
		if (each_arrived_file(r, d->arrival[i].project, find_newest_version, e) < 0 ||
			(d->arrival[i].version &&
				each_arrived_file(r, d->arrival[i].project, count_arrived_file, e) < 0))
			return -1;
		if (d->arrival[i].version) // its files have not gone meanwhile
			d->arrival[kept++] = d->arrival[i];
	}
	d->arrivals = kept;
	return 0;
}

// --- removals ---

// The project is known where the file is still there; else its name says it.
static const char *project_of_mark(struct overview_reader *r, const struct catalog_marked *m)
{
	char name[LIMIT_FILE_NAME + 1];
	size_t len = strcspn(m->filename, "-");
	CLEANUP(buf_release) struct buf normal = buf_up_to(LIMIT_FILE_NAME);
	if (m->project)
		return arena_copy(&r->data->text, str_from(m->project));
	if (len > LIMIT_FILE_NAME)
		return NULL;
	memcpy(name, m->filename, len);
	name[len] = '\0';
	name_normalize(str_from(name), &normal);
	return name_is_valid(str_from(name)) && !normal.failed ? arena_copy(&r->data->text, buf_view(&normal)) : NULL;
}

static bool add_to_removal(struct overview_data *d, const char *project, const char *reason, int64_t when)
{
	for (size_t i = 0; i < d->removals; i++) {
		struct overview_removal *x = &d->removal[i];
		if (strcmp(x->project, project) != 0 || strcmp(x->reason, reason) != 0)
			continue;
		x->files++;
		x->when = x->when > when ? x->when : when;
		return true;
	}
	return false;
}

static int take_removal(void *ctx, const struct catalog_marked *m, struct err *e UNUSED)
{
	struct overview_reader *r = ctx;
	struct overview_data *d = r->data;
	CLEANUP(tombstone_release) struct tombstone t;
	tombstone_read(str_from(m->text ? m->text : m->reason), &t);
	const char *project = project_of_mark(r, m);
	size_t at = d->removals;
	if (!project || t.when < r->now - (int64_t)OVERVIEW_REMOVED_DAYS * DAY || t.when > r->now + DAY ||
		add_to_removal(d, project, t.reason, t.when))
		return 0;
	while (at > 0 && d->removal[at - 1].when < t.when)
		at--;
	if (at < OVERVIEW_REMOVALS)
		*(struct overview_removal *)insert_at(d->removal, &d->removals, OVERVIEW_REMOVALS, at,
			sizeof(d->removal[0])) = (struct overview_removal){.project = project,
			.reason = arena_copy(&d->text, str_from(t.reason)),
			.when = t.when,
			.files = 1};
	return 0;
}

static int read_removals(struct overview_reader *r, struct err *e)
{
	const struct store *store = &r->readable->site->store;
	for (size_t i = 0; i < store->platform_count; i++)
		if (r->readable->is_readable[i] && catalog_newest_marks(r->catalog, store->platform[i].id, MARK_PRUNED,
							   MARKS_LOOKED, take_removal, r, e) < 0)
			return -1;
	return 0;
}

// --- problems ---

struct problem_reader {
	struct overview_reader *reader;
	bool is_listed;
};

static int take_problem(void *ctx, int64_t platform, const char *path, const char *reason, struct err *e UNUSED)
{
	const struct problem_reader *x = ctx;
	struct overview_data *d = x->reader->data;
	const struct platform *p = readable_platform(x->reader->readable, platform, NULL);
	if (!p)
		return 0;
	d->problem_total++;
	if (d->problems < OVERVIEW_PROBLEMS)
		d->problem[d->problems++] = (struct overview_problem){.platform = arena_copy(&d->text, str_from(p->name)),
			.path = arena_copy(&d->text, str_from(path)),
			.reason = arena_copy(&d->text, str_from(reason ? reason : "")),
			.is_listed = x->is_listed};
	return 0;
}

static int read_problems(struct overview_reader *r, struct err *e)
{
	struct problem_reader refused = {r, false}, misfits = {r, true};
	if (catalog_unlisted(r->catalog, FILE_IS_REFUSED, take_problem, &refused, e) < 0)
		return -1;
	return catalog_misfits(r->catalog, take_problem, &misfits, e);
}

// --- builds ---

static int take_running(void *ctx, const struct results_attempt *a, struct err *e UNUSED)
{
	struct overview_data *d = ((struct overview_reader *)ctx)->data;
	if (d->runnings < OVERVIEW_BUILDS)
		d->running[d->runnings++] = builds_data_copy(&d->text, a);
	d->running_total++;
	return 0;
}

static int take_failing(void *ctx, const struct results_attempt *a, struct err *e UNUSED)
{
	struct overview_data *d = ((struct overview_reader *)ctx)->data;
	if (d->failings < OVERVIEW_BUILDS)
		d->failing[d->failings++] = builds_data_copy(&d->text, a);
	d->failing_total++;
	return 0;
}

static int take_any(void *ctx, const struct results_attempt *a UNUSED, struct err *e UNUSED)
{
	((struct overview_reader *)ctx)->data->has_builds = true;
	return 0;
}

static int list_builds(struct overview_reader *r, struct results *results, struct err *e)
{
	const struct store *store = &r->readable->site->store;
	const char **name CLEANUP(mem_free) = xcalloc(store->platform_count + 1, sizeof(const char *));
	struct results_filter filter = {.platforms = name};
	for (size_t i = 0; i < store->platform_count; i++)
		if (r->readable->is_readable[i])
			name[filter.platform_count++] = store->platform[i].name;
	struct results_filter any = filter, running = filter, failing = filter;
	any.limit = 1;
	running.only_running = failing.only_failed = true;
	running.limit = failing.limit = LIMIT_BUILDS_ROWS;
	return results_list(results, &any, take_any, r, e) < 0 ||
			       results_list(results, &running, take_running, r, e) < 0 ||
			       results_list(results, &failing, take_failing, r, e) < 0
		       ? -1
		       : 0;
}

// A damaged file of results hides nothing else of the page; /-/builds/ says that it cannot be read.
static int read_builds_summary(struct overview_reader *r, struct err *e)
{
	struct err why = ERR_INIT;
	CLEANUP(results_cleanup) struct results *results = NULL;
	if (build_results_open(r->context->build_results, r->context->search_ms, &results, &why) == 0 &&
		list_builds(r, results, &why) == 0)
		return 0;
	if (why.kind == ERR_TIME) {
		*e = why;
		return -1;
	}
	if (why.kind != ERR_NOT_FOUND)
		log_warn("%s", why.msg);
	return 0;
}

// --- the last plan of a prune, and what retain found ---

static int read_plan(struct overview_reader *r, struct err *e)
{
	struct err why = ERR_INIT;
	CLEANUP(buf_release) struct buf id = buf_up_to(LIMIT_NOTE), head = buf_up_to(PLAN_MOST);
	if (catalog_plan_last(r->catalog, &id, &r->data->plan_made, &head, &why) < 0)
		return err_unless_missing(e, &why);
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = head.failed ? NULL : jsondoc_read(buf_view(&head), &why);
	const struct jsondoc *totals = doc ? jsondoc_get(doc, "totals") : NULL;
	r->data->plan = arena_copy(&r->data->text, buf_view(&id));
	for (size_t i = 0; totals && i < jsondoc_count(totals); i++) {
		const struct jsondoc *row = jsondoc_at(totals, i);
		const char *name = jsondoc_get_str(row, "platform");
		const struct platform *p = name ? site_platform(r->readable->site, str_from(name)) : NULL;
		int64_t files = 0, bytes = 0;
		if (p && readable_has(r->all, p, NULL) && jsondoc_is_true(row, "removes") &&
			jsondoc_get_int(row, "files", &files) && jsondoc_get_int(row, "bytes", &bytes)) {
			r->data->plan_files += (uint64_t)files;
			r->data->plan_bytes += (uint64_t)bytes;
		}
	}
	const struct store *store = &r->readable->site->store;
	CLEANUP(plan_applied_release) struct plan_applied applied = {0};
	const struct platform **platform CLEANUP(mem_free) = xcalloc(store->platform_count + 1, sizeof(*platform));
	size_t count = 0;
	for (size_t i = 0; i < store->platform_count; i++)
		if (readable_has(r->all, &store->platform[i], NULL))
			platform[count++] = &store->platform[i];
	if (plan_applied_read(r->catalog, platform, count, NULL, id.data, doc, &applied, e) < 0)
		return -1;
	r->data->plan_applied = applied.when;
	return 0;
}

static int take_retained(void *ctx, const struct catalog_retained *row, struct err *e UNUSED)
{
	struct overview_reader *r = ctx;
	struct overview_data *d = r->data;
	const struct view *v = site_view(r->readable->site, str_from(row->view));
	if (!v || !readable_has_view(r->all, v, NULL) || row->in_doubt || (!row->stale && !row->ending))
		return 0;
	GROW(d->view, d->views, d->view_room);
	d->view[d->views++] =
		(struct overview_view){arena_copy(&d->text, str_from(row->view)), row->stale, row->ending};
	return 0;
}

// What is retired is of no concern any more. The caller frees the array.
static bool *list_in_use(const struct readable *r)
{
	const struct store *store = &r->site->store;
	bool *is_in_use = xcalloc(store->platform_count + 1, sizeof(*is_in_use));
	for (size_t i = 0; i < store->platform_count; i++)
		is_in_use[i] = r->is_readable[i] && !retired_is(&store->platform[i]);
	return is_in_use;
}

// --- upstream ---

static void add_rule(struct overview_data *d, const char *id, const char *says)
{
	if (d->upstream.rules < OVERVIEW_RULES)
		d->upstream.rule[d->upstream.rules++] = (struct overview_rule){arena_strdup(&d->text, id), says};
}

// Whether the client may read a view that merges this upstream; NULL: all upstreams, of which it does read one.
static bool reads_upstream(const struct overview_reader *r, const char *name)
{
	const struct config_upstreams *u = &r->readable->site->config.upstreams;
	bool reads = !name;
	for (size_t i = 0; i < u->count && !reads; i++)
		reads = r->upstreams & (uint32_t)1 << i && strcmp(u->item[i].name, name) == 0;
	return reads;
}

static void take_holds(void *ctx, const struct offering_rules *rules, size_t upstreams)
{
	const struct overview_reader *r = ctx;
	struct overview_data *d = r->data;
	char when[CLOCK_TEXT];
	if (!upstreams)
		return;
	const struct holds *h = rules->holds;
	for (size_t i = 0; i < h->holds; i++) {
		const struct hold *o = &h->hold[i];
		if (!reads_upstream(r, o->upstream))
			continue;
		clock_write(o->after, when);
		add_rule(d, o->id, arena_printf(&d->text, "held: files of %s since %s: %s", o->upstream ? o->upstream : "upstreams",
					   when, o->reason));
	}
	for (size_t i = 0; i < h->waivers; i++) {
		const struct waiver *w = &h->waiver[i];
		if (!reads_upstream(r, w->upstream) || !readable_merged(r->all, r->context->owned_names, w->project))
			continue;
		clock_write(w->until, when);
		add_rule(d, w->id, arena_printf(&d->text, "waived: %s%s until %s: %s", w->project, w->specifier ? w->specifier : "",
					   when, w->reason));
	}
}

static int read_upstream(struct overview_reader *r, struct err *e)
{
	struct overview_upstream *u = &r->data->upstream;
	struct upstream_health one;
	r->upstreams = readable_upstreams(r->all, NULL);
	if (!r->upstreams || !r->context->upstreams)
		return 0;
	for (size_t i = 0; u->indexes < OVERVIEW_INDEXES && upstream_health(r->context->upstreams, i, &one); i++) {
		if (!(r->upstreams & (uint32_t)1 << one.number))
			continue;
		GROW(u->index, u->indexes, u->index_room);
		u->index[u->indexes++] = one;
	}
	u->is_offline = r->readable->site->is_offline;
	server_context_kept(r->context, r->upstreams, &u->files, &u->bytes);
	if (upstreams_rules(r->context->upstreams, r->catalog, take_holds, r, e) < 0)
		return -1;
	return catalog_upstream_count(r->catalog, &u->projects, e);
}

int overview_data_read(struct server_context *s, struct catalog *c, const struct readable *readable, int64_t now,
	struct overview_data *out, struct err *e)
{
	*out = (struct overview_data){0};
	CLEANUP(mem_free) bool *is_in_use = list_in_use(readable);
	struct readable in_use = *readable; // which owns the rest
	in_use.is_readable = is_in_use;
	struct overview_reader r = {
		.context = s, .catalog = c, .readable = &in_use, .all = readable, .data = out, .now = now};
	project_directory_each(s->project_directory, take_overview_project, &r);
	if (read_upstream(&r, e) == 0 && read_problems(&r, e) == 0 && read_arrivals(&r, e) == 0 && read_removals(&r, e) == 0 && read_builds_summary(&r, e) == 0 &&
		read_plan(&r, e) == 0 && catalog_retained(c, take_retained, &r, e) == 0)
		return 0;
	overview_data_release(out);
	return -1;
}

void overview_data_release(struct overview_data *d)
{
	arena_release(&d->text);
	free(d->view);
	free(d->upstream.index);
	*d = (struct overview_data){0};
}

// --- JSON ---

static struct jsondoc *upstream_json(const struct overview_upstream *u)
{
	struct jsondoc *one = jsondoc_object(), *list = jsondoc_array();
	for (size_t i = 0; i < u->indexes; i++) {
		const struct upstream_health *x = &u->index[i];
		jsondoc_add(list, jsondoc_new("name:s url:s answered:t failed:t failure:s failing:b", x->name, x->url, x->answered,
			x->failed, x->failed ? upstream_result_name[x->failure] : NULL, x->is_failing));
	}
	struct jsondoc *rules = jsondoc_array();
	for (size_t i = 0; i < u->rules; i++)
		jsondoc_add(rules, jsondoc_new("id:s says:s", u->rule[i].id, u->rule[i].says));
	jsondoc_set(one, "indexes:j offline:b projects:d files:d bytes:d rules:j", list, u->is_offline, u->projects, u->files,
		u->bytes, rules);
	return one;
}

void overview_json_put(const struct overview_data *d, struct jsondoc *object)
{
	if (d->upstream.indexes)
		jsondoc_put(object, "upstream", upstream_json(&d->upstream));
	struct jsondoc *arrivals = jsondoc_array();
	for (size_t i = 0; i < d->arrivals; i++)
		jsondoc_add(arrivals, jsondoc_new("project:s version:s files:d platforms:d when:t",
			d->arrival[i].project, d->arrival[i].version, d->arrival[i].files, d->arrival[i].platforms,
			d->arrival[i].when));
	struct jsondoc *removals = jsondoc_array();
	for (size_t k = 0; k < d->removals; k++)
		jsondoc_add(removals, jsondoc_new("project:s files:d when:t why:s", d->removal[k].project,
			d->removal[k].files, d->removal[k].when, d->removal[k].reason));
	struct jsondoc *problems = jsondoc_object(), *list = jsondoc_array();
	for (size_t j = 0; j < d->problems; j++)
		jsondoc_add(list, jsondoc_new("platform:s path:s listed:b reason:s", d->problem[j].platform,
			d->problem[j].path, d->problem[j].is_listed, d->problem[j].reason));
	jsondoc_set(problems, "files:d first:j", d->problem_total, list);
	jsondoc_set(object, "problems:j arrivals:j removals:j", problems, arrivals, removals);
	if (d->has_builds)
		jsondoc_put(object, "builds", jsondoc_new("running:d failing:d", d->running_total, d->failing_total));
	if (d->plan)
		jsondoc_put(object, "plan", jsondoc_new("id:s made:t removes_files:d removes_bytes:d applied:t",
			d->plan, d->plan_made, d->plan_files, d->plan_bytes, d->plan_applied));
	struct jsondoc *stale = jsondoc_object(), *oldest = jsondoc_array(), *views = jsondoc_array();
	for (size_t n = 0; n < d->olds; n++)
		jsondoc_add(oldest, jsondoc_new("project:s newest:t", d->old[n].project, d->old[n].when));
	for (size_t n = 0; n < d->views; n++)
		jsondoc_add(views, jsondoc_new("view:s stale_projects:d ending_versions:d", d->view[n].view,
			d->view[n].stale, d->view[n].ending));
	jsondoc_set(stale, "projects:d oldest:j views:j", d->old_total, oldest, views);
	jsondoc_put(object, "stale", stale);
}
