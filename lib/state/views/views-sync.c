// SPDX-License-Identifier: Apache-2.0
#include "lib/state/views/views-sync.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base/limits.h"
#include "lib/base/strset.h"
#include "lib/domain/machine/platform.h"
#include "lib/state/catalog/catalog-view.h"
#include "lib/state/views/evidence-sync.h"
#include "lib/state/views/views-file.h"

static int add_known_view(void *ctx, const char *view, struct err *e UNUSED)
{
	strset_add(ctx, view);
	return 0;
}

struct view_folders {
	int dirfd;
	struct strset *views;
};

static bool is_folder(int dirfd, const char *name)
{
	struct stat st;
	return fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

static int add_view_folder(void *ctx, const char *name, struct err *e)
{
	struct view_folders *f = ctx;
	if (!platform_name_is_valid(str_from(name)) || strcmp(name, VIEWS_FILE_EVIDENCE) == 0 ||
		!is_folder(f->dirfd, name))
		return 0;
	if (f->views->count == LIMIT_VIEW_FOLDERS)
		return err_set(e, ERR_LIMIT, "more than %d folders of views", LIMIT_VIEW_FOLDERS);
	strset_add(f->views, name);
	return 0;
}

int views_find_folders(const char *folder, bool sweeps, struct strset *views, struct err *e)
{
	struct err why = ERR_INIT;
	CLEANUP(mem_close) int dirfd = views_file_folder(folder, "", false, &why);
	if (dirfd < 0 && why.kind == ERR_NOT_FOUND)
		return 0;
	if (dirfd >= 0 &&
		views_file_names(dirfd, sweeps, add_view_folder, &(struct view_folders){dirfd, views}, &why) == 0)
		return 0;
	return err_set(e, why.kind, "the folder of memberships %s: %s", folder, why.msg);
}

static int note_as_read(struct catalog *c, struct err *e)
{
	struct catalog_view unknown;
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	// No view has this name, so that it is damaged as long as nothing was read.
	if (catalog_view_find(c, "", &unknown, e) < 0)
		return -1;
	if (!unknown.is_damaged)
		return 0;
	return catalog_begin(c, &t, e) < 0 || catalog_views_set_read(c, e) < 0 ? -1 : catalog_commit(&t, e);
}

int views_sync(const char *folder, struct catalog *c, views_sync_damage_fn *fn, void *ctx,
	struct views_sync_counts *counts, struct err *e)
{
	CLEANUP(strset_release) struct strset views = {0};
	*counts = (struct views_sync_counts){0};
	if (catalog_views(c, add_known_view, &views, e) < 0 || views_find_folders(folder, true, &views, e) < 0)
		return -1;
	strset_sort(&views);
	for (size_t i = 0; i < views.count; i++)
		if (views_sync_view(folder, views.item[i], c, fn, ctx, counts, e) < 0)
			return -1;
	if (evidence_sync(folder, c, fn, ctx, counts, e) < 0)
		return -1;
	return note_as_read(c, e);
}
