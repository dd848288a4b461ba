// SPDX-License-Identifier: Apache-2.0
#include "lib/state/publish/sidecar-ops.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/strset.h"
#include "lib/state/catalog/catalog-file.h"
#include "lib/state/catalog/catalog-mark.h"
#include "lib/state/publish/publish.h"
#include "lib/state/store/attachment-file.h"
#include "lib/state/store/freeze.h"
#include "lib/state/store/ingest.h"
#include "lib/state/store/volume-release.h"
#include "lib/state/store/sidecar.h"
#include "lib/state/store/target-dir.h"

// One copy: a file of the name.
struct copy {
	int64_t id, written;
	int64_t folder;
	char *folder_path;
	struct place_folder *open; // the folder
	struct place_version version; // in the catalog; id 0
	bool has_sha256;
	uint8_t sha256[SHA256_SIZE];
	bool is_meant; // selected by the operation
};

struct copies {
	const struct platform *platform;
	struct catalog *catalog;
	const char *filename;
	const char *in; // the folder whose copy is selected; NULL: all
	struct copy *item;
	size_t count, room;
	bool is_retirement;      // the platform is frozen for it
	struct freeze_hold hold; // during all writes
};

static void copies_release(struct copies *all)
{
	for (size_t i = 0; i < all->count; i++) {
		free(all->item[i].folder_path);
		place_folder_close(&all->item[i].open);
	}
	free(all->item);
	freeze_leave(&all->hold);
}

static int add_copy(void *ctx, const struct catalog_copy *found, struct err *e UNUSED)
{
	struct copies *all = ctx;
	if (all->in && strcmp(found->folder_path, all->in) != 0)
		return 0;
	GROW(all->item, all->count, all->room);
	struct copy *one = &all->item[all->count++];
	*one = (struct copy){.id = found->id,
		.written = found->written,
		.folder = found->folder,
		.folder_path = xstrdup(found->folder_path),
		.version = {found->size, found->mtime_ns, 0},
		.has_sha256 = found->sha256 != NULL,
		.is_meant = true};
	if (found->sha256)
		memcpy(one->sha256, found->sha256, SHA256_SIZE);
	return 0;
}

// To be freed by the caller.
static char *target_folder_of(const struct copies *all, struct err *e)
{
	if (all->in)
		return xstrdup(all->in);
	CLEANUP(mem_free) char *project = publish_project_of(all->filename, NULL, e);
	return project ? target_dir_choose(all->platform, all->catalog, project, e) : NULL;
}

// A file at the write path is not in the catalog before its release.
static int find_unreleased(struct copies *all, struct err *e)
{
	struct place_info info;
	const struct platform *p = all->platform;
	CLEANUP(mem_free) char *folder = target_folder_of(all, e);
	if (!folder)
		return -1;
	struct err missing = ERR_INIT;
	CLEANUP(place_folder_close) struct place_folder *open = place_open_folder(p->written, folder, &missing);
	if (!open && missing.kind != ERR_NOT_FOUND) {
		*e = missing;
		return err_prefix(e, "platform %s: ", p->name);
	}
	if (!open || place_stat(open, all->filename, &info, &missing) <= 0)
		return 0;
	return add_copy(all, &(struct catalog_copy){.folder_path = folder}, e);
}

static int find_copies(struct copies *all, struct err *e)
{
	const struct platform *p = all->platform;
	if (catalog_file_copies(all->catalog, p->id, all->filename, add_copy, all, e) < 0)
		return -1;
	if (!all->count && store_is_split(p) && find_unreleased(all, e) < 0)
		return -1;
	if (!all->count)
		return err_set(e, ERR_NOT_FOUND, "platform %s has no file %s", p->name, all->filename);
	if (freeze_enter(p, all->is_retirement, &all->hold, e) < 0)
		return -1;
	for (size_t i = 0; i < all->count; i++) {
		struct copy *one = &all->item[i];
		one->open = place_open_folder(p->written, one->folder_path, e);
		if (!one->open && e->kind == ERR_NOT_FOUND)
			e->kind = ERR_IO; // the catalog says that it is there
		if (!one->open)
			return err_prefix(e, "platform %s: ", p->name);
	}
	return 0;
}

static int want_release(const struct copies *all, size_t i, const char *ending, struct err *e)
{
	CLEANUP(mem_free) char *name = xasprintf("%s%s", all->filename, ending);
	return volume_release_want(catalog_path(all->catalog), all->platform, all->item[i].folder_path, name, e);
}

