// SPDX-License-Identifier: Apache-2.0
#include "lib/audit/audit-layout.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/search.h"

#define SITE "lib/python/site-packages"
enum { ENTRIES_MOST = 64 << 10 }; // of all search paths of a wheel
enum { PATH_MOST = 256 << 10 };   // a member's name and an entry of a search path

// The folders of NAME.data (PEP 427, the data directory), and where installers put what is in them.
static const struct {
	struct str folder;
	const char *place;
} schemes[] = {
	{STR("purelib/"), SITE "/"},
	{STR("platlib/"), SITE "/"},
	{STR("data/"), ""},
	{STR("scripts/"), "bin/"},
	{STR("headers/"), "include/python/"},
};

static const char *installed_path(struct layout *l, const char *member)
{
	struct str rest = str_from(member), data = str_from(l->data);
	const char *place = SITE "/";
	if (str_starts(rest, data)) {
		struct str below = str_slice(rest, data.len, rest.len);
		for (size_t i = 0; i < ARRAY_SIZE(schemes); i++)
			if (str_starts(below, schemes[i].folder)) {
				rest = str_slice(below, schemes[i].folder.len, below.len);
				place = schemes[i].place;
			}
	}
	size_t head = strlen(place);
	char *path = arena_alloc(&l->text, head + rest.len + 1);
	memcpy(path, place, head);
	memcpy(path + head, rest.ptr, rest.len);
	path[head + rest.len] = '\0';
	return path;
}

static bool is_python_module(const struct wheel_elf *elf)
{
	for (size_t i = 0; i < elf->elf.symbols; i++)
		if (!elf->elf.symbol[i].is_imported && str_starts(str_from(elf->elf.symbol[i].name), STR("PyInit_")))
			return true;
	return false;
}

static void place_file(struct layout *l, const struct wheel_elf *elf)
{
	const char *path = installed_path(l, elf->path), *slash = strrchr(path, '/');
	struct layout_file *f = &l->file[l->count++];
	*f = (struct layout_file){.elf = elf, .base = slash ? slash + 1 : path, .is_module = is_python_module(elf)};
	f->dir = arena_copy(&l->text, (struct str){path, slash ? (size_t)(slash - path) : 0});
}

static size_t find_dir(const struct layout *l, const char *dir)
{
	size_t at = lower_bound(dir, l->dir, l->dirs, sizeof(*l->dir), is_string_before);
	return at < l->dirs && strcmp(l->dir[at], dir) == 0 ? at : l->dirs;
}

static void number_dirs(struct layout *l)
{
	l->dir = xcalloc(l->count, sizeof(*l->dir));
	for (size_t i = 0; i < l->count; i++)
		l->dir[i] = l->file[i].dir;
	qsort(l->dir, l->count, sizeof(*l->dir), compare_strings);
	for (size_t i = 0; i < l->count; i++)
		if (!l->dirs || strcmp(l->dir[l->dirs - 1], l->dir[i]) != 0)
			l->dir[l->dirs++] = l->dir[i];
	for (size_t i = 0; i < l->count; i++)
		l->file[i].dir_number = (uint32_t)find_dir(l, l->file[i].dir);
}

static int compare_keys(const void *a, const void *b)
{
	const struct layout_key *one = a, *other = b;
	int order = strcmp(one->key, other->key);
	return order ? order : one->file < other->file ? -1 : one->file > other->file;
}

static void sort_keys(struct layout_key *keys, size_t count)
{
	if (count)
		qsort(keys, count, sizeof(*keys), compare_keys);
}

static void index_files(struct layout *l)
{
	l->by_base = xcalloc(l->count, sizeof(*l->by_base));
	l->by_soname = xcalloc(l->count, sizeof(*l->by_soname));
	l->hashed = xcalloc(l->count, sizeof(*l->hashed));
	for (uint32_t i = 0; i < l->count; i++) {
		CLEANUP(buf_release) struct buf plain;
		struct str base = str_from(l->file[i].base);
		buf_init(&plain, PATH_MOST);
		l->by_base[i] = (struct layout_key){l->file[i].base, i};
		if (l->file[i].elf->elf.soname)
			l->by_soname[l->sonames++] = (struct layout_key){l->file[i].elf->elf.soname, i};
		if (wheel_library_is_hashed(base, &plain))
			l->hashed[l->hashes++] = (struct layout_key){arena_copy(&l->text, wheel_library_stem(base)), i};
	}
	sort_keys(l->by_base, l->count);
	sort_keys(l->by_soname, l->sonames);
	sort_keys(l->hashed, l->hashes);
}

static bool is_key_before(const void *element, const void *key)
{
	return strcmp(((const struct layout_key *)element)->key, key) < 0;
}

static bool is_key_not_after(const void *element, const void *key)
{
	return strcmp(((const struct layout_key *)element)->key, key) <= 0;
}

size_t layout_equal(const struct layout_key *keys, size_t count, const char *key, size_t *first)
{
	*first = lower_bound(key, keys, count, sizeof(*keys), is_key_before);
	return lower_bound(key, keys, count, sizeof(*keys), is_key_not_after);
}

const char *layout_search_path(const struct elf_facts *f)
{
	const char *path = f->runpath ? f->runpath : f->rpath;
	return path && *path ? path : NULL; // the loader ignores an empty one
}

