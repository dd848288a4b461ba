// SPDX-License-Identifier: Apache-2.0
#include "lib/audit/audit-layout.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/search.h"
#include "lib/facts/library-name.h"

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
	l->by_base = ARENA_NEW(&l->text, struct layout_key, l->count);
	l->by_soname = ARENA_NEW(&l->text, struct layout_key, l->count);
	l->hashed = ARENA_NEW(&l->text, struct layout_key, l->count);
	for (uint32_t i = 0; i < l->count; i++) {
		struct str base = str_from(l->file[i].base);
		CLEANUP(buf_release) struct buf plain = buf_up_to(PATH_MOST);
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
	CLEANUP(buf_release) struct buf room = buf_up_to(PATH_MOST);
	*l = (struct layout){.facts = facts};
	l->data = arena_printf(&l->text, STR_FMT ".data/", STR_ARG(name->stem));
	l->file = ARENA_NEW(&l->text, struct layout_file, facts->elfs);
	for (size_t i = 0; i < facts->elfs; i++)
		place_file(l, &facts->elf[i]);
	if (!l->count)
		return;
	l->dir = ARENA_NEW(&l->text, const char *, l->count);
	for (size_t i = 0; i < l->count; i++)
		l->dir[i] = l->file[i].dir;
	qsort(l->dir, l->count, sizeof(*l->dir), compare_strings);
	for (size_t i = 0; i < l->count; i++)
		if (!l->dirs || strcmp(l->dir[l->dirs - 1], l->dir[i]) != 0)
			l->dir[l->dirs++] = l->dir[i];
	for (size_t i = 0; i < l->count; i++)
		l->file[i].dir_number = (uint32_t)find_dir(l, l->file[i].dir);
	index_files(l);
	for (size_t i = 0; i < l->count; i++)
		read_search_path(l, &l->file[i], &room);
}

void layout_release(struct layout *l)
{
	arena_release(&l->text);
	*l = (struct layout){0};
}

// --- links ---

// A walk from a file up to all files that load it.
struct link_walk {
	uint32_t *queue;
	bool *is_seen;
	size_t count;
	struct arena text; // owns both
};

bool audit_links_step(struct audit_links *l, uint64_t steps)
{
	if (l->steps < steps)
		l->is_cut = true;
	l->steps -= l->is_cut ? l->steps : steps;
	return !l->is_cut;
}

uint32_t audit_links_target(const struct audit_links *l, uint32_t file, size_t n)
{
	return l->target[l->start[file] + n];
}

static bool is_same_machine(const struct layout_file *one, const struct layout_file *other)
{
	const struct elf_facts *a = &one->elf->elf, *b = &other->elf->elf;
	if (one->elf->damage)
		return true; // for all that is known
	return a->machine == b->machine && a->is_64 == b->is_64 && a->is_big_endian == b->is_big_endian;
}

// The file of that name in the folders of `searcher`, for a file that needs it.
static uint32_t find_by_path(struct audit_links *l, const struct layout_file *user, const struct layout_file *searcher,
	const char *name)
{
	size_t first, end;
	if (!audit_links_step(l, 1))
		return LINK_NONE;
	end = layout_equal(l->layout->by_base, l->layout->count, name, &first);
	if (first == end || !audit_links_step(l, (end - first) * searcher->paths + 1))
		return LINK_NONE;
	for (unsigned i = 0; i < searcher->paths; i++)
		for (size_t k = first; k < end; k++) {
			uint32_t number = l->layout->by_base[k].file;
			const struct layout_file *f = &l->layout->file[number];
			if (f->dir_number == searcher->path[i] && is_same_machine(f, user))
				return number;
		}
	return LINK_NONE;
}

static void add_use(struct audit_links *l, uint32_t user, uint32_t used)
{
	ARENA_GROW(&l->text, l->use, l->uses, l->use_room);
	l->use[l->uses++] = (struct audit_link_use){used, user};
}

static int compare_uses(const void *a, const void *b)
{
	const struct audit_link_use *one = a, *other = b;
	if (one->used != other->used)
		return one->used < other->used ? -1 : 1;
	return one->user < other->user ? -1 : one->user > other->user;
}

static bool is_use_before(const void *element, const void *key)
{
	return ((const struct audit_link_use *)element)->used < *(const uint32_t *)key;
}

static void sort_uses(struct audit_links *l)
{
	if (l->uses)
		qsort(l->use, l->uses, sizeof(*l->use), compare_uses);
	l->sorted_uses = l->uses;
}

static void link_walk_release(struct link_walk *w)
{
	arena_release(&w->text);
}

