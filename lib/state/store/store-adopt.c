// SPDX-License-Identifier: Apache-2.0
#include "lib/state/store/store-adopt.h"

#include <dirent.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/log.h"
#include "lib/domain/machine/platform.h"
#include "lib/os/fs.h"
#include "lib/state/catalog/catalog-write.h"

static bool has_entry(const struct platform *p)
{
	struct err ignored = ERR_INIT;
	int fd = p->is_away ? -1 : store_open_folder(p, "", &ignored);
	CLEANUP(fs_close_dir) DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	if (fd >= 0 && !dir)
		close(fd);
	for (struct dirent *entry; dir && (entry = readdir(dir));)
		if (entry->d_name[0] != '.' && strcmp(entry->d_name, "lost+found") != 0)
			return true;
	return false;
}

static int note_folder_of_platform(void *ctx, const struct catalog_platform *p, struct err *e UNUSED)
{
	bool *has_folders = ctx;
	*has_folders |= p->files && platform_is_slug(str_from(p->name));
	return 0;
}

// Without folders of platforms the store itself is one platform. Where the catalog knows such folders, it is more likely
// the place of a volume that is not mounted.
static int check_folders(const struct store *s, struct catalog *c, const char *before, struct err *e)
{
	bool has_folders = false;
	if (catalog_platforms(c, note_folder_of_platform, &has_folders, e) < 0)
		return -1;
	bool is_bare = s->is_detected && s->platform_count == 1 && !platform_is_slug(str_from(s->platform[0].name));
	for (size_t i = 0; i < s->platform_count && !(is_bare && has_folders); i++)
		if (has_entry(&s->platform[i]))
			return 0;
	return err_set(e, ERR_USAGE,
		"catalog %s is of the store %s, and %s has no folder of a platform with anything in it; is its volume mounted?",
		catalog_path(c), before, s->path);
}

int store_adopt_check(const struct store *s, struct catalog *c, char **before, struct err *e)
{
	CLEANUP(mem_free) char *known = NULL;
	*before = NULL;
	if (!s->path)
		return 0;
	if (catalog_store(c, &known, e) < 0)
		return -1;
	if (!known || strcmp(known, s->path) == 0)
		return 0;
	if (check_folders(s, c, known, e) < 0)
		return -1;
	*before = STEAL_PTR(known);
	return 0;
}

int store_adopt(const struct store *s, struct catalog *c, struct err *e)
{
	CLEANUP(mem_free) char *before = NULL;
	if (store_adopt_check(s, c, &before, e) < 0)
		return -1;
	if (!before)
		return 0;
	log_warn("catalog %s is made again: it was of the store %s, and is now of %s", catalog_path(c), before, s->path);
	return catalog_adopt(c, s->path, e);
}
