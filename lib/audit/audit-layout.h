// SPDX-License-Identifier: Apache-2.0
// Where the ELF files of a wheel lie once it is installed, and which of them a search path leads to, as the dynamic
// loader goes. The prefix of an installation is "", its Python packages are in "lib/python/site-packages" there. One
// thread at a time.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/buf.h"
#include "lib/facts/wheel-facts.h"

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
	size_t entries;    // of search paths that were read
	const char *data;  // "NAME-VERSION.data/"
	struct arena text; // owns all
};

void layout_init(struct layout *l, const struct wheel_facts *facts, const struct filename *name);
void layout_release(struct layout *l); // for CLEANUP

// Where the entry leads for a file in that folder; *out is the installed folder, if it is within the prefix.
enum layout_place layout_resolve(const struct layout *l, const char *dir, struct str entry, struct buf *out);
// The search path that counts: DT_RUNPATH, or DT_RPATH without it. NULL: none.
const char *layout_search_path(const struct elf_facts *f);

// The keys that equal the text: *first up to the returned index, not included.
size_t layout_equal(const struct layout_key *keys, size_t count, const char *key, size_t *first);

// Which file of the wheel the dynamic loader takes for each library that a file needs: by the search path of the file
// itself, by the RPATH of files that load it, or because a file that loads it has loaded the library before. What
// Python code loads by itself is not known. The number of steps is bounded. One thread at a time.

enum { LINK_NONE = UINT32_MAX }; // the wheel has no such file on a path that leads there

struct audit_links {
	const struct layout *layout;
	size_t *start;    // by file: of its first library in `target`
	uint32_t *target; // by needed library, in the order of DT_NEEDED: a file, or LINK_NONE
	struct audit_link_use {
		uint32_t used, user;
	} * use; // the first sorted_uses are sorted
	size_t uses, use_room, sorted_uses;
	uint64_t steps; // that are left
	bool is_cut;    // they did not suffice
	struct arena text;
};

void audit_links_init(struct audit_links *l, const struct layout *layout);
void audit_links_release(struct audit_links *l); // for CLEANUP
// The file that it takes for the n-th needed library of a file.
uint32_t audit_links_target(const struct audit_links *l, uint32_t file, size_t n);
// The same by the library's name. LINK_NONE also if the file does not need it.
uint32_t audit_links_find(struct audit_links *l, uint32_t file, const char *name);
// Counts steps of a search. False: there are none left.
bool audit_links_step(struct audit_links *l, uint64_t steps);
// Where the search path of the file, or the RPATH of one that loads it, leads at the farthest.
enum layout_place audit_links_farthest(struct audit_links *l, uint32_t file);
