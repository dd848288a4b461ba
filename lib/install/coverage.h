// SPDX-License-Identifier: Apache-2.0
// Decides whether upstream's files can replace a file of ours: for each environment of a platform in which ours
// installs, and each micro version of its Python, upstream has a file of the same version (PEP 440, including the local
// part) that is not yanked and installs there. One thread at a time per struct coverage.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"
#include "lib/domain/machine/profile.h"
#include "lib/domain/text/filename.h"

struct simplepage;
struct simplepage_file;

// Upstream's files of one project, indexed for coverage_compute().
struct coverage;

// The caller frees the result. project is in normal form; files of other projects on the page are ignored. Both
// arguments are borrowed and must outlive the result. page may be NULL: upstream has no file.
struct coverage *coverage_new(const struct simplepage *page, const char *project);
void coverage_free(struct coverage *c);     // NULL is allowed
void coverage_cleanup(struct coverage **c); // for CLEANUP

enum coverage_kind {
	COVERAGE_NOWHERE, // ours installs in no environment of the platform
	COVERAGE_YANKED,  // upstream has a file of this name and has yanked it
	COVERAGE_NARROW,  // upstream has a file of this name, but it does not install everywhere that ours does
	COVERAGE_NONE,    // in some environment only ours installs
	COVERAGE_SAME,    // upstream has a file of this name, and it installs everywhere that ours does
	COVERAGE_OTHERS,  // one or several other wheels of upstream together install everywhere that ours does
	COVERAGE_COUNT,
};

// An environment in which ours installs.
struct coverage_place {
	const struct environment *environment; // borrowed from the profile
	uint64_t micros;  // bit n: ours installs on x.y.n, by its Requires-Python. An invalid one allows all, as in pip
	uint64_t missing; // the micros on which no file of upstream installs. A file of upstream with an invalid
			  // Requires-Python, as in uv, or with a cut field installs nowhere
	const struct simplepage_file *file; // the preferred file of upstream that installs there; NULL: none
};

struct coverage_answer {
	enum coverage_kind kind;
	const struct simplepage_file
		*same; // upstream's file of this name, in any state; NULL: none. Borrowed from the page
	const struct simplepage_file *sdist; // upstream's sdist of this version that covers every place; NULL: none
	struct coverage_place *place;        // owned; in the order of the profile
	size_t places;
};

// A file of ours. Borrowed.
struct coverage_file {
	const char *filename;
	const struct filename
		*name; // the parsed file name of a wheel; NULL: an sdist, which installs in every environment
	const char *requires_python; // NULL: none
};

// Computes how upstream covers a file of ours. Files that upstream uploaded after `until` (seconds since 1970) or at an
// unknown time are ignored; INT64_MAX: none is ignored. On an unknown platform the answer is NOWHERE. Otherwise the
// answer for an sdist is SAME, YANKED, NARROW or NONE. ERR_LIMIT if ours has too many tags. On success the caller
// releases *out.
int coverage_compute(struct coverage *c, const struct profile *profile, const struct coverage_file *ours, int64_t until,
	struct coverage_answer *out, struct err *e) MUST_CHECK;
void coverage_answer_release(struct coverage_answer *a);
// Whether upstream covers the file completely, so that it may be removed.
bool coverage_is_complete(const struct coverage_answer *a);