// Whether the wheel has a member below that folder; head stands in front of it in the archive.
static bool has_members_below(const struct layout *l, const char *head, const char *scheme, struct str folder)
{
	CLEANUP(mem_free) char *key = xasprintf("%s%s" STR_FMT "/", head, scheme, STR_ARG(folder));
	size_t at = lower_bound(key, l->facts->member, l->facts->members, sizeof(*l->facts->member), is_string_before);
	return at < l->facts->members && str_starts(str_from(l->facts->member[at]), str_from(key));
}

// Whether the wheel has something in a folder below site-packages.
static bool has_folder(const struct layout *l, struct str path)
{
	return has_members_below(l, "", "", path) || has_members_below(l, l->data, "platlib/", path) ||
	       has_members_below(l, l->data, "purelib/", path);
}

// Whether the first folder of the path is one of this wheel's.
static bool has_package(const struct layout *l, struct str path)
{
	return has_folder(l, str_cut(&path, '/'));
}

static enum layout_place place_of_path(const struct layout *l, struct str path)
{
	if (str_eq(path, STR(SITE)))
		return LAYOUT_HERE;
	if (str_starts(path, STR(SITE "/"))) {
		struct str below = str_slice(path, sizeof(SITE), path.len);
		return has_folder(l, below) ? LAYOUT_HERE : has_package(l, below) ? LAYOUT_ABSENT : LAYOUT_PACKAGE;
	}
	return path.len && has_members_below(l, l->data, "data/", path) ? LAYOUT_HERE : LAYOUT_OUTSIDE;
}

// Appends the parts of a path to a folder; false: it leaves the prefix.
static bool add_parts(struct buf *out, struct str parts)
{
	while (parts.len) {
		struct str part = str_cut(&parts, '/');
		if (!part.len || str_eq(part, STR(".")))
			continue;
		if (str_eq(part, STR(".."))) {
			long slash = str_rfind(buf_view(out), '/');
			if (!out->len)
				return false;
			out->len = slash < 0 ? 0 : (size_t)slash;
			out->data[out->len] = '\0';
			continue;
		}
		if (out->len)
			buf_putc(out, '/');
		buf_str(out, part);
	}
	return !out->failed;
}

enum layout_place layout_resolve(const struct layout *l, const char *dir, struct str entry, struct buf *out)
{
	static const struct str origins[] = {STR("$ORIGIN"), STR("${ORIGIN}")};
	buf_clear(out);
	if (str_starts(entry, STR("/")))
		return LAYOUT_ABSOLUTE;
	for (size_t i = 0; i < ARRAY_SIZE(origins); i++) {
		struct str rest = str_slice(entry, entry.len < origins[i].len ? entry.len : origins[i].len, entry.len);
		if (!str_starts(entry, origins[i]) || (rest.len && *rest.ptr != '/'))
			continue;
		if (str_find(rest, '$') >= 0)
			return LAYOUT_UNKNOWN;
		buf_puts(out, dir);
		return add_parts(out, rest) ? place_of_path(l, buf_view(out)) : LAYOUT_OUTSIDE;
	}
	return str_starts(entry, STR("$")) ? LAYOUT_UNKNOWN : LAYOUT_RELATIVE;
}

static void add_path(struct layout *l, struct layout_file *f, const char *dir)
{
	size_t number = find_dir(l, dir);
	if (number == l->dirs)
		return;
	for (unsigned i = 0; i < f->paths; i++)
		if (f->path[i] == number)
			return;
	if (f->paths == LAYOUT_PATHS)
		f->is_cut = true;
	else
		f->path[f->paths++] = (uint32_t)number;
}

// The loader looks into each folder of the path. A path has at most LIMIT_ELF_STRING bytes.
static void read_search_path(struct layout *l, struct layout_file *f, struct buf *room)
{
	const struct elf_facts *elf = &f->elf->elf;
	const char *path = layout_search_path(elf);
	f->has_runpath = elf->runpath && *elf->runpath;
	f->is_inherited = !elf->runpath && path;
	struct str rest = str_from(path ? path : "");
	for (size_t i = 0; rest.len; i++) {
		struct str entry = str_cut(&rest, ':');
		if (i >= LIMIT_AUDIT_SEARCH_PATHS || l->entries++ >= ENTRIES_MOST) {
			f->is_cut = true;
			return;
		}
		enum layout_place place = layout_resolve(l, f->dir, entry, room);
		if (place > f->farthest)
			f->farthest = place;
		if (place != LAYOUT_ABSOLUTE && place != LAYOUT_RELATIVE && place != LAYOUT_UNKNOWN)
			add_path(l, f, buf_view(room).ptr);
	}
}

void layout_init(struct layout *l, const struct wheel_facts *facts, const struct filename *name)
{
	CLEANUP(buf_release) struct buf room;
	buf_init(&room, PATH_MOST);
	*l = (struct layout){.facts = facts, .data = xasprintf(STR_FMT ".data/", STR_ARG(name->stem))};
	l->file = xcalloc(facts->elfs + 1, sizeof(*l->file));
	for (size_t i = 0; i < facts->elfs; i++)
		place_file(l, &facts->elf[i]);
	if (!l->count)
		return;
	number_dirs(l);
	index_files(l);
	for (size_t i = 0; i < l->count; i++)
		read_search_path(l, &l->file[i], &room);
}

void layout_release(struct layout *l)
{
	free(l->file);
	free(l->dir);
	free(l->by_base);
	free(l->by_soname);
	free(l->hashed);
	free(l->data);
	arena_release(&l->text);
	*l = (struct layout){0};
}
