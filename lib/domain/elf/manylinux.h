// SPDX-License-Identifier: Apache-2.0
// What manylinux and musllinux platform tags promise (PEP 600, 656): which symbol versions and which libraries of the
// system a wheel may need. The tables are constants, generated from manylinux.txt. Pure functions; any thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/str.h"

// A manylinux tag of an architecture, borrowed from the table.
struct manylinux {
	const char *arch;  // "x86_64"
	const char *glibc; // "2.17"
	const char *allowed;
};

// The tags of an architecture, the lowest first: the one after `previous`; NULL: the first. NULL: there is no more.
const struct manylinux *manylinux_next(const char *arch, const struct manylinux *previous);
// Whether a wheel with this tag may need the symbol version, such as "GLIBC_2.17". Versions whose name before the first
// "_" the row does not have (OPENSSL_3.0.0) are not judged: true.
bool manylinux_allows_version(const struct manylinux *tag, struct str version);
// The highest number that the row allows for versions with that name: "3.4.19" for "GLIBCXX". Empty: it has none.
struct str manylinux_most(const struct manylinux *tag, struct str name);
// Whether a wheel with this tag may need a library of the system, by its SONAME.
bool manylinux_allows_library(const struct manylinux *tag, struct str soname);
// The same for musllinux.
bool musllinux_allows_library(const char *arch, struct str soname);
// Whether forbidden-symbols.txt has the symbol, of any library.
bool manylinux_judges_symbol(struct str symbol);
// Whether a wheel with this tag may need the symbol of a library that the tag allows; a weak reference always may.
// Symbols that forbidden-symbols.txt does not have are allowed.
bool manylinux_allows_symbol(const struct manylinux *tag, struct str soname, struct str symbol);
// The same for musllinux.
bool musllinux_allows_symbol(struct str soname, struct str symbol);
// Whether the SONAME is that of a dynamic loader (ld-linux-x86-64.so.2), whose versions are not judged.
bool manylinux_is_loader(struct str soname);
