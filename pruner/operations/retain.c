// SPDX-License-Identifier: Apache-2.0
#include "pruner/operations/retain.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/strset.h"
#include "lib/os/clock.h"
#include "lib/state/catalog/catalog-retained.h"
#include "pruner/operations/ending-hook.h"
#include "pruner/operations/retain-files.h"
#include "pruner/operations/retain-members.h"
#include "pruner/plan/planfile.h"

enum { HOOKS_SECONDS = 600 }; // for all commands of on-change that are left at the end

struct retain_state {
	struct operation *operation;
	const struct site *site;
	const struct retain_options *options;
	struct retain_result *result;
	struct retain_keeper *keeper; // every view without a membership that has rules
	size_t keepers;
	struct kept_versions kept; // what no view ends
	struct hook_queue *hooks;
	struct err trouble; // of the last file that could not be unlisted
	int64_t when;
};

// The view that is being done.
struct retain_pass {
	struct retain_state *state;
	const struct view *view;
	const struct config_view *config;
	struct view_channel *channel, *checked; // checked looks at the disk
	struct retain_view *result;
	char *run, *reason; // of the tombstones
	int64_t previous;   // when the last retain looked at it, seconds since 1970; 0: never
};

static void retain_state_release(struct retain_state *r)
{
	for (size_t i = 0; i < r->keepers; i++)
		view_channel_close(r->keeper[i].channel);
	free(r->keeper);
	kept_versions_release(&r->kept);
	hook_queue_free(r->hooks, HOOKS_SECONDS);
}

static void retain_pass_release(struct retain_pass *p)
{
	view_channel_close(p->channel);
	view_channel_close(p->checked);
	free(p->run);
	free(p->reason);
}

static bool has_rules(const struct config_view *v)
{
	return v && (v->keep_versions || v->keep_seconds);
}

static const struct config_view *config_of(const struct retain_state *r, const struct view *v)
{
	return v->name ? config_view(&r->site->config, v->name) : NULL;
}

// "view nightly keeps the newest 5 versions and those of 30 days"
static char *reason_of_rules(const struct config_view *v)
{
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, 512);
	buf_printf(&out, "view %s keeps", v->name);
	if (v->keep_versions)
		buf_printf(&out, " the newest %llu", (unsigned long long)v->keep_versions);
	if (v->keep_seconds)
		buf_printf(&out, "%s what came within %.4g days", v->keep_versions ? " and" : "",
			(double)v->keep_seconds / 86400);
	return buf_steal(&out);
}

// --- the other views ---

static int open_keeper(struct retain_state *r, const struct view *v, struct err *e)
{
	struct retain_keeper *k = &r->keeper[r->keepers++];
	CLEANUP(buf_release) struct buf why;
	buf_init(&why, 4096);
	k->view = v;
	if (view_channel_open(r->site, v, r->operation->catalog, r->options->now, &k->channel, e) < 0)
		return -1;
	view_channel_keep(k->channel, &r->kept);
	int doubt = view_channel_find_doubt(k->channel, &why, e);
	if (doubt > 0) {
		view_channel_close(k->channel);
		k->channel = NULL;
	}
	return doubt < 0 ? -1 : 0;
}

static int open_keepers(struct retain_state *r, struct err *e)
{
	r->keeper = xcalloc(r->site->view_count + 1, sizeof(*r->keeper));
	for (size_t i = 1; i < r->site->view_count; i++) {
		const struct config_view *v = config_of(r, &r->site->view[i]);
		if (has_rules(v) && !v->from && open_keeper(r, &r->site->view[i], e) < 0)
			return -1;
	}
	return 0;
}

// The keepers without the view itself, into room for all of them.
static size_t other_keepers(const struct retain_state *r, const struct view *v, struct retain_keeper *out)
{
	size_t count = 0;
	for (size_t i = 0; i < r->keepers; i++)
		if (r->keeper[i].view != v)
			out[count++] = r->keeper[i];
	return count;
}

// --- one project ---