// Fills the queue with the file and all that load it, nearest first.
static void walk_up(struct audit_links *l, struct link_walk *w, uint32_t file)
{
	w->queue = ARENA_NEW(&w->text, uint32_t, l->layout->count);
	w->is_seen = ARENA_NEW(&w->text, bool, l->layout->count);
	w->queue[w->count++] = file;
	w->is_seen[file] = true;
	for (size_t at = 0; at < w->count; at++) {
		uint32_t used = w->queue[at];
		size_t i = lower_bound(&used, l->use, l->sorted_uses, sizeof(*l->use), is_use_before);
		for (; i < l->sorted_uses && l->use[i].used == used && audit_links_step(l, 1); i++)
			if (!w->is_seen[l->use[i].user]) {
				w->is_seen[l->use[i].user] = true;
				w->queue[w->count++] = l->use[i].user;
			}
	}
}

uint32_t audit_links_find(struct audit_links *l, uint32_t file, const char *name)
{
	const struct elf_list *needed = &l->layout->file[file].elf->elf.needed;
	for (size_t n = 0; n < needed->count && audit_links_step(l, 1); n++)
		if (strcmp(needed->item[n], name) == 0)
			return audit_links_target(l, file, n);
	return LINK_NONE;
}

// The loader takes the libraries of a file before those of its libraries, so what a loading file needs too is there.
static uint32_t find_by_loaders(struct audit_links *l, const struct link_walk *w, const char *name)
{
	const struct layout_file *user = &l->layout->file[w->queue[0]];
	for (size_t i = 1; i < w->count; i++) {
		const struct layout_file *loader = &l->layout->file[w->queue[i]];
		uint32_t found = audit_links_find(l, w->queue[i], name);
		if (found == LINK_NONE && loader->is_inherited && !user->has_runpath)
			found = find_by_path(l, user, loader, name);
		if (found != LINK_NONE)
			return found;
	}
	return LINK_NONE;
}

static bool link_by_loaders(struct audit_links *l, uint32_t number)
{
	CLEANUP(link_walk_release) struct link_walk walk = {0};
	const struct layout_file *f = &l->layout->file[number];
	bool is_changed = false;
	for (size_t n = 0; n < f->elf->elf.needed.count; n++) {
		uint32_t *target = &l->target[l->start[number] + n];
		if (*target != LINK_NONE)
			continue;
		const char *name = f->elf->elf.needed.item[n];
		size_t first;
		if (!(layout_equal(l->layout->by_base, l->layout->count, name, &first) > first))
			continue;
		if (!walk.count && audit_links_step(l, l->layout->count))
			walk_up(l, &walk, number);
		if (l->is_cut)
			return false;
		*target = find_by_loaders(l, &walk, f->elf->elf.needed.item[n]);
		if (*target != LINK_NONE)
			add_use(l, number, *target);
		is_changed |= *target != LINK_NONE;
	}
	return is_changed;
}

void audit_links_init(struct audit_links *l, const struct layout *layout)
{
	size_t libraries = 0;
	*l = (struct audit_links){.layout = layout, .steps = LIMIT_AUDIT_STEPS};
	l->start = ARENA_NEW(&l->text, size_t, layout->count);
	for (size_t i = 0; i < layout->count; i++) {
		l->start[i] = libraries;
		libraries += layout->file[i].elf->elf.needed.count;
	}
	l->target = ARENA_NEW(&l->text, uint32_t, libraries);
	for (uint32_t i = 0; i < layout->count; i++) {
		const struct layout_file *f = &l->layout->file[i];
		for (size_t n = 0; n < f->elf->elf.needed.count; n++) {
			uint32_t target =
				l->is_cut ? (uint32_t)LINK_NONE : find_by_path(l, f, f, f->elf->elf.needed.item[n]);
			l->target[l->start[i] + n] = target;
			if (target != LINK_NONE)
				add_use(l, i, target);
		}
	}
	// Each library that is found so may lead to others.
	for (bool is_changed = true; is_changed && audit_links_step(l, l->uses + layout->count);) {
		sort_uses(l);
		is_changed = false;
		for (uint32_t i = 0; i < layout->count; i++)
			is_changed |= link_by_loaders(l, i);
	}
	sort_uses(l);
}

void audit_links_release(struct audit_links *l)
{
	arena_release(&l->text);
	*l = (struct audit_links){0};
}

enum layout_place audit_links_farthest(struct audit_links *l, uint32_t file)
{
	CLEANUP(link_walk_release) struct link_walk walk = {0};
	const struct layout_file *f = &l->layout->file[file];
	enum layout_place farthest = f->is_cut ? LAYOUT_UNKNOWN : f->farthest;
	if (farthest > LAYOUT_ABSENT || f->has_runpath || !audit_links_step(l, l->layout->count))
		return farthest;
	walk_up(l, &walk, file);
	for (size_t i = 1; i < walk.count; i++) {
		const struct layout_file *loader = &l->layout->file[walk.queue[i]];
		if (loader->is_inherited && loader->farthest > farthest)
			farthest = loader->farthest;
	}
	return farthest;
}
