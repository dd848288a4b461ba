// SPDX-License-Identifier: Apache-2.0
#include "lib/state/marks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/fs.h"
#include "lib/base/jsondoc.h"
#include "lib/base/limits.h"
#include "lib/state/catalog-file.h"
#include "lib/state/catalog-mark.h"
#include "lib/state/freeze.h"
#include "lib/state/place.h"
#include "lib/state/publish.h"
#include "lib/state/release.h"

// One file of the name.
struct copy {
	int64_t id, written;
	int64_t folder;
	char *folder_path;
	int fd; // the open folder
};

struct copies {
	const struct platform *platform;
	struct catalog *catalog;
	const char *filename;
	struct copy *item;
	size_t count, room;
};

static void copies_release(struct copies *all)
{
	for (size_t i = 0; i < all->count; i++) {
		free(all->item[i].folder_path);
		mem_close(&all->item[i].fd);
	}
	free(all->item);
}

static int add_copy(void *ctx, const struct catalog_copy *found, struct err *e UNUSED)
{
	struct copies *all = ctx;
	GROW(all->item, all->count, all->room);
	all->item[all->count++] = (struct copy){
		found->id, found->written, found->folder, xstrdup(found->folder_path), -1};
	return 0;
}

// What waits at the write path for its release is in no catalog yet.
static int find_unreleased(struct copies *all, struct err *e)
{
	struct stat st;
	const struct platform *p = all->platform;
	CLEANUP(mem_free) char *project = publish_project_of(all->filename, NULL, e);
	CLEANUP(mem_free) char *folder = project ? place_choose(p, all->catalog, project, e) : NULL;
	if (!folder)
		return -1;
	struct err missing = ERR_INIT;
	CLEANUP(mem_close) int fd = store_open_writable_folder(p, folder, &missing);
	if (fd < 0 && missing.kind != ERR_NOT_FOUND) {
		*e = missing;
		return err_prefix(e, "platform %s: ", p->name);
	}
	if (fd < 0 || fstatat(fd, all->filename, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	return add_copy(all, &(struct catalog_copy){.folder_path = folder}, e);
}

static int find(struct copies *all, struct err *e)
{
	const struct platform *p = all->platform;
	if (catalog_file_copies(all->catalog, p->id, all->filename, add_copy, all, e) < 0)
		return -1;
	if (!all->count && store_is_split(p) && find_unreleased(all, e) < 0)
		return -1;
	if (!all->count)
		return err_set(
			e, ERR_NOT_FOUND, "platform %s has no file %s", p->name, all->filename);
	if (freeze_check(p, e) < 0)
		return -1;
	for (size_t i = 0; i < all->count; i++) {
		struct copy *one = &all->item[i];
		one->fd = store_open_writable_folder(p, one->folder_path, e);
		if (one->fd < 0 && e->kind == ERR_NOT_FOUND)
			e->kind = ERR_IO; // the catalog says that it is there
		if (one->fd < 0)
			return err_prefix(e, "platform %s: ", p->name);
	}
	return 0;
}

static int want_release(const struct copies *all, size_t i, const char *ending, struct err *e)
{
	CLEANUP(mem_free) char *name = xasprintf("%s%s", all->filename, ending);
	return release_want(catalog_path(all->catalog), all->platform, all->item[i].folder_path, name, e);
}

// text NULL: the mark is taken away.
static int put_sidecars(
	const struct copies *all, enum mark mark, const struct str *text, struct err *e)
{
	for (size_t i = 0; i < all->count; i++) {
		int fd = all->item[i].fd;
		if ((text ? sidecar_write(fd, all->filename, mark, *text, e)
			  : sidecar_remove(fd, all->filename, mark, e)) < 0 ||
			want_release(all, i, sidecar_ending[mark], e) < 0)
			return err_prefix(e, "platform %s: ", all->platform->name);
	}
	return 0;
}

static void rollback(struct catalog **c)
{
	if (*c)
		catalog_rollback(*c);
}

// What a scan would make of the sidecars.
static int tell_catalog(
	const struct copies *all, enum mark mark, const struct str *text, struct err *e)
{
	CLEANUP(buf_release) struct buf reason;
	buf_init(&reason, LIMIT_MARK);
	if (text)
		sidecar_reason(mark, *text, &reason);
	if (catalog_begin(all->catalog, e) < 0)
		return -1;
	CLEANUP(rollback) struct catalog *open = all->catalog;
	for (size_t i = 0; i < all->count; i++) {
		struct catalog_effect effect;
		const struct catalog_mark m = {.platform = all->platform->id,
			.folder = all->item[i].folder,
			.folder_path = all->item[i].folder_path,
			.filename = all->filename,
			.mark = mark,
			.reason = text ? reason.data : NULL};
		if (catalog_mark_put(open, &m, &effect, e) < 0)
			return -1;
	}
	if (catalog_commit(open, e) < 0)
		return -1;
	open = NULL;
	return 0;
}

static int mark(const struct copies *all, enum mark mark, const struct str *text, struct err *e)
{
	if (put_sidecars(all, mark, text, e) < 0)
		return -1;
	return store_is_split(all->platform) ? 0 : tell_catalog(all, mark, text, e);
}

int marks_yank(const struct platform *p, struct catalog *c, const char *filename,
	const char *reason, struct err *e)
{
	CLEANUP(copies_release)
	struct copies all = {.platform = p, .catalog = c, .filename = filename};
	struct str text = str_from(reason);
	return find(&all, e) < 0 ? -1 : mark(&all, MARK_YANKED, &text, e);
}

int marks_unyank(const struct platform *p, struct catalog *c, const char *filename, struct err *e)
{
	CLEANUP(copies_release)
	struct copies all = {.platform = p, .catalog = c, .filename = filename};
	return find(&all, e) < 0 ? -1 : mark(&all, MARK_YANKED, NULL, e);
}

static void write_tombstone(const char *reason, const char *by, struct buf *out)
{
	char when[CLOCK_TEXT];
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
	clock_write(clock_wall_seconds(), when);
	jsondoc_put_str(doc, "reason", reason);
	jsondoc_put_str(doc, "when", when);
	jsondoc_put_str(doc, "by", by);
	jsondoc_write(doc, 0, out);
}

static int delete_bytes(const struct copies *all, struct err *e)
{
	for (size_t i = 0; i < all->count; i++) {
		int fd = all->item[i].fd;
		if (unlinkat(fd, all->filename, 0) < 0 && errno != ENOENT)
			return err_errno(e, ERR_IO, "platform %s: cannot delete %s",
				all->platform->name, all->filename);
		if (fs_sync_dir(fd, e) < 0 || want_release(all, i, "", e) < 0)
			return -1;
	}
	return 0;
}

static int forget(const struct copies *all, struct err *e)
{
	if (store_is_split(all->platform))
		return 0; // it is served until the release
	if (catalog_begin(all->catalog, e) < 0)
		return -1;
	CLEANUP(rollback) struct catalog *open = all->catalog;
	for (size_t i = 0; i < all->count; i++) {
		struct catalog_effect effect;
		char name[LIMIT_FILE_NAME + 1];
		if (catalog_file_remove(
			    open, all->item[i].id, all->item[i].written, name, &effect, e) < 0)
			return -1;
	}
	if (catalog_commit(open, e) < 0)
		return -1;
	open = NULL;
	return 0;
}

// An earlier run took file and row away, and perhaps died before it could say so: then all is done.
static int forgive(const struct copies *all, const struct err *why, struct err *e)
{
	CLEANUP(buf_release) struct buf reason;
	buf_init(&reason, LIMIT_REASON);
	if (why->kind == ERR_NOT_FOUND && !all->count &&
		catalog_tombstone(all->catalog, all->platform->id, all->filename, &reason, e) > 0)
		return 0;
	*e = *why;
	return -1;
}

int marks_remove(const struct platform *p, struct catalog *c, const char *filename,
	const char *reason, const char *by, bool deletes, struct err *e)
{
	CLEANUP(copies_release)
	struct copies all = {.platform = p, .catalog = c, .filename = filename};
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, LIMIT_MARK);
	write_tombstone(reason, by, &text);
	if (text.failed)
		return err_set(e, ERR_LIMIT, "the reason is too long");
	struct str tombstone = str_trim(buf_view(&text));
	struct err why = ERR_INIT;
	if (find(&all, &why) < 0)
		return forgive(&all, &why, e);
	if (mark(&all, MARK_PRUNED, &tombstone, e) < 0)
		return -1;
	return deletes && (delete_bytes(&all, e) < 0 || forget(&all, e) < 0) ? -1 : 0;
}
