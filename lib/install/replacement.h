// SPDX-License-Identifier: Apache-2.0
// Decides whether upstream's files can replace a file of ours: for each environment of a platform in which ours
// installs, and each micro version of its Python, upstream has a file of the same version (PEP 440, including the local
// part) that is not yanked and installs there. One thread at a time per struct replacement.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"
#include "lib/domain/machine/profile.h"
#include "lib/domain/text/filename.h"

struct simplepage;
struct simplepage_file;

// Upstream's files of one project, indexed for replacement_compute().
struct replacement;

// The caller frees the result. project is in normal form; files of other projects on the page are ignored. Both
// arguments are borrowed and must outlive the result. page may be NULL: upstream has no file.
struct replacement *replacement_new(const struct simplepage *page, const char *project);
void replacement_free(struct replacement *r);     // NULL is allowed
void replacement_cleanup(struct replacement **r); // for CLEANUP

enum replacement_kind {
	REPLACEMENT_NOWHERE, // ours installs in no environment of the platform
	REPLACEMENT_YANKED,  // upstream has a file of this name and has yanked it
	REPLACEMENT_NARROW,  // upstream has a file of this name, but it does not install everywhere that ours does
	REPLACEMENT_NONE,    // in some environment only ours installs
	REPLACEMENT_SAME,    // upstream has a file of this name, and it installs everywhere that ours does
	REPLACEMENT_OTHERS,  // one or several other wheels of upstream together install everywhere that ours does
	REPLACEMENT_COUNT,
};

// An environment in which ours installs.
struct replacement_place {
	const struct environment *environment; // borrowed from the profile
	size_t number;                         // of the struct fits in here
	uint64_t micros;  // bit n: ours installs on x.y.n, by its Requires-Python. An invalid one allows all, as in pip
	uint64_t missing; // the micros on which no file of upstream installs. A file of upstream with an invalid
			  // Requires-Python, as in uv, or with a cut field installs nowhere
	const struct simplepage_file *file; // the preferred file of upstream that installs there; NULL: none
};

struct replacement_answer {
	enum replacement_kind kind;
	// Upstream's file of this name, in any state; NULL: none. Borrowed from the page
	const struct simplepage_file *same;
	const struct simplepage_file *sdist; // upstream's sdist of this version that covers every place; NULL: none
	struct replacement_place *place;     // owned; in the order of the profile
	size_t places;
};

// A file of ours. Borrowed.
struct replacement_file {
	const char *filename;
	const struct filename *name; // of a wheel, parsed; NULL: an sdist, which installs in every environment
	const char *requires_python; // NULL: none
};

// Computes how upstream covers a file of ours. Files that upstream uploaded after `until` (seconds since 1970) or at an
// unknown time are ignored; INT64_MAX: none is ignored. On an unknown platform the answer is NOWHERE. Otherwise the
// answer for an sdist is SAME, YANKED, NARROW or NONE. ERR_LIMIT if ours has too many tags. On success the caller
// releases *out.
int replacement_compute(struct replacement *r, const struct profile *profile, const struct replacement_file *ours,
	int64_t until, struct replacement_answer *out, struct err *e) MUST_CHECK;
void replacement_answer_release(struct replacement_answer *a);
// Whether upstream covers the file completely, so that it may be removed.
bool replacement_is_complete(const struct replacement_answer *a);
