// SPDX-License-Identifier: Apache-2.0
#include "auditor/rebuild/rebuild-scope.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/search.h"
#include "lib/domain/elf/elf-arch.h"

// Libraries that an interpreter has loaded already, as CPython is usually built.
static const char *const of_python[] = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1",
	"libutil.so.1", "libz.so.1", "libexpat.so.1", "libc.so"};

// --- names ---

static void list_exports(struct rebuild_scope *s)
{
	size_t room = 0;
	for (size_t i = 0; i < s->facts->elfs; i++)
		room += s->facts->elf[i].damage ? 0 : s->facts->elf[i].elf.symbols;
	s->exported = xcalloc(room + 1, sizeof(*s->exported));
	for (size_t i = 0; i < s->facts->elfs; i++) {
		const struct wheel_elf *w = &s->facts->elf[i];
		for (size_t k = 0; !w->damage && k < w->elf.symbols; k++)
			if (!w->elf.symbol[k].is_imported)
				s->exported[s->exports++] = w->elf.symbol[k].name;
	}
	qsort(s->exported, s->exports, sizeof(*s->exported), compare_strings);
	s->work += room;
}

// --- libraries of the platform ---

static void add_library(struct rebuild_scope *s, bool *is_listed, const char *arch, const char *soname)
{
	const struct offer_library *l = platform_offer_find(s->offer, arch, str_from(soname));
	if (!l || is_listed[platform_offer_number(s->offer, l)])
		return;
	is_listed[platform_offer_number(s->offer, l)] = true;
	s->library[s->libraries++] = l;
}

static void add_needs_of_file(struct rebuild_scope *s, bool *is_listed, const struct elf_facts *elf)
{
	const char *arch = elf_arch(elf);
	for (size_t i = 0; arch && i < elf->needed.count; i++)
		if (!rebuild_scope_brings(s, elf->needed.item[i]))
			add_library(s, is_listed, arch, elf->needed.item[i]);
	for (size_t i = 0; arch && i < ARRAY_SIZE(of_python); i++)
		add_library(s, is_listed, arch, of_python[i]);
}

// What the libraries need is behind them in the list, which therefore grows meanwhile.
static void list_libraries(struct rebuild_scope *s)
{
	size_t most = platform_offer_count(s->offer);
	CLEANUP(mem_free) bool *is_listed = xcalloc(most + 1, sizeof(*is_listed));
	s->library = xcalloc(most + 1, sizeof(struct offer_library *));
	for (size_t i = 0; i < s->facts->elfs; i++)
		if (!s->facts->elf[i].damage)
			add_needs_of_file(s, is_listed, &s->facts->elf[i].elf);
	for (size_t i = 0; i < s->libraries; i++)
		for (size_t k = 0; k < s->library[i]->needed.count; k++)
			add_library(s, is_listed, s->library[i]->arch, s->library[i]->needed.item[k]);
}

void rebuild_scope_init(struct rebuild_scope *s, const struct wheel_facts *facts, const struct filename *name,
	const struct platform_offer *offer)
{
	*s = (struct rebuild_scope){.facts = facts, .offer = offer};
	layout_init(&s->layout, facts, name);
	list_libraries(s);
}

void rebuild_scope_release(struct rebuild_scope *s)
{
	layout_release(&s->layout);
	free(s->library);
	free(s->exported);
	*s = (struct rebuild_scope){0};
}

// --- questions ---

bool rebuild_scope_brings(struct rebuild_scope *s, const char *soname)
{
	const struct layout *l = &s->layout;
	size_t first;
	s->work++;
	return layout_equal(l->by_base, l->count, soname, &first) > first ||
	       layout_equal(l->by_soname, l->sonames, soname, &first) > first;
}

bool rebuild_scope_has_symbol(struct rebuild_scope *s, const char *symbol, const char *version)
{
	s->work += s->libraries + 1;
	for (size_t i = 0; i < s->libraries; i++)
		if (!s->library[i]->is_readable || offer_library_has_symbol(s->library[i], symbol, version))
			return true;
	if (!s->exported)
		list_exports(s);
	size_t at = lower_bound(symbol, s->exported, s->exports, sizeof(*s->exported), is_string_before);
	return at < s->exports && strcmp(s->exported[at], symbol) == 0;
}

bool rebuild_scope_is_exhausted(const struct rebuild_scope *s)
{
	return s->work > LIMIT_REBUILD_WORK;
}

// --- search paths ---

static enum rebuild_search search_entry(const struct layout *l, const char *dir, struct str entry, struct buf *room)
{
	static const enum rebuild_search of_place[LAYOUT_PLACE_COUNT] = {
		[LAYOUT_HERE] = REBUILD_SEARCH_SYSTEM,
		[LAYOUT_ABSENT] = REBUILD_SEARCH_PACKAGE,
		[LAYOUT_PACKAGE] = REBUILD_SEARCH_PACKAGE,
		[LAYOUT_OUTSIDE] = REBUILD_SEARCH_FOLDER,
		[LAYOUT_ABSOLUTE] = REBUILD_SEARCH_FOLDER,
		[LAYOUT_RELATIVE] = REBUILD_SEARCH_SYSTEM,
		[LAYOUT_UNKNOWN] = REBUILD_SEARCH_FOLDER,
	};
	return of_place[layout_resolve(l, dir, entry, room)];
}

static const struct layout_file *find_placed(const struct layout *l, const struct wheel_elf *file)
{
	for (size_t i = 0; i < l->count; i++)
		if (l->file[i].elf == file)
			return &l->file[i];
	return NULL;
}

enum rebuild_search rebuild_scope_search(struct rebuild_scope *s, const struct wheel_elf *file)
{
	const char *path = layout_search_path(&file->elf);
	const struct layout_file *placed = path ? find_placed(&s->layout, file) : NULL;
	enum rebuild_search found = REBUILD_SEARCH_SYSTEM;
	CLEANUP(buf_release) struct buf room;
	buf_init(&room, LIMIT_ELF_STRING + LIMIT_PATH);
	s->work += s->layout.count + 1;
	for (struct str rest = str_from(placed ? path : ""); rest.len && !rebuild_scope_is_exhausted(s);) {
		enum rebuild_search one = search_entry(&s->layout, placed->dir, str_cut(&rest, ':'), &room);
		found = one > found ? one : found;
		s->work += 100;
	}
	return found;
}
