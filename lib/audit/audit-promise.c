// SPDX-License-Identifier: Apache-2.0
#include "lib/audit/audit-promise.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/decimal.h"
#include "lib/base/mem.h"

enum { NUMBER_MOST = 100000 };

static void copy_tag(char out[PROMISE_TAG_SIZE], struct str tag)
{
	snprintf(out, PROMISE_TAG_SIZE, STR_FMT, STR_ARG(str_head(tag, PROMISE_TAG_SIZE - 1)));
}

// The entry of an architecture; NULL: it is unknown, or there are too many.
static struct promise_arch *entry_of(struct promise *p, struct str name)
{
	const struct elf_arch *arch = elf_arch_find(name);
	for (size_t i = 0; arch && i < p->count; i++)
		if (p->arch[i].arch == arch)
			return &p->arch[i];
	if (!arch || p->count == PROMISE_ARCHES)
		return NULL;
	p->arch[p->count] = (struct promise_arch){.arch = arch};
	return &p->arch[p->count++];
}

static void take_glibc(struct promise_arch *a, unsigned minor, struct str tag)
{
	if (a->glibc && a->glibc <= minor)
		return;
	a->glibc = minor;
	copy_tag(a->glibc_tag, tag);
}

static void take_musl(struct promise_arch *a, unsigned version, struct str tag)
{
	if (a->musl && a->musl <= version)
		return;
	a->musl = version;
	copy_tag(a->musl_tag, tag);
}

// Cuts "2_17_" off the text.
static bool cut_version(struct str *text, unsigned *major, unsigned *minor)
{
	uint64_t one, other;
	if (!decimal_cut(text, NUMBER_MOST, &one) || !text->len || *text->ptr != '_')
		return false;
	*text = str_slice(*text, 1, text->len);
	if (!decimal_cut(text, NUMBER_MOST, &other) || !text->len || *text->ptr != '_')
		return false;
	*text = str_slice(*text, 1, text->len);
	*major = (unsigned)one;
	*minor = (unsigned)other;
	return true;
}

static bool cut_prefix(struct str *text, struct str prefix)
{
	if (!str_starts(*text, prefix))
		return false;
	*text = str_slice(*text, prefix.len, text->len);
	return true;
}

// False: it is no tag of Linux that can be judged.
static bool take_linux_tag(struct promise *p, struct str tag)
{
	static const struct {
		struct str prefix;
		unsigned minor;
	} legacy[] = {{STR("manylinux1_"), 5}, {STR("manylinux2010_"), 12}, {STR("manylinux2014_"), 17}};
	struct promise_arch *a;
	struct str rest = tag;
	unsigned major, minor;
	for (size_t i = 0; i < ARRAY_SIZE(legacy); i++)
		if (cut_prefix(&rest, legacy[i].prefix)) {
			if ((a = entry_of(p, rest)))
				take_glibc(a, legacy[i].minor, tag);
			return a;
		}
	if (cut_prefix(&rest, STR("linux_"))) {
		if ((a = entry_of(p, rest)))
			a->has_linux = true;
		return a;
	}
	bool is_musl = cut_prefix(&rest, STR("musllinux_"));
	if ((!is_musl && !cut_prefix(&rest, STR("manylinux_"))) || !cut_version(&rest, &major, &minor) ||
		(!is_musl && major != 2) || !(a = entry_of(p, rest)))
		return false;
	if (is_musl)
		take_musl(a, major * 100 + minor, tag);
	else
		take_glibc(a, minor, tag);
	return true;
}

static bool is_without_elf(struct str tag)
{
	static const struct str prefixes[] = {STR("macosx_"), STR("win"), STR("ios_"), STR("pyodide_"),
		STR("pyemscripten_"), STR("emscripten_"), STR("wasi_")};
	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (str_starts(tag, prefixes[i]))
			return true;
	return false;
}

static unsigned row_minor(const struct manylinux *row)
{
	struct str text = str_from(row->glibc);
	uint64_t minor = 0;
	str_cut(&text, '.');
	decimal_cut(&text, NUMBER_MOST, &minor);
	return (unsigned)minor;
}

void promise_init(struct promise *p, const struct filename *wheel)
{
	struct str rest = wheel->platform;
	bool has_elf = false;
	*p = (struct promise){0};
	copy_tag(p->first, str_slice(rest, 0, str_find(rest, '.') < 0 ? rest.len : (size_t)str_find(rest, '.')));
	while (rest.ptr) {
		struct str tag = str_cut(&rest, '.');
		bool is_elsewhere = is_without_elf(tag), is_any = str_eq_nocase(tag, STR("any"));
		has_elf |= !is_elsewhere;
		p->is_any |= is_any;
		if (!is_elsewhere && !is_any && !take_linux_tag(p, tag))
			p->is_not_judged = true;
	}
	p->is_elsewhere = !has_elf;
	for (size_t i = 0; i < p->count; i++)
		if (p->arch[i].glibc) {
			struct promise_arch *a = &p->arch[i];
			const struct manylinux *row = NULL;
			a->is_above_table = true;
			while ((row = manylinux_next(a->arch->name, row))) {
				if (!a->row || row_minor(row) <= a->glibc)
					a->row = row;
				if (row_minor(row) >= a->glibc)
					a->is_above_table = false;
			}
		}
}

const struct promise_arch *promise_find(const struct promise *p, const struct elf_facts *f)
{
	for (size_t i = 0; i < p->count; i++)
		if (elf_arch_fits(p->arch[i].arch, f))
			return &p->arch[i];
	return NULL;
}

bool promise_allows_version(const struct promise_arch *a, struct str version)
{
	struct str rest = version;
	uint64_t minor;
	if (!a->glibc)
		return true;
	if (cut_prefix(&rest, STR("GLIBC_2."))) {
		// A row's glibc may be below the tag's, where the table has no row for the tag.
		if (decimal_cut(&rest, NUMBER_MOST, &minor) && minor <= a->glibc)
			return true;
		return a->row && manylinux_allows_version(a->row, version);
	}
	return !a->row || a->is_above_table || manylinux_allows_version(a->row, version);
}

bool promise_allows_library(const struct promise_arch *a, struct str soname)
{
	if (a->glibc && a->row && !manylinux_allows_library(a->row, soname))
		return false;
	return !a->musl || musllinux_allows_library(a->arch->name, soname);
}

bool promise_is_strict(const struct promise_arch *a)
{
	return (a->glibc && a->row) || a->musl;
}

const char *promise_tag(const struct promise_arch *a)
{
	return *a->glibc_tag ? a->glibc_tag : *a->musl_tag ? a->musl_tag : "linux";
}
