// SPDX-License-Identifier: Apache-2.0
// Compares two builds of a library or extension module by their facts: what it needs, how it is found, which symbols it
// exports. Pure functions; any thread.
#pragma once

#include <stdint.h>

#include "auditor/compare/diff-rows.h"
#include "lib/base/arena.h"
#include "lib/facts/wheel-facts.h"

// Symbols that one of two files exports. Bounded: names has at most LIMIT_COMPARE_SYMBOLS.
struct symbol_list {
	const char **name; // sorted
	size_t listed, count;
};

struct library_diff {
	const struct wheel_elf *a, *b;  // borrowed; NULL: there is none
	struct diff_rows rows;          // "SONAME", "NEEDED", "RPATH", "needs of libc.so.6", "toolchain", …
	struct symbol_list gone, added; // exported by a alone, by b alone; none where one side is absent
	bool is_unreadable;             // at least one side is damaged
};

// text takes the texts of rows; the names are those of the facts, and borrowed. The caller releases *out.
void library_diff_make(const struct wheel_elf *a, const struct wheel_elf *b, struct arena *text,
	struct library_diff *out);

// Names of libraries without what differs from build to build: the hash that auditwheel adds, also more than once, as
// where a library that was bundled is bundled again. The texts are in the arena, or borrowed. Pure functions; any
// thread.

// "libssl.so.3" of "libssl-3a1b2c3d.so.3"; the name itself if it has no hash.
const char *plain_library_name(struct arena *text, const char *name);
// "libssl" of the same.
const char *plain_library_stem(struct arena *text, const char *name);
