// SPDX-License-Identifier: Apache-2.0
#include "pruner/operations/retain-files.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/state/publish/sidecar-ops.h"
#include "lib/state/store/freeze.h"
#include "lib/state/store/tombstone.h"
#include "pruner/operations/take-back.h"
#include "pruner/plan/pins.h"

// A file of a version that ends.
struct ending_file {
	const struct platform *platform;
	struct catalog_file file;
	const struct view_channel_version *version;
	bool was_unlisted;
};

struct ending_files {
	const struct view_channel_project *project;
	const struct platform *platform; // that is being read
	struct ending_file *item;
	size_t count, room;
	struct arena text;
};

static void ending_files_release(struct ending_files *all)
{
	free(all->item);
	arena_release(&all->text);
}

// The version that ends and has this key; NULL: none.
static const struct view_channel_version *find_ending_version(const struct view_channel_project *p, struct str key)
{
	for (size_t i = 0; i < p->files; i++)
		if (str_eq(p->file[i].file.version_key, key)) {
			const struct view_channel_version *v = &p->version[p->file[i].version];
			return v->decision == RETENTION_ENDS ? v : NULL;
		}
	return NULL;
}

static int add_if_ending(void *ctx, const struct catalog_file *file, struct err *e UNUSED)
{
	struct ending_files *all = ctx;
	const struct view_channel_version *v = find_ending_version(all->project, file->version_key);
	if (!v)
		return 0;
	GROW(all->item, all->count, all->room);
	struct ending_file *one = &all->item[all->count++];
	*one = (struct ending_file){.platform = all->platform, .file = *file, .version = v};
	catalog_file_copy(&all->text, &one->file);
	return 0;
}

// --- why a file stays ---

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
		if (p->file[i].platform == f->platform && strcmp(p->file[i].file.filename, f->file.filename) == 0)
			return p->version[p->file[i].version].decision != RETENTION_ENDS;
	return false;
}

// Marks the files that other views keep by appending the reasons: why[i] belongs to item i.
static int find_keepers(const struct retain_files *r, const struct ending_files *all, const char *project, char **why,
	struct err *e)
{
	for (size_t k = 0; k < r->keepers; k++) {
		const struct retain_keeper *keeper = &r->keeper[k];
		CLEANUP(view_channel_project_release) struct view_channel_project shown = {0};
		if (keeper->channel && view_channel_read(keeper->channel, project, &shown, e) < 0)
			return -1;
		for (size_t i = 0; i < all->count; i++) {
			const struct ending_file *f = &all->item[i];
			bool is_kept =
				keeper->channel ? is_kept_in(&shown, f) : has_platform(keeper->view, f->platform);
			if (is_kept && !why[i])
				why[i] = xasprintf("view %s keeps it", keeper->view->name);
		}
	}
	return 0;
}

static int find_pin(const struct retain_files *r, const struct ending_file *f, char **why, struct err *e)
{
	CLEANUP(mem_free) char *view = NULL;
	if (*why || pins_find(r->operation->catalog, f->platform->id, f->file.filename, f->file.sha256, &view, e) < 0)
		return *why ? 0 : -1;
	if (view)
		*why = xasprintf(PINS_WORDS, view);
	return 0;
}

// A file that another platform hides is not among those that the view's decision knows.
static int find_list(const struct retain_files *r, const struct ending_file *f, const char *project, char **why,
	struct err *e)
{
	CLEANUP(version_release) struct version version = {0};
	CLEANUP(buf_release) struct buf pin;
	buf_init(&pin, 2 * LIMIT_PATH);
	if (*why || version_parse(str_from(f->file.version), &version, e) < 0)
		return *why ? 0 : -1;
	if (kept_versions_pin(r->kept, project, &version, f->platform->name, &pin))
		*why = buf_steal(&pin);
	return 0;
}

static int find_freeze(const struct ending_file *f, char **why, struct err *e)
{
	CLEANUP(buf_release) struct buf frozen;
	buf_init(&frozen, 2 * LIMIT_WORDS);
	int is_frozen = *why ? 0 : freeze_is(f->platform, &frozen, e);
	if (is_frozen > 0)
		*why = xasprintf("the platform is frozen: %s", frozen.data ? frozen.data : "");
	return is_frozen < 0 ? -1 : 0;
}

