// SPDX-License-Identifier: Apache-2.0
#include "lib/audit/offer-folders.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/buf.h"
#include "lib/base/limits.h"
#include "lib/base/strset.h"
#include "lib/os/fs.h"

struct folders_search {
	int root;
	struct offer_folders *out;
	unsigned files;    // configuration files that were read
	unsigned includes; // patterns in them, each of which reads a folder
};

static bool is_listed(const struct offer_folders *f, const char *path)
{
	for (size_t i = 0; i < f->count; i++)
		if (strcmp(f->path[i], path) == 0)
			return true;
	return false;
}

// Without "/" at both ends, so that one folder has one spelling.
static int add_folder(struct folders_search *s, struct str path, struct err *e)
{
	while (path.len && path.ptr[0] == '/')
		path = str_slice(path, 1, path.len);
	while (path.len && path.ptr[path.len - 1] == '/')
		path.len--;
	CLEANUP(mem_free) char *text = xstrndup(path.ptr, path.len);
	if (!path.len || is_listed(s->out, text))
		return 0;
	if (s->out->count >= LIMIT_OFFER_FOLDERS)
		return err_set(e, ERR_LIMIT, "more than %d folders of libraries", LIMIT_OFFER_FOLDERS);
	GROW(s->out->path, s->out->count, s->out->room);
	s->out->path[s->out->count++] = STEAL_PTR(text);
	return 0;
}

// The names in a folder that match, sorted. A folder that is missing has none.
static int list_matches(int root, const char *folder, const char *pattern, struct strset *out, struct err *e)
{
	struct err why = ERR_INIT;
	int fd = fs_open_in_root(root, folder, O_RDONLY | O_DIRECTORY, &why);
	if (fd < 0 && why.kind == ERR_IO) {
		*e = why;
		return -1;
	}
	CLEANUP(fs_close_dir) DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	while (dir && (entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.' || fnmatch(pattern, entry->d_name, 0) != 0)
			continue;
		strset_add(out, entry->d_name);
		if (out->count > LIMIT_OFFER_FOLDERS)
			return err_set(e, ERR_LIMIT, "%s: more than %d names match %s", folder, LIMIT_OFFER_FOLDERS,
				pattern);
	}
	strset_sort(out);
	return 0;
}

static int read_conf(struct folders_search *s, const char *path, struct err *e);

// "include PATTERN", relative to the folder of the file. Only the last part of the path may be a pattern.
static int include_files(struct folders_search *s, const char *path, struct str pattern, struct err *e)
{
	CLEANUP(strset_release) struct strset names = {0};
	long end = str_rfind(str_from(path), '/'), slash = str_rfind(pattern, '/');
	struct str beside = pattern.ptr[0] == '/' ? STR("") : str_slice(str_from(path), 0, end < 0 ? 0 : (size_t)end);
	struct str below = str_slice(pattern, 0, slash < 0 ? 0 : (size_t)slash);
	CLEANUP(mem_free) char *folder = xasprintf(STR_FMT "/" STR_FMT, STR_ARG(beside), STR_ARG(below));
	CLEANUP(mem_free) char *last = xstrndup(pattern.ptr + slash + 1, pattern.len - (size_t)(slash + 1));
	if (++s->includes > LIMIT_OFFER_FOLDERS)
		return err_set(e, ERR_LIMIT, "%s: more than %d patterns are included", path, LIMIT_OFFER_FOLDERS);
	if (list_matches(s->root, folder, last, &names, e) < 0)
		return -1;
	for (size_t i = 0; i < names.count; i++) {
		CLEANUP(mem_free) char *file = xasprintf("%s/%s", folder, names.item[i]);
		if (read_conf(s, file, e) < 0)
			return -1;
	}
	return 0;
}

static bool separates_folders(char c)
{
	return c == ' ' || c == '\t' || c == ',' || c == ':' || c == '\r';
}

static struct str cut_word(struct str *rest)
{
	size_t from = 0, to;
	while (from < rest->len && separates_folders(rest->ptr[from]))
		from++;
	for (to = from; to < rest->len && !separates_folders(rest->ptr[to]);)
		to++;
	struct str word = str_slice(*rest, from, to);
	*rest = str_slice(*rest, to, rest->len);
	return word;
}

static int take_conf_line(struct folders_search *s, const char *path, struct str line, struct err *e)
{
	struct str rest = str_cut(&line, '#'), word = cut_word(&rest);
	if (str_eq(word, STR("hwcap")))
		return 0;
	bool is_include = str_eq(word, STR("include"));
	for (word = is_include ? cut_word(&rest) : word; word.len; word = cut_word(&rest)) {
		long type = str_find(word, '='); // "/usr/lib=libc6", of old systems
		if (!is_include && type >= 0)
			word.len = (size_t)type;
		if ((is_include ? include_files(s, path, word, e) : add_folder(s, word, e)) < 0)
			return -1;
	}
	return 0;
}

static int read_conf(struct folders_search *s, const char *path, struct err *e)
{
	struct stat st;
	struct err why = ERR_INIT;
	CLEANUP(mem_close) int fd = fs_open_in_root(s->root, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, &why);
	if (fd < 0 && why.kind == ERR_NOT_FOUND)
		return 0;
	if (fd < 0)
		return err_set(e, why.kind, "%s", why.msg);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	if (++s->files > LIMIT_OFFER_FOLDERS) // also where a file includes itself
		return err_set(e, ERR_LIMIT, "%s: more than %d files are included", path, LIMIT_OFFER_FOLDERS);
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, LIMIT_CONFIG);
	if (fs_read_fd(fd, path, &text, e) < 0)
		return -1;
	struct str rest = buf_view(&text);
	while (rest.len)
		if (take_conf_line(s, path, str_cut(&rest, '\n'), e) < 0)
			return -1;
	return 0;
}

// Folders of an architecture: Debian's triplets, which its ld.so.conf names as well.
static int add_triplets(struct folders_search *s, const char *folder, struct err *e)
{
	CLEANUP(strset_release) struct strset names = {0};
	if (list_matches(s->root, folder, "*-linux-*", &names, e) < 0)
		return -1;
	for (size_t i = 0; i < names.count; i++) {
		CLEANUP(mem_free) char *path = xasprintf("%s/%s", folder, names.item[i]);
		if (add_folder(s, str_from(path), e) < 0)
			return -1;
	}
	return 0;
}

static int add_musl(struct folders_search *s, struct err *e)
{
	CLEANUP(strset_release) struct strset loaders = {0};
	if (list_matches(s->root, "lib", "ld-musl-*.so.1", &loaders, e) < 0)
		return -1;
	return loaders.count ? add_folder(s, STR("usr/local/lib"), e) : 0;
}

int offer_folders_find(int root, struct offer_folders *out, struct err *e)
{
	static const char *const built_in[] = {"lib64", "usr/lib64", "lib", "usr/lib"};
	struct folders_search s = {.root = root, .out = out};
	if (read_conf(&s, "/etc/ld.so.conf", e) < 0 || add_triplets(&s, "lib", e) < 0 ||
		add_triplets(&s, "usr/lib", e) < 0 || add_musl(&s, e) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(built_in); i++)
		if (add_folder(&s, str_from(built_in[i]), e) < 0)
			return -1;
	return 0;
}

void offer_folders_release(struct offer_folders *f)
{
	for (size_t i = 0; i < f->count; i++)
		free(f->path[i]);
	free(f->path);
	*f = (struct offer_folders){0};
}
