// SPDX-License-Identifier: Apache-2.0
// Where the ELF files of a wheel lie once it is installed, and which of them a search path leads to, as the dynamic
// loader goes. The prefix of an installation is "", its Python packages are in "lib/python/site-packages" there. One
// thread at a time.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/facts/wheel-facts.h"
#include "lib/base/arena.h"
#include "lib/base/buf.h"

enum { LAYOUT_PATHS = 64 }; // of one search path; the loader's own ones have a few

// Where a folder of an RPATH or RUNPATH is. The later ones tell less of what is there.
enum layout_place {
	LAYOUT_HERE,     // in the wheel
	LAYOUT_RELATIVE, // to the folder in which the program runs: without $ORIGIN, or empty
	LAYOUT_ABSENT,   // in a folder of the wheel's packages, but the wheel has nothing in it; another wheel may
	LAYOUT_PACKAGE,  // in a folder of another package
	LAYOUT_OUTSIDE,  // elsewhere: above the packages
	LAYOUT_UNKNOWN,  // $LIB and $PLATFORM depend on the machine
	LAYOUT_ABSOLUTE, // begins with "/"
	LAYOUT_PLACE_COUNT,
};

// An ELF file as it is installed.
struct layout_file {
	const struct wheel_elf *elf;
	const char *dir, *base;
	uint32_t dir_number; // in layout.dir
	bool is_module;      // Python imports it
	// The folders of its RUNPATH or RPATH that have ELF files of this wheel, in order.
	uint32_t path[LAYOUT_PATHS];
	unsigned paths;
	bool is_inherited;          // by RPATH, which also counts for the libraries that this file loads
	bool has_runpath;           // then it inherits nothing
	enum layout_place farthest; // of the folders of the path
	bool is_cut;                // its path has more folders
};

struct layout_key { // of a sorted index
	const char *key;
	uint32_t file;
};

struct layout {
	const struct wheel_facts *facts;
	struct layout_file *file; // in the order of the facts; of a damaged one only the place is known
	size_t count;
	const char **dir; // sorted, each once
	size_t dirs;
	struct layout_key *by_base, *by_soname; // sorted
	size_t sonames;
	struct layout_key *hashed; // files with a hash in their names, by stem
	size_t hashes;
	size_t entries; // of search paths that were read
	struct arena text;
	char *data; // "NAME-VERSION.data/"
};

void layout_init(struct layout *l, const struct wheel_facts *facts, const struct filename *name);
void layout_release(struct layout *l); // for CLEANUP

// Where the entry leads for a file in that folder; *out is the installed folder, if it is within the prefix.
enum layout_place layout_resolve(const struct layout *l, const char *dir, struct str entry, struct buf *out);
// The search path that counts: DT_RUNPATH, or DT_RPATH without it. NULL: none.
const char *layout_search_path(const struct elf_facts *f);

// The keys that equal the text: *first up to the returned index, not included.
size_t layout_equal(const struct layout_key *keys, size_t count, const char *key, size_t *first);
