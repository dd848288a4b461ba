// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/elf/manylinux.h"

#include <stdint.h>
#include <string.h>

#include "lib/base/decimal.h"
#include "lib/base/mem.h"
#include "lib/base/search.h"

// The rows of manylinux.txt.
static const struct manylinux rows[] = {
#include "lib/domain/elf/manylinux.inc"
};

// The rows of forbidden-symbols.txt.
static const struct forbidden_symbol {
	const char *symbol, *soname;
	const char *glibc_minor; // the lowest one whose tag allows the symbol; "-": none
	const char *musl;        // "yes": musllinux tags allow it
} forbidden[] = {
#include "lib/domain/elf/forbidden-symbols.inc"
};

// Libraries of the system, and the lowest glibc from which on a tag allows them.
static const struct {
	const char *soname;
	unsigned minor; // of glibc 2
} libraries[] = {{"libGL.so.1", 0}, {"libICE.so.6", 0}, {"libSM.so.6", 0}, {"libX11.so.6", 0}, {"libXext.so.6", 0},
	{"libXrender.so.1", 0}, {"libanl.so.1", 0}, {"libatomic.so.1", 0}, {"libc.so.6", 0}, {"libdl.so.2", 0},
	{"libexpat.so.1", 12}, {"libgcc_s.so.1", 0}, {"libglib-2.0.so.0", 0}, {"libgobject-2.0.so.0", 0},
	{"libgthread-2.0.so.0", 0}, {"libm.so.6", 0}, {"libmvec.so.1", 24}, {"libnsl.so.1", 0}, {"libpthread.so.0", 0},
	{"libresolv.so.2", 0}, {"librt.so.1", 0}, {"libstdc++.so.6", 0}, {"libutil.so.1", 0}, {"libz.so.1", 0}};

const struct manylinux *manylinux_next(const char *arch, const struct manylinux *previous)
{
	for (size_t i = previous ? (size_t)(previous - rows) + 1 : 0; i < ARRAY_SIZE(rows); i++)
		if (strcmp(rows[i].arch, arch) == 0)
			return &rows[i];
	return NULL;
}

enum { NUMBER_MOST = 1000000 };

// Compares versions of numbers with dots or underscores between. False if one is not such a version.
static bool is_at_most(struct str version, struct str most)
{
	while (version.len) {
		uint64_t a, b = 0;
		if (!decimal_cut(&version, NUMBER_MOST, &a) || (most.len && !decimal_cut(&most, NUMBER_MOST, &b)))
			return false;
		if (a != b)
			return a < b;
		if (version.len && *version.ptr != '.' && *version.ptr != '_')
			return false;
		version = str_slice(version, version.len > 0, version.len);
		most = str_slice(most, most.len > 0, most.len);
	}
	return true;
}

static bool allowed_by(struct str rule, struct str version)
{
	struct str most = str_cut(&rule, ',');
	if (version.len && is_at_most(version, most))
		return true;
	while (rule.len)
		if (str_eq(str_cut(&rule, ','), version))
			return true;
	return false;
}

// What the row says of versions with that name; ptr NULL: nothing.
static struct str find_rule(const struct manylinux *tag, struct str name)
{
	struct str rules = str_from(tag->allowed);
	while (rules.len) {
		struct str rule = str_cut(&rules, ' ');
		if (str_eq(str_cut(&rule, '='), name))
			return rule;
	}
	return (struct str){0};
}

bool manylinux_allows_version(const struct manylinux *tag, struct str version)
{
	struct str name = str_cut(&version, '_'), rule = find_rule(tag, name);
	return !rule.ptr || allowed_by(rule, version);
}

struct str manylinux_most(const struct manylinux *tag, struct str name)
{
	struct str rule = find_rule(tag, name);
	return str_cut(&rule, ',');
}

// The number behind the dot of the tag's glibc.
static unsigned minor_of(const struct manylinux *tag)
{
	struct str minor = str_from(tag->glibc);
	uint64_t number = 0;
	str_cut(&minor, '.');
	return decimal_cut(&minor, NUMBER_MOST, &number) ? (unsigned)number : 0;
}

bool manylinux_allows_library(const struct manylinux *tag, struct str soname)
{
	for (size_t i = 0; i < ARRAY_SIZE(libraries); i++)
		if (str_eq(soname, str_from(libraries[i].soname)))
			return minor_of(tag) >= libraries[i].minor;
	return false;
}

bool musllinux_allows_library(const char *arch, struct str soname)
{
	static const struct {
		const char *arch, *musl; // in the name of musl's library
	} names[] = {{"i686", "x86"}, {"armv7l", "armv7"}};
	const char *musl = arch;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(names[i].arch, arch) == 0)
			musl = names[i].musl;
	CLEANUP(mem_free) char *libc = xasprintf("libc.musl-%s.so.1", musl);
	return str_eq(soname, str_from(libc)) || str_eq(soname, STR("libc.so")) || str_eq(soname, STR("libz.so.1"));
}

static bool is_before_symbol(const void *element, const void *key)
{
	const struct forbidden_symbol *row = element;
	return str_cmp(str_from(row->symbol), *(const struct str *)key) < 0;
}

// The row of a symbol of a library. A symbol that several libraries have is in as many rows.
static const struct forbidden_symbol *find_forbidden(struct str soname, struct str symbol)
{
	const size_t count = ARRAY_SIZE(forbidden);
	size_t i = lower_bound(&symbol, forbidden, count, sizeof(*forbidden), is_before_symbol);
	for (; i < count && str_eq(str_from(forbidden[i].symbol), symbol); i++)
		if (str_eq(str_from(forbidden[i].soname), soname))
			return &forbidden[i];
	return NULL;
}

bool manylinux_judges_symbol(struct str symbol)
{
	const size_t count = ARRAY_SIZE(forbidden);
	size_t i = lower_bound(&symbol, forbidden, count, sizeof(*forbidden), is_before_symbol);
	return i < count && str_eq(str_from(forbidden[i].symbol), symbol);
}

bool manylinux_allows_symbol(const struct manylinux *tag, struct str soname, struct str symbol)
{
	const struct forbidden_symbol *row = find_forbidden(soname, symbol);
	struct str minor = row ? str_from(row->glibc_minor) : STR("");
	uint64_t number;
	return !row || (decimal_cut(&minor, NUMBER_MOST, &number) && minor_of(tag) >= number);
}

bool musllinux_allows_symbol(struct str soname, struct str symbol)
{
	const struct forbidden_symbol *row = find_forbidden(soname, symbol);
	return !row || strcmp(row->musl, "yes") == 0;
}

bool manylinux_is_loader(struct str soname)
{
	return str_starts(soname, STR("ld-linux")) || str_eq(soname, STR("ld64.so.1")) ||
	       str_eq(soname, STR("ld64.so.2"));
}
