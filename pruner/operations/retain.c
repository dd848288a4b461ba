// SPDX-License-Identifier: Apache-2.0
#include "pruner/operations/retain.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/strset.h"
#include "lib/domain/text/filename.h"
#include "lib/os/clock.h"
#include "lib/os/hook.h"
#include "lib/state/catalog/catalog-told.h"
#include "lib/state/store/freeze.h"
#include "lib/state/store/tombstone.h"
#include "lib/state/views/membership.h"
#include "pruner/plan/pins.h"
#include "pruner/plan/planfile.h"

enum {
	HOOKS_SECONDS = 600, // for all commands of on-change that are left at the end
	ATTEMPTS = 20,       // to end members, each lost to another writer
};

// A view without a membership that has keep-versions or keep-days.
struct retain_keeper {
	const struct view *view;
	struct view_channel *channel; // NULL: it is in doubt, and keeps all
};

struct retain_state {
	struct operation *operation;
	const struct site *site;
	const struct retain_options *options;
	struct retain_result *result;
	struct retain_keeper *keeper;
	size_t keepers;
	struct kept_versions kept; // what no view ends
	struct hook_queue *hooks;
	struct err trouble; // of the last file that could not be unlisted
	int64_t when;       // of the tombstones, by the wall clock
	struct arena text;
};

// The view that is being done.
struct retain_pass {
	struct retain_state *state;
	const struct view *view;
	const struct config_view *config;
	struct view_channel *channel, *checked; // checked looks at the disk
	struct retain_view *result;
	const char *run, *reason; // of the tombstones; the reason is in words of the view's rules
	int64_t previous;         // when the last retain looked at it, seconds since 1970; 0: never
};

static void retain_state_release(struct retain_state *r)
{
	for (size_t i = 0; i < r->keepers; i++)
		view_channel_close(r->keeper[i].channel);
	kept_versions_release(&r->kept);
	hook_queue_free(r->hooks, HOOKS_SECONDS);
	arena_release(&r->text);
}

