// SPDX-License-Identifier: Apache-2.0
// The libraries of an offer (platform-offer.h): collected from a root or a list, sorted once, then searched. One thread
// at a time until offer_table_finish has returned; then any number of threads may read.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/arena.h"
#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/str.h"

#define OFFER_ANY_ARCH "*" // of an ELF file that cannot be read

struct offer_symbol {
	const char *name;
	const char *version; // NULL: none
};

struct offer_names { // strings, which are the table's
	const char **item;
	size_t count, room;
};

struct offer_library {
	const char *arch;   // "x86_64", …; OFFER_ANY_ARCH
	const char *soname; // without one, the name of the file
	const char *path;   // in the root, without "/" in front
	bool is_readable;   // otherwise only its names are known
	struct offer_names needed, version;
	struct offer_symbol *symbol; // that it defines, sorted by name and version
	size_t symbols, room;
};

struct offer_name { // by which the loader finds a library
	const char *arch, *name;
	size_t rank; // the least one of equal names is found
	size_t library;
};

// All zero is an empty table.
struct offer_table {
	struct offer_library *library; // after offer_table_finish sorted by arch, soname, path
	size_t libraries, library_room;
	struct offer_name *name; // after offer_table_finish sorted by name, arch; each once
	size_t names, name_room;
	size_t symbols;    // of all libraries
	struct arena text; // names, which have a limit
	struct arena rows; // arrays
};

// Adds a library without names. It is returned until the next one is added; its index is offer_table.libraries - 1.
struct offer_library *offer_table_add(struct offer_table *t, struct str arch, struct str soname, struct str path);
void offer_table_add_name(struct offer_table *t, size_t library, struct str name, size_t rank);
void offer_table_add_text(struct offer_table *t, struct offer_names *list, struct str text);
// Sorts the versions of a library, before its symbols are added.
void offer_table_sort_versions(struct offer_library *l);
// version "": none.
void offer_table_add_symbol(struct offer_table *t, struct offer_library *l, struct str name, struct str version);
// ERR_LIMIT: the table has more than LIMIT_OFFER_LIBRARIES, LIMIT_OFFER_SYMBOLS or LIMIT_OFFER_TEXT.
int offer_table_check(const struct offer_table *t, struct err *e) MUST_CHECK;
// Sorts all, and leaves out libraries that no name finds.
void offer_table_finish(struct offer_table *t);
void offer_table_release(struct offer_table *t); // for CLEANUP

// The list of an offer (platform-offer.h), as `wheelcache provides` prints it: text, sorted, the same for the same
// root.
//
//     wheelcache-provides 1 LIBRARIES LINES
//     library ARCH SONAME PATH
//     unreadable                       if only the names of the library are known
//     name NAME                        for each name by which the loader finds it
//     needed SONAME                    for each library that it needs
//     version VERSION                  for each version that it defines
//      SYMBOL[@VERSION]                for each symbol that it defines, behind a blank
//
// LINES counts all lines behind the first one, so that a list that was cut is refused. Blanks, "%", "@", control bytes
// and bytes above 126 in names are written as "%" and two hexadecimal digits. Any thread.

// Appends the list of a finished table. ERR_LIMIT: it does not fit in out.
int offer_list_print(const struct offer_table *t, struct buf *out, struct err *e) MUST_CHECK;
// Adds what the list says to an empty table, which the caller finishes. ERR_INVALID with the number of the line;
// ERR_LIMIT.
int offer_list_parse(struct str list, struct offer_table *t, struct err *e) MUST_CHECK;
