// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "lib/audit/audit-checks.h"
#include "lib/base/decimal.h"
#include "lib/base/limits.h"
#include "lib/base/search.h"
#include "lib/domain/elf/stable-abi.h"

enum { MINOR_MOST = 1000 };

// Symbols of the wheel's own files that look like Python's, sorted.
struct own_symbols {
	const char **name;
	size_t count, room;
};

static void own_symbols_release(struct own_symbols *o)
{
	free(o->name);
}

static bool has_tag(struct str set, struct str tag)
{
	while (set.ptr)
		if (str_eq(str_cut(&set, '.'), tag))
			return true;
	return false;
}

// The minor version of the lowest Python 3 of the name; MINOR_MOST: none. Only cp3 tags stand before abi3 (PEP 425).
static unsigned lowest_python(struct str set)
{
	uint64_t lowest = MINOR_MOST, minor;
	while (set.ptr) {
		struct str tag = str_cut(&set, '.');
		if (str_starts(tag, STR("cp3")) && decimal_parse(str_slice(tag, 3, tag.len), MINOR_MOST, &minor) &&
			minor < lowest)
			lowest = minor;
	}
	return (unsigned)lowest;
}

static void collect_own(struct audit_work *w, struct own_symbols *o)
{
	for (size_t i = 0; i < w->layout.count; i++) {
		const struct elf_facts *f = &w->layout.file[i].elf->elf;
		bool is_in_time = audit_links_step(&w->links, f->symbols / 4);
		for (size_t k = 0; is_in_time && k < f->symbols; k++)
			if (!f->symbol[k].is_imported && stable_abi_is_python(str_from(f->symbol[k].name))) {
				GROW(o->name, o->count, o->room);
				o->name[o->count++] = f->symbol[k].name;
			}
	}
	if (o->count)
		qsort(o->name, o->count, sizeof(*o->name), compare_strings);
}

static bool is_own(const struct own_symbols *o, const char *name)
{
	return o->count && bsearch(&name, o->name, o->count, sizeof(*o->name), compare_strings);
}

static bool is_of_python(const struct own_symbols *own, const struct elf_symbol *s)
{
	return s->is_imported && !s->is_weak && !s->library && stable_abi_is_python(str_from(s->name)) &&
	       !is_own(own, s->name);
}

// A module that its name binds to one version, such as x.cpython-311-x86_64-linux-gnu.so, is imported by no other.
static bool is_for_one_python(const struct layout_file *f)
{
	return strstr(f->base, ".cpython-") || strstr(f->base, ".pypy");
}

// Whether the library may have symbols of its own that look like Python's, as shiboken's does: neither this wheel has it,
// nor is it one of the system's.
static bool is_of_others(const char *library)
{
	struct str soname = str_from(library);
	const struct manylinux *row = NULL, *last = NULL;
	while ((row = manylinux_next("x86_64", row)))
		last = row;
	return !manylinux_allows_library(last, soname) && !manylinux_is_loader(soname) &&
	       !str_starts(soname, STR("libc.")) && !str_starts(soname, STR("libpython"));
}

static bool needs_others(struct audit_work *w, uint32_t file)
{
	const struct elf_list *needed = &w->layout.file[file].elf->elf.needed;
	for (size_t n = 0; n < needed->count; n++)
		if (audit_links_target(&w->links, file, n) == LINK_NONE && is_of_others(needed->item[n]))
			return true;
	return false;
}

struct abi3_list {
	struct buf names;
	size_t count;
};

static void judge_symbols(struct audit_work *w, uint32_t file, const struct own_symbols *own, unsigned lowest,
	struct abi3_list *absent, struct abi3_list *newer)
{
	const struct layout_file *f = &w->layout.file[file];
	bool has_others = needs_others(w, file);
	if (!audit_links_step(&w->links, f->elf->elf.symbols / 2))
		return;
	for (size_t i = 0; i < f->elf->elf.symbols; i++) {
		const struct elf_symbol *s = &f->elf->elf.symbol[i];
		int since = is_of_python(own, s) ? stable_abi_since(str_from(s->name)) : 0;
		CLEANUP(mem_free)
		char *text = since > (int)lowest ? xasprintf("%.200s (of Python 3.%d)", s->name, since) : NULL;
		if (since < 0 && (!has_others || stable_abi_has_kin(str_from(s->name))))
			audit_list_name(&absent->names, absent->count++, s->name);
		if (text)
			audit_list_name(&newer->names, newer->count++, text);
	}
	audit_list_end(&absent->names, absent->count);
	audit_list_end(&newer->names, newer->count);
	if (absent->count)
		audit_find(w, AUDIT_ABI3, f->elf->path,
			"imports %s, outside of the stable ABI that the tag abi3 promises: another Python than the one it was "
			"built with may fail to load it",
			absent->names.data);
	if (newer->count)
		audit_find(w, AUDIT_ABI3, f->elf->path,
			"imports %s, which the stable ABI has only since then, but the name promises cp3%u: an older Python may "
			"lack it, and then fails to load the module",
			newer->names.data, lowest);
}

static void judge_abi3(struct audit_work *w, uint32_t file, const struct own_symbols *own, unsigned lowest)
{
	struct abi3_list absent = {.count = 0}, newer = {.count = 0};
	buf_init(&absent.names, LIMIT_AUDIT_WHY);
	buf_init(&newer.names, LIMIT_AUDIT_WHY);
	judge_symbols(w, file, own, lowest, &absent, &newer);
	buf_release(&absent.names);
	buf_release(&newer.names);
}

void audit_check_abi3(struct audit_work *w)
{
	CLEANUP(own_symbols_release) struct own_symbols own = {0};
	unsigned lowest = lowest_python(w->name->python);
	if ((!has_tag(w->name->abi, STR("abi3")) && !has_tag(w->name->abi, STR("abi3t"))) || lowest == MINOR_MOST)
		return;
	collect_own(w, &own);
	for (uint32_t i = 0; i < w->layout.count; i++) {
		const struct layout_file *f = &w->layout.file[i];
		if (f->elf->elf.is_shared && elf_arch_is_host(&f->elf->elf) && !is_for_one_python(f))
			judge_abi3(w, i, &own, lowest);
	}
}