static int mark_copies(const struct copies *all, enum mark mark, const struct str *text, struct err *e)
{
	// text NULL: removes the sidecars.
	for (size_t i = 0; i < all->count; i++) {
		struct place_folder *open = all->item[i].open;
		if (!all->item[i].is_meant)
			continue;
		if ((text ? sidecar_write(open, all->filename, mark, *text, e)
			  : sidecar_remove(open, all->filename, mark, e)) < 0 ||
			want_release(all, i, sidecar_ending[mark], e) < 0)
			return err_prefix(e, "platform %s: ", all->platform->name);
	}
	if (store_is_split(all->platform))
		return 0;
	// Writes the marks to the catalog, as a scan of the sidecars would.
	CLEANUP(mem_free) char *words = text ? xstrndup(text->ptr, text->len) : NULL;
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	if (catalog_begin(all->catalog, &t, e) < 0)
		return -1;
	for (size_t i = 0; i < all->count; i++) {
		struct catalog_effect effect;
		const struct catalog_mark m = {.platform = all->platform->id,
			.folder = all->item[i].folder,
			.folder_path = all->item[i].folder_path,
			.filename = all->filename,
			.mark = mark,
			.text = words};
		if (all->item[i].is_meant && catalog_mark_put(all->catalog, &m, &effect, e) < 0)
			return -1;
	}
	return catalog_commit(&t, e);
}

int sidecar_ops_check(const struct platform *p, struct catalog *c, const char *filename, struct err *e)
{
	CLEANUP(copies_release) struct copies all = {.platform = p, .catalog = c, .filename = filename};
	return find_copies(&all, e);
}

int sidecar_ops_yank(const struct platform *p, struct catalog *c, const char *filename, const char *reason,
	struct err *e)
{
	CLEANUP(copies_release)
	struct copies all = {.platform = p, .catalog = c, .filename = filename};
	struct str text = str_from(reason);
	return find_copies(&all, e) < 0 ? -1 : mark_copies(&all, MARK_YANKED, &text, e);
}

int sidecar_ops_unyank(const struct platform *p, struct catalog *c, const char *filename, struct err *e)
{
	CLEANUP(copies_release)
	struct copies all = {.platform = p, .catalog = c, .filename = filename};
	return find_copies(&all, e) < 0 ? -1 : mark_copies(&all, MARK_YANKED, NULL, e);
}

// --- the status of a project ---

struct status_folders {
	const struct platform *platform;
	struct strset paths;
};

static void status_folders_release(struct status_folders *f)
{
	strset_release(&f->paths);
}

static int add_status_folder(void *ctx, int64_t platform, const char *folder_path, struct str text UNUSED, struct err *e UNUSED)
{
	struct status_folders *f = ctx;
	if (platform == f->platform->id)
		strset_add(&f->paths, folder_path);
	return 0;
}

static int write_status(const struct platform *p, struct catalog *c, const char *folder, const char *project,
	const char *text, struct err *e)
{
	unsigned made = 0;
	struct err missing = ERR_INIT;
	CLEANUP(place_folder_close)
	struct place_folder *open = text ? target_dir_open(p, c, folder, &made, &missing)
					 : place_open_folder(p->written, folder, &missing);
	if (!open && !text && missing.kind == ERR_NOT_FOUND)
		return 0;
	if (!open) {
		*e = missing;
		return -1;
	}
	if ((text ? sidecar_write(open, project, MARK_STATUS, str_from(text), e)
		  : sidecar_remove(open, project, MARK_STATUS, e)) < 0)
		return -1;
	return volume_release_want(catalog_path(c), p, folder, sidecar_ending[MARK_STATUS], e);
}

static int put_status_rows(const struct status_folders *f, struct catalog *c, const char *project, const char *text,
	struct err *e)
{
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	if (catalog_begin(c, &t, e) < 0)
		return -1;
	for (size_t i = 0; i < f->paths.count; i++) {
		struct catalog_effect effect;
		struct catalog_mark m = {.platform = f->platform->id,
			.folder_path = f->paths.item[i],
			.filename = project,
			.mark = MARK_STATUS,
			.text = text};
		if (catalog_folder_ensure(c, m.platform, m.folder_path, &m.folder, e) < 0 ||
			catalog_mark_put(c, &m, &effect, e) < 0)
			return -1;
	}
	return catalog_commit(&t, e);
}

int sidecar_ops_status(const struct platform *p, struct catalog *c, const char *project, const char *text, struct err *e)
{
	CLEANUP(freeze_leave) struct freeze_hold hold = {0};
	CLEANUP(status_folders_release) struct status_folders f = {.platform = p};
	if (freeze_enter(p, false, &hold, e) < 0 || catalog_statuses(c, project, add_status_folder, &f, e) < 0)
		return -1;
	CLEANUP(mem_free) char *named = f.paths.count ? NULL : target_dir_named(p, c, project, e);
	if (!f.paths.count && !named)
		return -1;
	if (named)
		strset_add(&f.paths, named);
	for (size_t i = 0; i < f.paths.count; i++)
		if (write_status(p, c, f.paths.item[i], project, text, e) < 0)
			return err_prefix(e, "platform %s: ", p->name);
	return store_is_split(p) ? 0 : put_status_rows(&f, c, project, text, e);
}

