// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "lib/audit/audit-work.h"
#include "lib/base/decimal.h"

enum { ARCHES = 16, NUMBER_MOST = 100000, COST_VERSION = 64 }; // a look at all rows of a table

// The lowest tag that holds for the files of one architecture.
struct tag_floor {
	const struct elf_arch *arch;
	const struct promise_arch *promised;       // NULL: the name does not have it
	const struct manylinux *row, *library_row; // by symbol versions; by libraries
	unsigned above;                            // the minor version of a glibc that no row has; 0: none
	bool is_impossible, lacks_library;         // no tag allows a version, or a library
};

struct tag_check {
	struct audit_work *work;
	struct tag_floor floor[ARCHES];
	size_t floors;
};

// The lowest row that allows the version. NULL: none does.
static const struct manylinux *lowest_row(const struct elf_arch *arch, struct str version)
{
	const struct manylinux *row = NULL;
	while ((row = manylinux_next(arch->name, row)))
		if (manylinux_allows_version(row, version))
			return row;
	return NULL;
}

// The minor version of "GLIBC_2.43". 0: it is no such version.
static unsigned glibc_minor(struct str version)
{
	uint64_t minor = 0;
	if (!str_starts(version, STR("GLIBC_2.")))
		return 0;
	version = str_slice(version, 8, version.len);
	decimal_cut(&version, NUMBER_MOST, &minor);
	return (unsigned)minor;
}

static struct tag_floor *floor_of(struct tag_check *c, const struct elf_facts *f)
{
	const struct elf_arch *arch = elf_arch_of(f);
	for (size_t i = 0; arch && i < c->floors; i++)
		if (c->floor[i].arch == arch)
			return &c->floor[i];
	const struct promise_arch *promised = promise_find(&c->work->promise, f);
	bool is_other = c->work->promise.count && !promised; // a finding of its own
	if (!arch || is_other || c->floors == ARCHES)
		return NULL;
	const struct manylinux *row = manylinux_next(arch->name, NULL);
	c->floor[c->floors] = (struct tag_floor){.arch = arch, .promised = promised, .row = row, .library_row = row};
	return &c->floor[c->floors++];
}

static void find_low_tag(struct tag_check *c, const struct layout_file *f, const struct tag_floor *floor,
	const struct elf_version *v, const struct manylinux *row)
{
	struct str version = str_from(v->name), rest = version, name = str_cut(&rest, '_');
	const struct promise_arch *a = floor->promised;
	char most[64], tag[64];
	if (str_eq(name, STR("GLIBC")))
		snprintf(most, sizeof(most), "GLIBC_2.%u", a->glibc);
	else
		snprintf(most, sizeof(most), STR_FMT "_" STR_FMT, STR_ARG(str_head(name, 24)),
			STR_ARG(str_head(manylinux_most(a->row, name), 24)));
	if (row)
		snprintf(tag, sizeof(tag), "manylinux_2_%s_%s", row->glibc + 2, row->arch);
	else if (glibc_minor(version))
		snprintf(tag, sizeof(tag), "manylinux_2_%u_%s", glibc_minor(version), a->arch->name);
	if (row || glibc_minor(version))
		audit_find(c->work, AUDIT_TAG_TOO_LOW, f->elf->path,
			"needs %s of %s, but %s promises only up to %s: on older systems it fails to load, with "
			"\"version `%s' not found\"; this file is for %s",
			v->name, v->library, a->glibc_tag, most, v->name, tag);
	else
		audit_find(c->work, AUDIT_TAG_TOO_LOW, f->elf->path,
			"needs %s of %s, which no manylinux tag allows: it differs between systems, so the file may fail to "
			"load",
			v->name, v->library);
}

// The versions of one library stand together; of those that the tag does not promise, the one with the highest tag is a
// finding. Returns the index of the next library.
static size_t check_library(struct tag_check *c, uint32_t file, struct tag_floor *floor, size_t i)
{
	const struct layout_file *f = &c->work->layout.file[file];
	const struct elf_facts *elf = &f->elf->elf;
	const char *library = elf->needed_version[i].library;
	const struct elf_version *worst = NULL;
	const struct manylinux *worst_row = NULL;
	if (!audit_links_step(&c->work->links, COST_VERSION))
		return elf->needed_versions;
	bool is_ours =
		manylinux_is_loader(str_from(library)) || audit_links_find(&c->work->links, file, library) != LINK_NONE;
	for (; i < elf->needed_versions && strcmp(elf->needed_version[i].library, library) == 0; i++) {
		const struct elf_version *v = &elf->needed_version[i];
		if (is_ours || v->is_weak || !audit_links_step(&c->work->links, COST_VERSION))
			continue;
		const struct manylinux *row = lowest_row(floor->arch, str_from(v->name));
		unsigned minor = glibc_minor(str_from(v->name));
		if (row && row > floor->row)
			floor->row = row;
		if (!row && minor > floor->above)
			floor->above = minor;
		if (!row && !minor)
			floor->is_impossible = true;
		if (!floor->promised || promise_allows_version(floor->promised, str_from(v->name)))
			continue;
		// Whether one version needs a higher tag than another one; NULL: there is no such tag.
		if (!worst || (worst_row && (!row || row > worst_row))) {
			worst = v;
			worst_row = row;
		}
	}
	if (worst)
		find_low_tag(c, f, floor, worst, worst_row);
	return i;
}

