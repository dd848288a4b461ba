// SPDX-License-Identifier: Apache-2.0
// Finds the file of a project that pip takes on a machine, by pip's order of preference (PEP 425, 440, 592), among
// files of several sources. It is used for explanations. What may be removed is decided by lib/install/coverage,
// which is more cautious. One thread at a time per struct finder.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/domain/machine/environment.h"
#include "lib/domain/text/filename.h"

struct finder;

// A file that pip may take. The strings are borrowed and must outlive the finder.
struct finder_file {
	const char *filename;
	const char *requires_python; // NULL: none; an invalid one is ignored, as in pip
	bool is_yanked;
	unsigned sources;   // bit set of the sources that have a file of this name
	const void *origin; // a pointer of the caller, not used here
};

// The caller frees *out. version is a request for "==version"; NULL: any version, without yanked ones, and pre-releases
// only if there is nothing else. ERR_INVALID if it is not a version.
int finder_new(const char *version, struct finder **out, struct err *e) MUST_CHECK;
void finder_free(struct finder *f);     // NULL is allowed
void finder_cleanup(struct finder **f); // for CLEANUP
// Whether the file has a requested version.
bool finder_matches_version(const struct finder *f, const struct filename *name);
// Adds a file. A file that is not a wheel or sdist of this project, or not of a requested version, is ignored. Of files
// that are otherwise equal the last one is taken, because pip sorts and begins at the end.
void finder_add(struct finder *f, const char *project, const struct finder_file *file);

struct finder_choice {
	const struct finder_file *file; // NULL: nothing. Borrowed from the finder
	const char *version;            // of the file, in normal form
	bool is_wheel;                  // false: an sdist, which is taken only if there is no wheel
	bool has_all_micros;            // it installs on every micro version of this Python; false: only on some
};
// Chooses among the files of these sources (a bit set).
void finder_choose(struct finder *f, const struct environment *env, unsigned sources, struct finder_choice *out);