static bool has_end(const struct view_channel_project *p)
{
	for (size_t i = 0; i < p->versions; i++)
		if (p->version[i].decision == RETENTION_ENDS)
			return true;
	return false;
}

static void report_version(struct retain_pass *p, const struct view_channel_project *project,
	const struct view_channel_version *v)
{
	const struct retain_options *o = p->state->options;
	p->result->ended += v->decision == RETENTION_ENDS;
	p->result->ending += v->is_warned;
	if (v->decision == RETENTION_ENDS && o->end)
		o->end(o->ctx, p->view, project, v);
	if (v->is_warned && o->warn)
		o->warn(o->ctx, p->view, project, v);
	if (v->is_warned && !o->is_dry)
		ending_hook_add(p->state->hooks, p->config, project->project, v, p->previous);
}

static void report_project(struct retain_pass *p, const struct view_channel_project *project)
{
	uint64_t before = p->result->ended + p->result->ending;
	for (size_t i = 0; i < project->versions; i++)
		report_version(p, project, &project->version[i]);
	bool is_stale = project->state == VIEW_CHANNEL_STALE;
	p->result->stale += is_stale;
	if (is_stale || p->result->ended + p->result->ending > before)
		jsondoc_add(p->result->project, view_channel_project_json(p->channel, project));
}

static int end_project(struct retain_pass *p, const struct view_channel_project *project, struct err *e)
{
	struct retain_state *r = p->state;
	CLEANUP(mem_free) struct retain_keeper *keeper = xcalloc(r->keepers + 1, sizeof(*keeper));
	struct retain_files files = {.operation = r->operation,
		.config = &r->site->config,
		.view = p->view->name,
		.kept = &r->kept,
		.keeper = keeper,
		.keepers = other_keepers(r, p->view, keeper),
		.run = p->run,
		.reason = p->reason,
		.when = r->when,
		.is_dry = r->options->is_dry};
	int result = retain_files_end(&files, p->view, project, &r->trouble, e);
	p->result->files += files.files;
	return result;
}

// Only where something ends is the disk looked at, and decided again.
static int do_project(struct retain_pass *p, const char *name, struct err *e)
{
	CLEANUP(view_channel_project_release) struct view_channel_project project = {0};
	if (view_channel_read(p->channel, name, &project, e) < 0)
		return -1;
	if (has_end(&project)) {
		view_channel_project_release(&project);
		if (view_channel_read(p->checked, name, &project, e) < 0)
			return -1;
	}
	report_project(p, &project);
	return p->result->doubt || p->config->from || !has_end(&project) ? 0 : end_project(p, &project, e);
}

// --- one view ---

static int add_shown_project(void *ctx, const char *project, struct err *e UNUSED)
{
	strset_add(ctx, project);
	return 0;
}

static int do_projects(struct retain_pass *p, struct err *e)
{
	CLEANUP(strset_release) struct strset projects = {0};
	if (view_projects(p->view, p->state->operation->catalog, add_shown_project, &projects, e) < 0)
		return -1;
	for (size_t i = 0; i < projects.count; i++)
		if (do_project(p, projects.item[i], e) < 0)
			return -1;
	return 0;
}

static int end_members(struct retain_pass *p, struct err *e)
{
	struct retain_state *r = p->state;
	struct retain_members members = {.operation = r->operation,
		.site = r->site,
		.view = p->view,
		.kept = &r->kept,
		.reason = p->reason,
		.now = r->options->now,
		.is_dry = r->options->is_dry};
	if (!p->config->from || p->result->doubt || !p->result->ended)
		return 0;
	int result = retain_members_end(&members, e);
	p->result->files += members.files;
	return result;
}

static int find_doubt(struct retain_pass *p, struct err *e)
{
	CLEANUP(buf_release) struct buf why;
	buf_init(&why, 4096);
	int doubt = view_channel_find_doubt(p->channel, &why, e);
	if (doubt > 0)
		p->result->doubt = buf_steal(&why);
	return doubt < 0 ? -1 : 0;
}

