// SPDX-License-Identifier: Apache-2.0
#include "server/pages/overview-page.h"

static struct jsondoc *arrivals_json(const struct overview_data *d)
{
	struct jsondoc *list = jsondoc_array();
	for (size_t i = 0; i < d->arrivals; i++) {
		struct jsondoc *one = jsondoc_object();
		jsondoc_put_str(one, "project", d->arrival[i].project);
		jsondoc_put_str(one, "version", d->arrival[i].version);
		jsondoc_put_int(one, "files", (int64_t)d->arrival[i].files);
		jsondoc_put_int(one, "platforms", (int64_t)d->arrival[i].platforms);
		jsondoc_put_time(one, "when", d->arrival[i].when);
		jsondoc_add(list, one);
	}
	return list;
}

static struct jsondoc *removals_json(const struct overview_data *d)
{
	struct jsondoc *list = jsondoc_array();
	for (size_t i = 0; i < d->removals; i++) {
		struct jsondoc *one = jsondoc_object();
		jsondoc_put_str(one, "project", d->removal[i].project);
		jsondoc_put_int(one, "files", (int64_t)d->removal[i].files);
		jsondoc_put_time(one, "when", d->removal[i].when);
		jsondoc_put_str(one, "why", d->removal[i].reason);
		jsondoc_add(list, one);
	}
	return list;
}

static struct jsondoc *builds_summary_json(const struct overview_data *d)
{
	struct jsondoc *one = jsondoc_object();
	jsondoc_put_int(one, "running", (int64_t)d->running_total);
	jsondoc_put_int(one, "failing", (int64_t)d->failing_total);
	return one;
}

static struct jsondoc *plan_json(const struct overview_data *d)
{
	struct jsondoc *one = jsondoc_object();
	jsondoc_put_str(one, "id", d->plan);
	jsondoc_put_time(one, "made", d->plan_made);
	jsondoc_put_int(one, "removes_files", (int64_t)d->plan_files);
	jsondoc_put_int(one, "removes_bytes", (int64_t)d->plan_bytes);
	jsondoc_put_time(one, "applied", d->plan_applied);
	return one;
}

static struct jsondoc *stale_json(const struct overview_data *d)
{
	struct jsondoc *stale = jsondoc_object(), *oldest = jsondoc_array(), *views = jsondoc_array();
	for (size_t i = 0; i < d->olds; i++) {
		struct jsondoc *one = jsondoc_object();
		jsondoc_put_str(one, "project", d->old[i].project);
		jsondoc_put_time(one, "newest", d->old[i].when);
		jsondoc_add(oldest, one);
	}
	for (size_t i = 0; i < d->views; i++) {
		struct jsondoc *one = jsondoc_object();
		jsondoc_put_str(one, "view", d->view[i].view);
		jsondoc_put_int(one, "stale_projects", (int64_t)d->view[i].stale);
		jsondoc_put_int(one, "ending_versions", (int64_t)d->view[i].ending);
		jsondoc_add(views, one);
	}
	jsondoc_put_int(stale, "projects", (int64_t)d->old_total);
	jsondoc_put(stale, "oldest", oldest);
	jsondoc_put(stale, "views", views);
	return stale;
}

static struct jsondoc *problems_json(const struct overview_data *d)
{
	struct jsondoc *one = jsondoc_object(), *list = jsondoc_array();
	for (size_t i = 0; i < d->problems; i++) {
		struct jsondoc *file = jsondoc_object();
		jsondoc_put_str(file, "platform", d->problem[i].platform);
		jsondoc_put_str(file, "path", d->problem[i].path);
		jsondoc_put_bool(file, "listed", d->problem[i].is_listed);
		jsondoc_put_str(file, "reason", d->problem[i].reason);
		jsondoc_add(list, file);
	}
	jsondoc_put_int(one, "files", (int64_t)d->problem_total);
	jsondoc_put(one, "first", list);
	return one;
}

static struct jsondoc *upstream_json(const struct overview_upstream *u)
{
	struct jsondoc *one = jsondoc_object(), *list = jsondoc_array();
	for (size_t i = 0; i < u->indexes; i++) {
		const struct upstream_health *x = &u->index[i];
		struct jsondoc *index = jsondoc_object();
		jsondoc_put_str(index, "url", x->url);
		jsondoc_put_time(index, "answered", x->answered);
		jsondoc_put_time(index, "failed", x->failed);
		jsondoc_put_str(index, "failure", x->failed ? upstream_result_name[x->failure] : NULL);
		jsondoc_put_bool(index, "failing", x->is_failing);
		jsondoc_add(list, index);
	}
	jsondoc_put(one, "indexes", list);
	jsondoc_put_bool(one, "offline", u->is_offline);
	jsondoc_put_int(one, "projects", (int64_t)u->projects);
	jsondoc_put_int(one, "files", (int64_t)u->files);
	jsondoc_put_int(one, "bytes", (int64_t)u->bytes);
	return one;
}

void overview_json_put(const struct overview_data *d, struct jsondoc *object)
{
	if (d->upstream.indexes)
		jsondoc_put(object, "upstream", upstream_json(&d->upstream));
	jsondoc_put(object, "problems", problems_json(d));
	jsondoc_put(object, "arrivals", arrivals_json(d));
	jsondoc_put(object, "removals", removals_json(d));
	if (d->has_builds)
		jsondoc_put(object, "builds", builds_summary_json(d));
	if (d->plan)
		jsondoc_put(object, "plan", plan_json(d));
	jsondoc_put(object, "stale", stale_json(d));
}