// Whether a file of the wheel defines the symbol, so that no library of the system needs to.
static bool is_defined_here(struct audit_work *w, const char *symbol)
{
	for (size_t i = 0; i < w->layout.count; i++) {
		const struct elf_facts *f = &w->layout.file[i].elf->elf;
		if (!audit_links_step(&w->links, f->symbols / 4))
			return true; // unknown
		for (size_t k = 0; k < f->symbols; k++)
			if (!f->symbol[k].is_imported && strcmp(f->symbol[k].name, symbol) == 0)
				return true;
	}
	return false;
}

static void judge_symbol(struct tag_check *c, const char *member, struct tag_floor *floor, const char *soname,
	const char *symbol)
{
	struct str name = str_from(symbol), library = str_from(soname);
	const struct promise_arch *a = floor->promised;
	bool is_low = a && a->glibc && a->row && !manylinux_allows_symbol(a->row, library, name);
	if (is_low || (a && a->musl && !musllinux_allows_symbol(library, name)))
		audit_find(c->work, AUDIT_TAG_TOO_LOW, member,
			"needs the symbol %s of %s, which is private there, or newer than the oldest systems of %s: where it "
			"is absent the file fails to load, with \"undefined symbol: %s\"",
			symbol, soname, is_low ? a->glibc_tag : a->musl_tag, symbol);
	while (floor->library_row && !manylinux_allows_symbol(floor->library_row, library, name)) {
		const struct manylinux *next = manylinux_next(floor->arch->name, floor->library_row);
		floor->lacks_library |= !next;
		if (!next)
			return;
		floor->library_row = next;
	}
}

// Symbols of allowed libraries that no version tells from others. A weak one may be absent.
static void check_symbols(struct tag_check *c, uint32_t file, struct tag_floor *floor)
{
	const struct wheel_elf *elf = c->work->layout.file[file].elf;
	if (!audit_links_step(&c->work->links, elf->elf.symbols / 4))
		return;
	for (size_t i = 0; i < elf->elf.symbols; i++) {
		const struct elf_symbol *s = &elf->elf.symbol[i];
		if (!s->is_imported || s->is_weak || !manylinux_judges_symbol(str_from(s->name)) ||
			is_defined_here(c->work, s->name))
			continue;
		for (size_t n = 0; n < elf->elf.needed.count; n++)
			if (audit_links_target(&c->work->links, file, n) == LINK_NONE &&
				audit_links_step(&c->work->links, COST_VERSION))
				judge_symbol(c, elf->path, floor, elf->elf.needed.item[n], s->name);
	}
}

static void check_file(struct tag_check *c, uint32_t file)
{
	const struct elf_facts *elf = &c->work->layout.file[file].elf->elf;
	struct tag_floor *floor = elf_arch_is_host(elf) && !elf->is_relocatable ? floor_of(c, elf) : NULL;
	if (!floor || !floor->row)
		return;
	for (size_t i = 0; i < elf->needed_versions;)
		i = check_library(c, file, floor, i);
	for (size_t n = 0; n < elf->needed.count; n++)
		if (audit_links_target(&c->work->links, file, n) == LINK_NONE &&
			audit_links_step(&c->work->links, COST_VERSION)) {
			struct str soname = str_from(elf->needed.item[n]);
			const struct manylinux *row = floor->library_row;
			if (!manylinux_is_loader(soname)) {
				while (row && !manylinux_allows_library(row, soname))
					row = manylinux_next(floor->arch->name, row);
				if (row)
					floor->library_row = row;
				else
					floor->lacks_library = true;
			}
		}
	check_symbols(c, file, floor);
}

static void add_tag(char out[AUDIT_TAG_SIZE], const char *tag)
{
	size_t used = strlen(out);
	snprintf(out + used, AUDIT_TAG_SIZE - used, "%s%s", used ? "." : "", tag);
}

static void add_glibc_tag(char out[AUDIT_TAG_SIZE], const struct tag_floor *f, const struct manylinux *row)
{
	char tag[64];
	if (f->is_impossible || !row)
		snprintf(tag, sizeof(tag), "linux_%s", f->arch->name);
	else if (f->above)
		snprintf(tag, sizeof(tag), "manylinux_2_%u_%s", f->above, f->arch->name);
	else
		snprintf(tag, sizeof(tag), "manylinux_2_%s_%s", row->glibc + 2, f->arch->name);
	add_tag(out, tag);
}

void audit_check_tag(struct audit_work *w)
{
	struct tag_check c = {.work = w};
	if (w->promise.is_elsewhere)
		return;
	for (uint32_t i = 0; i < w->layout.count; i++)
		check_file(&c, i);
	for (size_t i = 0; i < c.floors; i++) {
		// Nothing in a file tells musl 1.1 from 1.2, so the name is believed.
		struct audit_report *r = w->report;
		const struct tag_floor *f = &c.floor[i];
		const struct promise_arch *a = f->promised;
		bool is_musl = a && a->musl, is_glibc = !is_musl || a->glibc;
		char linux[64];
		snprintf(linux, sizeof(linux), "linux_%s", f->arch->name);
		if (is_glibc)
			add_glibc_tag(r->symbol_tag, f, f->row);
		if (is_musl)
			add_tag(r->symbol_tag, a->musl_tag);
		if (is_glibc && f->lacks_library)
			add_tag(r->tag, linux);
		else if (is_glibc)
			add_glibc_tag(r->tag, f, f->row > f->library_row ? f->row : f->library_row);
		if (is_musl)
			add_tag(r->tag, a->musl_tag);
	}
	if (!c.floors) {
		add_tag(w->report->tag, "any");
		add_tag(w->report->symbol_tag, "any");
	}
}