static int take_previous(void *ctx, const struct catalog_retained *row, struct err *e UNUSED)
{
	struct retain_pass *p = ctx;
	if (strcmp(row->view, p->view->name) == 0 && !row->in_doubt)
		p->previous = row->looked;
	return 0;
}

static int find_previous(struct retain_pass *p, struct err *e)
{
	return catalog_retained(p->state->operation->catalog, take_previous, p, e);
}

static int record_view(const struct retain_pass *p, struct err *e)
{
	struct catalog *c = p->state->operation->catalog;
	const struct catalog_retained row = {p->view->name, p->state->options->now, p->result->ended, p->result->ending,
		p->result->stale, p->result->doubt != NULL};
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	if (catalog_begin(c, &t, e) < 0 || catalog_retained_put(c, &row, e) < 0)
		return -1;
	return catalog_commit(&t, e);
}

// A view in doubt is left alone: what it would end is not known.
static int do_view(struct retain_state *r, const struct view *v, const struct config_view *config, struct err *e)
{
	CLEANUP(retain_pass_release)
	struct retain_pass p = {
		.state = r, .view = v, .config = config, .result = &r->result->view[r->result->views++]};
	*p.result = (struct retain_view){.view = v, .has_membership = config->from != NULL, .project = jsondoc_array()};
	char id[PLANFILE_ID];
	planfile_new_id(r->when, id);
	p.run = xasprintf("retain-%s-%s", v->name, id);
	p.reason = reason_of_rules(p.config);
	if (view_channel_open(r->site, v, r->operation->catalog, r->options->now, &p.channel, e) < 0 ||
		view_channel_open(r->site, v, r->operation->catalog, r->options->now, &p.checked, e) < 0)
		return -1;
	view_channel_keep(p.channel, &r->kept);
	view_channel_keep(p.checked, &r->kept);
	if (find_doubt(&p, e) < 0 || find_previous(&p, e) < 0)
		return -1;
	view_channel_look_at_disk(p.checked);
	if (!p.result->doubt && (do_projects(&p, e) < 0 || end_members(&p, e) < 0))
		return -1;
	return r->options->is_dry ? 0 : record_view(&p, e);
}

static int do_all_views(struct retain_state *r, struct err *e)
{
	const char *wanted = r->options->view;
	for (size_t i = 1; i < r->site->view_count; i++) {
		const struct view *v = &r->site->view[i];
		const struct config_view *config = config_of(r, v);
		bool is_wanted = has_rules(config) && (!wanted || strcmp(wanted, v->name) == 0);
		if (is_wanted && do_view(r, v, config, e) < 0)
			return -1;
	}
	if (!wanted || r->result->views)
		return 0;
	return config_view(&r->site->config, wanted)
		       ? err_set(e, ERR_USAGE, "[view %s] has neither keep-versions nor keep-days", wanted)
		       : config_refuse_view(&r->site->config, wanted, ERR_USAGE, e);
}

int retain(struct operation *x, const struct site *site, const struct retain_options *options,
	struct retain_result *out, struct err *e)
{
	*out = (struct retain_result){.view = xcalloc(site->view_count + 1, sizeof(*out->view))};
	CLEANUP(retain_state_release)
	struct retain_state r = {
		.operation = x, .site = site, .options = options, .result = out, .when = clock_wall_seconds()};
	kept_versions_open(&site->config, &site->store, options->now, &r.kept);
	r.hooks = hook_queue_new("[view]");
	if (open_keepers(&r, e) < 0 || do_all_views(&r, e) < 0)
		return -1;
	if (r.trouble.kind) {
		*e = r.trouble;
		return -1;
	}
	for (size_t i = 0; i < out->views; i++)
		if (out->view[i].doubt)
			return err_set(e, ERR_CONFLICT, "view %s: nothing ends: %s", out->view[i].view->name,
				out->view[i].doubt);
	return 0;
}

void retain_result_release(struct retain_result *r)
{
	for (size_t i = 0; i < r->views; i++) {
		free(r->view[i].doubt);
		jsondoc_cleanup(&r->view[i].project);
	}
	free(r->view);
	*r = (struct retain_result){0};
}
