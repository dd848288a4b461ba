// SPDX-License-Identifier: Apache-2.0
// Whether upstream's files do what a file of ours does: in each environment of a platform in which ours installs, for
// each micro version of its Python, upstream has a file of the same version (PEP 440, the local part included) that is
// not yanked and installs there. Pure. A struct coverage: one thread at a time.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"
#include "lib/domain/machine/profile.h"
#include "lib/domain/text/filename.h"

struct simplepage;
struct simplepage_file;

// Upstream's files of one project, prepared for being asked about.
struct coverage;

// project is the normal form of its name: a file of another one on the page counts for nothing. Both are borrowed and
// have to outlive it. NULL for the page: upstream has no file.
struct coverage *coverage_new(const struct simplepage *page, const char *project);
void coverage_free(struct coverage *c);     // NULL is fine
void coverage_cleanup(struct coverage **c); // for CLEANUP

enum coverage_kind {
	COVERAGE_NOWHERE, // ours installs in no environment of the platform
	COVERAGE_YANKED,  // upstream has a file of this name, and yanked it
	COVERAGE_NARROW,  // upstream has a file of this name, which does not install wherever ours does
	COVERAGE_NONE,    // some environment has only ours
	COVERAGE_SAME,    // upstream has a file of this name, which installs wherever ours does
	COVERAGE_OTHERS,  // other wheels of upstream's do what ours does, one or several together
	COVERAGE_COUNT,
};

// An environment in which ours installs.
struct coverage_place {
	const struct environment *environment; // the profile's
	uint64_t micros; // bit n: on x.y.n, by its Requires-Python. Of one that is no specifier set: all, as pip has it
	uint64_t missing; // of these, those where no file of upstream's installs. Of a bad Requires-Python of theirs:
			  // it installs nowhere, as uv has it; so does a file that is cut
	const struct simplepage_file *file; // what installs there instead, the one that is preferred; NULL: none
};

struct coverage_answer {
	enum coverage_kind kind;
	const struct simplepage_file *same; // upstream's of this name, whatever it is; NULL: none. The page's
	const struct simplepage_file
		*sdist;               // upstream's of this version, not yanked, wherever ours installs; NULL: none
	struct coverage_place *place; // in the profile's order
	size_t places;
};

// A file of ours.
struct coverage_file {
	const char *filename;
	const struct filename *name; // what a wheel's filename says. Of any other NULL: an sdist, for every environment
	const char *requires_python; // NULL: none
};

// What upstream has for it. What it uploaded after `until` (seconds since 1970), or nobody knows when, does not count;
// INT64_MAX: all counts. Of a platform of which nothing is known: NOWHERE. Else an sdist is SAME, YANKED, NARROW or NONE.
// ERR_LIMIT where ours has too many tags. To be released if it returns 0.
int coverage_ask(struct coverage *c, const struct profile *profile, const struct coverage_file *ours, int64_t until,
	struct coverage_answer *out, struct err *e) MUST_CHECK;
void coverage_answer_release(struct coverage_answer *a);
// Whether every wheel of ours that has this answer may go.
bool coverage_is_whole(const struct coverage_answer *a);