// --- removing ---

// The attachments go after their file: if the process dies in between, the same call removes them.
static int delete_bytes(const struct copies *all, struct err *e)
{
	for (size_t i = 0; i < all->count; i++) {
		struct place_folder *open = all->item[i].open;
		if (!all->item[i].is_meant)
			continue;
		if (place_remove(open, all->filename, NULL, e) < 0)
			return err_prefix(e, "platform %s: cannot delete ", all->platform->name);
		for (int kind = 0; kind < ATTACHMENT_COUNT; kind++) {
			CLEANUP(mem_free) char *name = attachment_file_name(all->filename, (enum attachment)kind);
			int removed = name ? place_remove(all->item[i].open, name, NULL, e) : 0;
			if (removed == 0)
				continue;
			if (removed < 0 || want_release(all, i, attachment_ending[kind], e) < 0)
				return -1;
		}
		if (place_sync(open, e) < 0 || want_release(all, i, "", e) < 0)
			return -1;
	}
	return 0;
}

static int remove_attachment_rows(const struct copies *all, const struct copy *one, struct err *e)
{
	for (int kind = 0; kind < ATTACHMENT_COUNT; kind++) {
		const struct catalog_attachment row = {
			.folder = one->folder, .filename = all->filename, .kind = (enum attachment)kind};
		if (catalog_attachment_remove(all->catalog, &row, e) < 0)
			return -1;
	}
	return 0;
}

static int remove_rows(const struct copies *all, struct err *e)
{
	if (store_is_split(all->platform))
		return 0; // it is served until the release
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	if (catalog_begin(all->catalog, &t, e) < 0)
		return -1;
	for (size_t i = 0; i < all->count; i++) {
		struct catalog_effect effect;
		char name[LIMIT_FILE_NAME + 1];
		if (all->item[i].is_meant && (catalog_file_remove(all->catalog, all->item[i].id, all->item[i].written,
						      name, &effect, e) < 0 ||
						     remove_attachment_rows(all, &all->item[i], e) < 0))
			return -1;
	}
	return catalog_commit(&t, e);
}

// An earlier run may have removed file and row and then died: then nothing is left to do.
static int accept_if_removed(const struct copies *all, const struct err *why, struct err *e)
{
	CLEANUP(buf_release) struct buf reason = buf_up_to(LIMIT_REASON);
	if (why->kind == ERR_NOT_FOUND && !all->count &&
		catalog_tombstone(all->catalog, all->platform->id, all->filename, &reason, e) > 0)
		return 0;
	*e = *why;
	return -1;
}

static bool is_retirement(const struct tombstone *t)
{
	return t->verdict && strcmp(t->verdict, TOMBSTONE_RETIRED) == 0;
}

int sidecar_ops_remove(const struct platform *p, struct catalog *c, const char *filename, const char *folder,
	const struct tombstone *t, bool deletes, struct err *e)
{
	CLEANUP(copies_release)
	struct copies all = {
		.platform = p, .catalog = c, .filename = filename, .in = folder, .is_retirement = is_retirement(t)};
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_SIDECAR);
	if (tombstone_write(t, &text, e) < 0)
		return -1;
	struct str tombstone = buf_view(&text);
	struct err why = ERR_INIT;
	if (find_copies(&all, &why) < 0)
		return accept_if_removed(&all, &why, e);
	if (mark_copies(&all, MARK_PRUNED, &tombstone, e) < 0)
		return -1;
	return deletes && (delete_bytes(&all, e) < 0 || remove_rows(&all, e) < 0) ? -1 : 0;
}

// --- restoring ---

// 1: these bytes; 0: others; -1 with ERR_NOT_FOUND: none.
static int holds(const struct copies *all, const struct copy *one, const uint8_t sha256[SHA256_SIZE], struct err *e)
{
	struct place_version version;
	CLEANUP(ingest_cleanup) struct ingest *in = ingest_new();
	uint8_t found[SHA256_SIZE];
	CLEANUP(place_file_close) struct place_file *file = place_open_in(one->open, all->filename, e);
	if (!file || ingest_hash(in, file, &version, found, e) < 0)
		return -1;
	return memcmp(found, sha256, SHA256_SIZE) == 0;
}