static int find_reasons_to_stay(const struct retain_files *r, const struct ending_files *all, char **why, struct err *e)
{
	if (find_keepers(r, all, all->project->project, why, e) < 0)
		return -1;
	for (size_t i = 0; i < all->count; i++)
		if (find_pin(r, &all->item[i], &why[i], e) < 0 ||
			find_list(r, &all->item[i], all->project->project, &why[i], e) < 0 || find_freeze(&all->item[i], &why[i], e) < 0)
			return -1;
	return 0;
}

// --- unlisting ---

static int audit_end(const struct retain_files *r, const struct ending_file *f, const char *project,
	const struct err *failure, struct err *e)
{
	return operation_audit(r->operation,
		&(struct operation_event){.platform = f->platform,
			.action = "retain",
			.project = project,
			.file = f->file.filename,
			.sha256 = f->file.sha256,
			.reason = r->reason,
			.failure = failure},
		e);
}

static int end_file(struct retain_files *r, struct ending_file *f, const char *project, struct err *trouble,
	struct err *e)
{
	struct err why = ERR_INIT;
	struct tombstone stone = {.reason = r->reason,
		.when = r->when,
		.by = r->operation->who,
		.verdict = TOMBSTONE_EXPIRED,
		.run = r->run,
		.project = project,
		.has_sha256 = true,
		.size = (int64_t)f->file.size,
		.requires_python = f->file.requires_python};
	memcpy(stone.sha256, f->file.sha256, SHA256_SIZE);
	r->files++;
	if (r->is_dry) {
		operation_report(r->operation, f->platform, f->file.filename, OPERATION_WOULD, f->file.size, r->reason);
		return 0;
	}
	int ended = sidecar_ops_remove(f->platform, r->operation->catalog, f->file.filename, NULL, &stone, false, &why);
	operation_report(r->operation, f->platform, f->file.filename, ended < 0 ? OPERATION_FAILED : OPERATION_DONE,
		f->file.size, ended < 0 ? why.msg : r->reason);
	f->was_unlisted = ended == 0;
	if (ended < 0)
		*trouble = why;
	return audit_end(r, f, project, ended < 0 ? &why : NULL, e);
}

// A view may have taken a file in the meantime.
static int look_at_pins_again(struct retain_files *r, const struct ending_files *all, struct err *trouble,
	struct err *e)
{
	if (pins_sync(r->config, r->operation->catalog, e) < 0)
		return -1;
	for (size_t i = 0; i < all->count; i++) {
		const struct ending_file *f = &all->item[i];
		const struct take_back_file file = {.platform = f->platform,
			.filename = f->file.filename,
			.project = all->project->project,
			.sha256 = f->file.sha256,
			.size = f->file.size};
		int back = f->was_unlisted ? take_back_if_pinned(r->operation, &file, trouble, e) : 0;
		if (back < 0)
			return -1;
		r->files -= back > 0;
	}
	return 0;
}

static void free_reasons(const struct ending_files *all, char **why)
{
	for (size_t i = 0; i < all->count; i++)
		free(why[i]);
}

static int end_files(struct retain_files *r, struct ending_files *all, char **why, struct err *trouble, struct err *e)
{
	if (find_reasons_to_stay(r, all, why, e) < 0)
		return -1;
	for (size_t i = 0; i < all->count; i++) {
		struct ending_file *f = &all->item[i];
		if (why[i])
			operation_report(r->operation, f->platform, f->file.filename, OPERATION_KEPT, f->file.size,
				why[i]);
		else if (end_file(r, f, all->project->project, trouble, e) < 0)
			return -1;
	}
	return r->is_dry ? 0 : look_at_pins_again(r, all, trouble, e);
}

int retain_files_end(struct retain_files *r, const struct view *v, const struct view_channel_project *p,
	struct err *trouble, struct err *e)
{
	CLEANUP(ending_files_release) struct ending_files all = {.project = p};
	for (size_t i = 0; i < v->platform_count; i++) {
		all.platform = v->platform[i];
		if (catalog_project_files(r->operation->catalog, all.platform->id, p->project, add_if_ending, &all, e) <
			0)
			return -1;
	}
	CLEANUP(mem_free) char **why = xcalloc(all.count + 1, sizeof(*why));
	int result = end_files(r, &all, why, trouble, e);
	free_reasons(&all, why);
	return result;
}