static void retain_pass_release(struct retain_pass *p)
{
	view_channel_close(p->channel);
	view_channel_close(p->checked);
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
static const char *reason_of_rules(struct arena *text, const struct config_view *v)
{
	CLEANUP(buf_release) struct buf out = buf_up_to(512);
	buf_printf(&out, "view %s keeps", v->name);
	if (v->keep_versions)
		buf_printf(&out, " the newest %llu", (unsigned long long)v->keep_versions);
	if (v->keep_seconds)
		buf_printf(&out, "%s what came within %.4g days", v->keep_versions ? " and" : "",
			(double)v->keep_seconds / 86400);
	return arena_copy(text, buf_view(&out));
}

// --- the other views ---

static int open_keeper(struct retain_state *r, const struct view *v, struct err *e)
{
	struct retain_keeper *k = &r->keeper[r->keepers++];
	CLEANUP(buf_release) struct buf why = buf_up_to(4096);
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

// --- versions that will end ---

// Tells on-change, unless the version was within warn-days at the last look.
static void tell_of_ending(struct retain_pass *p, const char *project, const struct view_channel_version *v)
{
	const struct config_view *view = p->config;
	char came[CLOCK_TEXT], ends[CLOCK_TEXT];
	bool was_warned = p->previous && v->ends - p->previous <= (int64_t)view->warn_seconds;
	CLEANUP(version_release) struct version version = {0};
	struct err ignored = ERR_INIT;
	if (!view->on_change || was_warned || version_parse(str_from(v->version), &version, &ignored) < 0)
		return;
	clock_write(v->came, came);
	clock_write(v->ends, ends);
	CLEANUP(mem_free) char *about = xasprintf("%s %s, which ends in %s", project, v->version, view->name);
	CLEANUP(mem_free) char *line = xasprintf("ending %s %s %s", view->name, project, version.text);
	const char *const variables[][2] = {{"CHANGE", "ending"}, {"VIEW", view->name}, {"PROJECT", project},
		{"VERSION", version.text}, {"CAME", came}, {"ENDS", ends}};
	const struct hook_value values[] = {{'p', ""}, {'v', ""}, {'n', project}, {'r', version.text}};
	const struct hook_job job = {
		view->on_change, about, project, line, values, ARRAY_SIZE(values), variables, ARRAY_SIZE(variables)};
	hook_queue_add(p->state->hooks, &job);
}

// --- files of a view without a membership ---

// A file of a version that ends.
struct ending_file {
	struct operation_file file;
	const char *version, *requires_python;
	const char *why_kept; // NULL: it ends
	bool was_unlisted;
};

struct ending_files {
	const struct view_channel_project *project;
	const struct platform *platform; // that is being read
	struct ending_file *item;
	size_t count, room;
	struct arena text;
};

// Whether the version with this key ends.
static bool ends_version(const struct view_channel_project *p, struct str key)
{
	for (size_t i = 0; i < p->files; i++)
		if (str_eq(p->file[i].file.version_key, key))
			return p->version[p->file[i].version].decision == RETENTION_ENDS;
	return false;
}

static int add_if_ending(void *ctx, const struct catalog_file *file, struct err *e UNUSED)
{
	struct ending_files *all = ctx;
	if (!ends_version(all->project, file->version_key))
		return 0;
	ARENA_GROW(&all->text, all->item, all->count, all->room);
	struct catalog_file copy = *file;
	catalog_file_copy(&all->text, &copy);
	all->item[all->count++] = (struct ending_file){
		.file = {all->platform, copy.filename, all->project->project, NULL,
			arena_memdup(&all->text, file->sha256, SHA256_SIZE), copy.size},
		.version = copy.version,
		.requires_python = copy.requires_python};
	return 0;
}

static bool has_platform(const struct view *v, const struct platform *p)
{
	for (size_t i = 0; i < v->platform_count; i++)
		if (v->platform[i] == p)
			return true;
	return false;
}

// Whether the project as another view shows it has this file, in a version that does not end.
static bool is_kept_in(const struct view_channel_project *p, const struct ending_file *f)
{
	for (size_t i = 0; i < p->files; i++)
		if (p->file[i].platform == f->file.platform &&
			strcmp(p->file[i].file.filename, f->file.filename) == 0)
			return p->version[p->file[i].version].decision != RETENTION_ENDS;
	return false;
}

static int find_keepers(const struct retain_pass *p, struct ending_files *all, struct err *e)
{
	for (size_t k = 0; k < p->state->keepers; k++) {
		const struct retain_keeper *keeper = &p->state->keeper[k];
		CLEANUP(view_channel_project_release) struct view_channel_project shown = {0};
		if (keeper->view == p->view)
			continue;
		if (keeper->channel && view_channel_read(keeper->channel, all->project->project, &shown, e) < 0)
			return -1;
		for (size_t i = 0; i < all->count; i++) {
			struct ending_file *f = &all->item[i];
			bool is_kept =
				keeper->channel ? is_kept_in(&shown, f) : has_platform(keeper->view, f->file.platform);
			if (is_kept && !f->why_kept)
				f->why_kept = arena_printf(&all->text, "view %s keeps it", keeper->view->name);
		}
	}
	return 0;
}

// A pin, a lock, a list or a branch (a file that another platform hides is not among those that the view's decision
// knows), or a freeze.
static int find_reason_to_stay(const struct retain_pass *p, struct ending_files *all, struct ending_file *f, struct err *e)
{
	CLEANUP(mem_free) char *view = NULL;
	CLEANUP(version_release) struct version version = {0};
	CLEANUP(buf_release) struct buf words = buf_up_to(2 * LIMIT_PATH);
	if (f->why_kept)
		return 0;
	if (pins_find(p->state->operation->catalog, f->file.platform->id, f->file.filename, f->file.sha256, &view, e) < 0)
		return -1;
	if (view) {
		f->why_kept = arena_printf(&all->text, PINS_WORDS, view);
		return 0;
	}
	const char *lock = kept_locks_find(&p->state->kept.locks, f->file.sha256);
	if (lock) {
		f->why_kept = arena_printf(&all->text, KEPT_LOCKS_WORDS, lock);
		return 0;
	}
	if (version_parse(str_from(f->version), &version, e) < 0)
		return -1;
	if (kept_versions_pin(&p->state->kept, all->project->project, &version, f->file.platform->name, &words)) {
		f->why_kept = arena_copy(&all->text, buf_view(&words));
		return 0;
	}
	buf_clear(&words);
	int is_frozen = freeze_is(f->file.platform, &words, e);
	if (is_frozen > 0)
		f->why_kept = arena_printf(&all->text, "the platform is frozen: %s", words.data);
	return is_frozen < 0 ? -1 : 0;
}

static int end_file(struct retain_pass *p, struct ending_file *f, struct err *e)
{
	struct retain_state *r = p->state;
	struct operation_unlisting u = {.stone = {.reason = p->reason,
						.when = r->when,
						.verdict = TOMBSTONE_EXPIRED,
						.run = p->run,
						.requires_python = f->requires_python},
		.action = "retain",
		.reason = p->reason,
		.words = p->reason,
		.is_dry = r->options->is_dry};
	int done = operation_unlist(r->operation, &f->file, &u, &r->trouble, e);
	p->result->files++;
	f->was_unlisted = done > 0;
	return done < 0 ? -1 : 0;
}

static int end_files(struct retain_pass *p, struct ending_files *all, struct err *e)
{
	for (size_t i = 0; i < p->view->platform_count; i++) {
		all->platform = p->view->platform[i];
		if (catalog_project_files(p->state->operation->catalog, all->platform->id, all->project->project,
			    add_if_ending, all, e) < 0)
			return -1;
	}
	if (find_keepers(p, all, e) < 0)
		return -1;
	for (size_t i = 0; i < all->count; i++)
		if (find_reason_to_stay(p, all, &all->item[i], e) < 0)
			return -1;
	for (size_t i = 0; i < all->count; i++) {
		struct ending_file *f = &all->item[i];
		if (f->why_kept)
			operation_report(p->state->operation, &f->file, OPERATION_KEPT, f->why_kept);
		else if (end_file(p, f, e) < 0)
			return -1;
	}
	if (p->state->options->is_dry)
		return 0;
	// A view may have taken a file in the meantime.
	struct operation *x = p->state->operation;
	if (pins_sync(&p->state->site->config, x->catalog, e) < 0)
		return -1;
	for (size_t i = 0; i < all->count; i++) {
		const struct ending_file *f = &all->item[i];
		int back = f->was_unlisted ? operation_relist_pinned(x, &f->file, &p->state->trouble, e) : 0;
		if (back < 0)
			return -1;
		p->result->files -= back > 0;
	}
	return 0;
}

// --- one project ---

static bool has_end(const struct view_channel_project *p)
{
	for (size_t i = 0; i < p->versions; i++)
		if (p->version[i].decision == RETENTION_ENDS)
			return true;
	return false;
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
	uint64_t before = p->result->ended + p->result->ending;
	for (size_t i = 0; i < project.versions; i++) {
		const struct view_channel_version *v = &project.version[i];
		const struct retain_options *o = p->state->options;
		p->result->ended += v->decision == RETENTION_ENDS;
		p->result->ending += v->is_warned;
		if (v->decision == RETENTION_ENDS && o->end)
			o->end(o->ctx, p->view, &project, v);
		if (v->is_warned && o->warn)
			o->warn(o->ctx, p->view, &project, v);
		if (v->is_warned && !o->is_dry)
			tell_of_ending(p, project.project, v);
	}
	bool is_stale = project.state == VIEW_CHANNEL_STALE;
	p->result->stale += is_stale;
	if (is_stale || p->result->ended + p->result->ending > before)
		jsondoc_add(p->result->project, view_channel_project_json(p->channel, &project));
	struct ending_files files = {.project = &project};
	int result = p->result->doubt || p->config->from || !has_end(&project) ? 0 : end_files(p, &files, e);
	arena_release(&files.text);
	return result;
}

// --- members of a view with a membership ---

// A member, with its version's key.
struct ending_member {
	struct membership_file file;
	const struct platform *platform;
	struct str key;
	bool ends;
};

struct ending_members {
	struct retain_pass *pass;
	struct ending_member *item; // by project
	size_t count, room;
	struct arena text;
};

// A member whose name cannot be parsed does not end.
static int add_any_member(void *ctx, const struct catalog_member *m, struct err *e UNUSED)
{
	struct ending_members *all = ctx;
	struct err wrong = ERR_INIT;
	CLEANUP(filename_release) struct filename name = {0};
	const struct platform *p = store_platform(&all->pass->state->site->store, m->platform);
	if (!p || filename_parse_listed(str_from(m->filename), m->project, &name, &wrong) < 0)
		return 0;
	ARENA_GROW(&all->text, all->item, all->count, all->room);
	struct ending_member *one = &all->item[all->count++];
	*one = (struct ending_member){.platform = p,
		.key = {arena_copy(&all->text, name.version.key), name.version.key.len},
		.file = {.platform = p->name,
			.project = arena_strdup(&all->text, m->project),
			.filename = arena_strdup(&all->text, m->filename)}};
	memcpy(one->file.sha256, m->sha256, SHA256_SIZE);
	return 0;
}

// Marks the members of the versions that end, project by project.
static int mark_ending(struct ending_members *all, struct err *e)
{
	struct retain_state *r = all->pass->state;
	CLEANUP(view_channel_cleanup) struct view_channel *c = NULL;
	if (view_channel_open(r->site, all->pass->view, r->operation->catalog, r->options->now, &c, e) < 0)
		return -1;
	view_channel_keep(c, &r->kept);
	view_channel_look_at_disk(c);
	for (size_t from = 0, to; from < all->count; from = to) {
		const char *project = all->item[from].file.project;
		CLEANUP(view_channel_project_release) struct view_channel_project shown = {0};
		if (view_channel_read(c, project, &shown, e) < 0)
			return -1;
		for (to = from; to < all->count && strcmp(all->item[to].file.project, project) == 0; to++)
			all->item[to].ends = ends_version(&shown, all->item[to].key);
	}
	return 0;
}

static int append_generation(const struct retain_pass *p, const struct membership_file *file, size_t count,
	int64_t newest, struct err *e)
{
	const struct operation *x = p->state->operation;
	struct membership_change change = {.view = p->view->name,
		.generation = newest + 1,
		.action = "retain",
		.by = x->who,
		.address = "",
		.reason = p->reason,
		.remove = file,
		.removes = count};
	CLEANUP(mem_free) char *folder = NULL;
	if (views_folder(&p->state->site->config, &folder, e) < 0 ||
		membership_append(folder, x->catalog, &change, e) < 0)
		return -1;
	// No platform is written, so none is to be released.
	CLEANUP(mem_free) char *reason = xasprintf("view %s: %s", p->view->name, p->reason);
	for (size_t i = 0; i < count; i++) {
		char digits[SHA256_HEX + 1] = "";
		hex_encode(file[i].sha256, SHA256_SIZE, digits);
		const struct audit_entry entry = {.who = p->state->operation->who,
			.action = "retain",
			.platform = file[i].platform,
			.project = file[i].project,
			.file = file[i].filename,
			.sha256 = digits,
			.result = "done",
			.reason = reason};
		if (audit_write(p->state->operation->audit, &entry, e) < 0)
			return -1;
	}
	return 0;
}

static int try_to_end_members(struct retain_pass *p, struct ending_members *all, struct err *e)
{
	struct operation *x = p->state->operation;
	bool is_dry = p->state->options->is_dry;
	struct catalog_view v;
	if (pins_sync(&p->state->site->config, x->catalog, e) < 0 ||
		catalog_view_find(x->catalog, p->view->name, &v, e) < 0 ||
		catalog_view_members(x->catalog, p->view->name, v.generation, NULL, add_any_member, all, e) < 0 ||
		mark_ending(all, e) < 0)
		return -1;
	struct membership_file *file = ARENA_NEW(&all->text, struct membership_file, all->count);
	size_t count = 0;
	for (size_t i = 0; i < all->count; i++)
		if (all->item[i].ends)
			file[count++] = all->item[i].file;
	if (count && !is_dry && append_generation(p, file, count, v.generation, e) < 0)
		return -1;
	p->result->files = count;
	for (size_t i = 0; i < all->count; i++) {
		const struct operation_file of = {.platform = all->item[i].platform, .filename = all->item[i].file.filename};
		if (all->item[i].ends)
			operation_report(x, &of, is_dry ? OPERATION_WOULD : OPERATION_DONE, p->reason);
	}
	return 0;
}

static int end_members(struct retain_pass *p, struct err *e)
{
	for (int i = 1;; i++) {
		struct err why = ERR_INIT;
		struct ending_members all = {.pass = p};
		int result = try_to_end_members(p, &all, &why);
		arena_release(&all.text);
		if (result == 0)
			return 0;
		if (why.kind != ERR_CONFLICT || i == ATTEMPTS) {
			*e = why;
			return -1;
		}
	}
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

static int find_doubt(struct retain_pass *p, struct err *e)
{
	CLEANUP(buf_release) struct buf why = buf_up_to(4096);
	int doubt = view_channel_find_doubt(p->channel, &why, e);
	if (doubt > 0)
		p->result->doubt = buf_steal(&why);
	return doubt < 0 ? -1 : 0;
}

static int note_previous(void *ctx, const struct catalog_retained *row, struct err *e UNUSED)
{
	struct retain_pass *p = ctx;
	if (strcmp(row->view, p->view->name) == 0 && !row->in_doubt)
		p->previous = row->looked;
	return 0;
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
	p.run = arena_printf(&r->text, "retain-%s-%s", v->name, id);
	p.reason = reason_of_rules(&r->text, p.config);
	if (view_channel_open(r->site, v, r->operation->catalog, r->options->now, &p.channel, e) < 0 ||
		view_channel_open(r->site, v, r->operation->catalog, r->options->now, &p.checked, e) < 0)
		return -1;
	view_channel_keep(p.channel, &r->kept);
	view_channel_keep(p.checked, &r->kept);
	if (find_doubt(&p, e) < 0 || catalog_retained(r->operation->catalog, note_previous, &p, e) < 0)
		return -1;
	view_channel_look_at_disk(p.checked);
	if (!p.result->doubt && do_projects(&p, e) < 0)
		return -1;
	if (!p.result->doubt && config->from && p.result->ended && end_members(&p, e) < 0)
		return -1;
	if (r->options->is_dry)
		return 0;
	struct catalog *c = p.state->operation->catalog;
	const struct catalog_retained row = {p.view->name, p.state->options->now, p.result->ended, p.result->ending,
		p.result->stale, p.result->doubt != NULL};
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	if (catalog_begin(c, &t, e) < 0 || catalog_retained_put(c, &row, e) < 0)
		return -1;
	return catalog_commit(&t, e);
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
	r.keeper = ARENA_NEW(&r.text, struct retain_keeper, r.site->view_count);
	for (size_t i = 1; i < r.site->view_count; i++) {
		const struct config_view *v = config_of(&r, &r.site->view[i]);
		if (has_rules(v) && !v->from && open_keeper(&r, &r.site->view[i], e) < 0)
			return -1;
	}
	if (do_all_views(&r, e) < 0)
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
