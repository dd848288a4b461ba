// SPDX-License-Identifier: Apache-2.0
#include "cli/common/file-word.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/domain/text/filename.h"
#include "lib/place/place-address.h"
#include "lib/place/place-s3.h"

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

bool file_word_fits(const char *word)
{
	struct stat st;
	bool is_folder = strchr(word, '/') && stat(word, &st) == 0 && S_ISDIR(st.st_mode);
	return !is_folder && filename_kind(str_from(last_part(word))) != FILENAME_OTHER;
}

// The path relative to a folder, "" for the folder itself; NULL if it is outside. Borrowed from path.
static const char *path_below(const char *path, const char *folder)
{
	size_t len = strlen(folder);
	if (strncmp(path, folder, len) != 0 || (path[len] && path[len] != '/'))
		return NULL;
	return path + len + (path[len] == '/');
}

static const char *path_on_platform(const char *real, const char *folder)
{
	struct err ignored = ERR_INIT;
	CLEANUP(mem_free) char *base = folder ? place_address_real(folder, &ignored) : NULL;
	return base ? path_below(real, base) : NULL;
}

static bool is_file(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

// What is in a bucket only its place knows.
static bool is_in_place(const struct file_word *w)
{
	struct err ignored = ERR_INIT;
	struct place_info info;
	CLEANUP(place_folder_close)
	struct place_folder *f = place_open_folder(w->platform->written, w->folder, &ignored);
	return f && place_stat(f, w->name, &info, &ignored) > 0 && info.kind == PLACE_FILE;
}

// The folder of the path, without links; the caller frees it.
static char *real_folder(const char *path, struct err *e)
{
	CLEANUP(mem_free) char *folder = xstrndup(path, (size_t)(last_part(path) - path));
	return place_address_real(folder, e);
}

int file_word_read(const char *word, const struct store *store, struct file_word *out, struct err *e)
{
	struct err why = ERR_INIT, ignored = ERR_INIT;
	*out = (struct file_word){.name = last_part(word)};
	if (!file_word_fits(word))
		return err_set(e, ERR_USAGE, "%s is not the name of a wheel or an sdist, or its path", word);
	if (out->name == word)
		return 0;
	CLEANUP(mem_free) char *below = store->path ? xasprintf("%s/%s", store->path, word) : NULL;
	CLEANUP(mem_free) char *real = real_folder(word, &why);
	const char *path = word;
	if (!real && below && !place_address_is_whole(word)) {
		real = real_folder(below, &ignored);
		path = below;
	}
	if (!real) {
		*e = why;
		return -1;
	}
	out->exists = is_file(path);
	// A platform may be in the folder of another one: the innermost has the shortest path left.
	const char *left = NULL;
	for (size_t i = 0; i < store->platform_count; i++) {
		const struct platform *p = &store->platform[i];
		const char *const base[] = {place_path(p->place), place_path(p->written)};
		for (size_t k = 0; k < ARRAY_SIZE(base) && !p->is_away; k++) {
			const char *rest = path_on_platform(real, base[k]);
			if (rest && (!left || strlen(rest) < strlen(left))) {
				left = rest;
				out->platform = p;
			}
		}
	}
	out->folder = left ? xstrdup(left) : NULL;
	out->exists |= out->platform && place_s3_is(path) && is_in_place(out);
	return out->platform ? 0 : err_set(e, ERR_USAGE, "%s is not in the folder of a platform", word);
}

void file_word_release(struct file_word *w)
{
	free(w->folder);
	*w = (struct file_word){0};
}

bool file_word_is_on(const struct file_word *w, const struct platform *p)
{
	return !w->platform || w->platform == p;
}

// Links inside of the platform lead to the same file by another path.
static bool is_listed_at(const struct platform *p, const char *path, const char *other)
{
	struct stat a, b;
	CLEANUP(mem_free) char *one = xasprintf("%s/%s", place_path(p->place), path);
	CLEANUP(mem_free) char *two = xasprintf("%s/%s", place_path(p->place), other);
	return strcmp(path, other) == 0 ||
	       (stat(one, &a) == 0 && stat(two, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino);
}

int file_word_check(const struct file_word *w, struct catalog *c, struct err *e)
{
	struct err ignored = ERR_INIT;
	CLEANUP(catalog_place_release) struct catalog_place place = {0};
	if (!w->platform || !w->exists || !w->platform->id ||
		catalog_find_file(c, w->platform->id, w->name, &place, &ignored) < 0)
		return 0;
	CLEANUP(mem_free) char *path = xasprintf("%s%s%s", w->folder, *w->folder ? "/" : "", w->name);
	if (is_listed_at(w->platform, path, place.path))
		return 0;
	return err_set(e, ERR_CONFLICT, "platform %s: the catalog has %s at %s, not at %s", w->platform->name, w->name,
		place.path, path);
}
