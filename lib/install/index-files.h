// SPDX-License-Identifier: Apache-2.0
// The wheels and sdists of one project, parsed once: the listed ones of several platforms of ours, and upstream's. In
// the order of their versions, the newest first. One thread at a time.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/domain/text/version.h"
#include "lib/install/fits.h"

struct catalog_file;
struct simplepage;
struct simplepage_file;

struct index_file {
	const char *filename;
	int64_t platform; // of ours; 0: it is upstream's
	struct version version;
	bool is_wheel; // false: an sdist
	bool is_pure;  // a wheel for any platform and ABI
	bool is_yanked;
	bool is_unpromoted;    // a wheel of ours that the view does not show
	struct str build;      // the build tag of a wheel; "": none
	unsigned tags, python; // numbers of struct fits
	unsigned sources;      // bits of the caller: where it is from
	size_t order;          // in which it was added
	const uint8_t *sha256; // NULL: upstream gives none
	int64_t size;          // bytes; -1: unknown
	int64_t came;          // when it came here, or to upstream: seconds since 1970; 0: unknown
	const struct simplepage_file *upstream; // borrowed; NULL: it is ours
};

// Files of equal versions: file[first] up to file[end - 1].
struct index_release {
	size_t first, end;
};

struct index_files {
	const char *project; // borrowed
	struct fits *fits;   // borrowed
	struct index_file *file;
	size_t count, room;
	bool is_sorted;
	struct index_memo *memo; // of index_files_admitted()
	size_t memos, memo_room;
	struct arena text;
};

void index_files_init(struct index_files *all, const char *project, struct fits *fits);
void index_files_release(struct index_files *all);
// Add files. What is no wheel or sdist of the project by its name, as pip reads it, is ignored, and so is a file of
// upstream with a field that was too long. A page is borrowed and must outlive the files; a file of ours is copied.
void index_files_add_page(struct index_files *all, const struct simplepage *page, unsigned sources);
// is_promoted: false: a view is asked about that does not show the file.
void index_files_add_ours(struct index_files *all, int64_t platform, const struct catalog_file *file, bool is_promoted);
// The same for any file, whose name is borrowed: of the rest only what its name and its Requires-Python say is set.
void index_files_add(struct index_files *all, const struct index_file *file, const char *requires_python);
// The releases whose versions the specifier set admits, the newest first. Nothing may be added afterwards. The array
// lives as long as the files.
const struct index_release *index_files_admitted(struct index_files *all, const char *specifier, size_t *count);
// The release of this version; both 0: there is none. Nothing may be added afterwards.
struct index_release index_files_of_version(struct index_files *all, const struct version *version);
// Files may be added again. What index_files_admitted() returned is no longer valid.
void index_files_reopen(struct index_files *all);
// The micro versions on which a file installs in this place of struct fits; 0: none.
uint64_t index_files_micros(const struct index_files *all, size_t place, const struct index_file *file);