// Selects the copies that have these bytes.
static int choose_whole(struct copies *all, const uint8_t sha256[SHA256_SIZE], struct err *e)
{
	size_t there = 0, right = 0;
	for (size_t i = 0; i < all->count; i++) {
		struct err why = ERR_INIT;
		int same = holds(all, &all->item[i], sha256, &why);
		if (same < 0 && why.kind != ERR_NOT_FOUND) {
			*e = why;
			return err_prefix(e, "platform %s: ", all->platform->name);
		}
		there += same >= 0;
		right += all->item[i].is_meant = same > 0;
	}
	if (!there)
		return err_set(e, ERR_NOT_FOUND, "platform %s: the bytes of %s are gone", all->platform->name,
			all->filename);
	return right ? 0
		     : err_set(e, ERR_CONFLICT, "platform %s: %s has other bytes now than when it was removed",
			       all->platform->name, all->filename);
}

int sidecar_ops_restore(const struct platform *p, struct catalog *c, const char *filename, const char *folder,
	const uint8_t sha256[SHA256_SIZE], struct err *e)
{
	CLEANUP(copies_release)
	struct copies all = {.platform = p, .catalog = c, .filename = filename, .in = folder};
	return find_copies(&all, e) < 0 || choose_whole(&all, sha256, e) < 0 ? -1
									     : mark_copies(&all, MARK_PRUNED, NULL, e);
}

// --- purging ---

// Reads the sidecar, not the catalog: it may have been removed by hand since the last scan.
static int has_tombstone(const struct copies *all, const struct copy *one, struct str tombstone, struct err *e)
{
	CLEANUP(buf_release) struct buf text = buf_up_to(2 * LIMIT_SIDECAR);
	int found = sidecar_read(one->open, all->filename, MARK_PRUNED, &text, e);
	return found <= 0 ? found : str_eq(buf_view(&text), tombstone);
}

// 1: the bytes are those in the catalog; 0: others, or unknown; -1 with ERR_NOT_FOUND: none. A release may change a
// file's time at the write path; then the file is read.
static int is_known(const struct copies *all, const struct copy *one, const struct tombstone *t, struct err *e)
{
	struct place_info now;
	int found = place_stat(one->open, all->filename, &now, e);
	if (found <= 0)
		return found ? err_prefix(e, "%s: ", all->filename) : err_set(e, ERR_NOT_FOUND, "%s", all->filename);
	bool is_meant = t->has_sha256 == one->has_sha256 &&
			(t->has_sha256 ? memcmp(t->sha256, one->sha256, SHA256_SIZE) == 0
				       : t->size == (int64_t)now.version.size);
	if (!is_meant || now.kind != PLACE_FILE || now.version.size != one->version.size)
		return 0;
	if (place_version_match(&now.version, &one->version) != PLACE_OTHER)
		return 1;
	return t->has_sha256 ? holds(all, one, t->sha256, e) : 0;
}

// 1: some copies are to be deleted, or only their rows; 0: nothing is left.
static int choose_by_tombstone(struct copies *all, struct str tombstone, const struct tombstone *t, struct err *e)
{
	size_t there = 0, right = 0;
	for (size_t i = 0; i < all->count; i++) {
		struct copy *one = &all->item[i];
		struct err why = ERR_INIT;
		int known = is_known(all, one, t, &why);
		bool is_gone = known < 0 && why.kind == ERR_NOT_FOUND;
		if (known < 0 && !is_gone) {
			*e = why;
			return err_prefix(e, "platform %s: ", all->platform->name);
		}
		int same = known ? has_tombstone(all, one, tombstone, e) : 0;
		if (same < 0)
			return err_prefix(e, "platform %s: ", all->platform->name);
		one->is_meant = same > 0;
		right += same > 0 && !(is_gone && store_is_split(all->platform));
		there += !is_gone;
	}
	if (right || !there)
		return right > 0;
	return err_set(e, ERR_CONFLICT, "platform %s: %s is not what was pruned, or was restored by hand",
		all->platform->name, all->filename);
}

int sidecar_ops_purge(const struct platform *p, struct catalog *c, const char *filename, const char *folder,
	struct str tombstone, struct err *e)
{
	struct err why = ERR_INIT;
	CLEANUP(tombstone_release) struct tombstone t;
	tombstone_read(tombstone, &t);
	CLEANUP(copies_release)
	struct copies all = {
		.platform = p, .catalog = c, .filename = filename, .in = folder, .is_retirement = is_retirement(&t)};
	if (find_copies(&all, &why) < 0) {
		if (why.kind == ERR_NOT_FOUND && !all.count)
			return 0;
		*e = why;
		return -1;
	}
	int chosen = choose_by_tombstone(&all, tombstone, &t, e);
	if (chosen <= 0)
		return chosen;
	return delete_bytes(&all, e) < 0 || remove_rows(&all, e) < 0 ? -1 : 1;
}
