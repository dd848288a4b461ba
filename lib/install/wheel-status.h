// SPDX-License-Identifier: Apache-2.0
// How a platform and Python stand with a version of a project: one set of words for `wheelcache missing`, whose rows
// are what branches want, and for the matrix of a project (builder/missing), whose cells are wanted or not.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/str.h"

enum wheel_status {
	WHEEL_NOT_WANTED, // its markers are false there
	WHEEL_OURS,       // a listed wheel of the platform, made for such platforms, installs there
	WHEEL_COVERED,    // a listed wheel for any platform, for the stable ABI (abi3), or of another platform does
	WHEEL_HERE,       // a listed wheel of the platform, of either kind
	WHEEL_UNPROMOTED, // a listed wheel would install there, but the view that is asked about does not show it
	WHEEL_SKIPPED,    // [build] skip, not in [build] packages, an operator's tombstone, a URL
	WHEEL_UPSTREAM,   // upstream has a wheel that installs there
	WHEEL_BUILDING,   // an attempt to build it runs
	WHEEL_EXCLUDED,   // Requires-Python of each file of the version excludes this Python
	WHEEL_UNMERGED,   // upstream has a wheel that installs there, but clients of the platform do not get it
	WHEEL_COOLING,    // a pinned version of which upstream has such a wheel, but does not offer it yet: its age, or a hold
	WHEEL_UNKNOWN,    // there is none here, and what upstream has is not known
	WHEEL_IMPOSSIBLE, // no source; Requires-Python of all files; only yanked files and no exact pin
	WHEEL_PURE,       // this project's wheels are pure Python wherever they are known
	WHEEL_AWAITING,   // a build requirement of it is itself missing, as the last attempt found
	WHEEL_FAILED,     // the last attempt to build it failed; of `missing`: and it is not yet to be tried again
	WHEEL_MISSING,    // there is none; of `missing`: to be built from its sdist
	WHEEL_STATUS_COUNT,
};
// "not-wanted", "here", …: in JSON, tables, classes and URLs.
extern const char *const wheel_status_name[WHEEL_STATUS_COUNT];

// The statuses of a row of `missing`. The first that holds, in this order, is the row's.
enum { WHEEL_STATUSES_OF_MISSING = 12 };
extern const enum wheel_status wheel_status_missing[WHEEL_STATUSES_OF_MISSING];
// The same in the order for people: first what needs attention.
extern const enum wheel_status wheel_status_shown[WHEEL_STATUSES_OF_MISSING];

// The statuses of a cell of a matrix. The first that holds, in this order, is the cell's.
enum { WHEEL_STATUSES_OF_MATRIX = 9 };
extern const enum wheel_status wheel_status_matrix[WHEEL_STATUSES_OF_MATRIX];
extern const char wheel_status_letter[WHEEL_STATUS_COUNT];      // of a cell: 'O', …
extern const char *const wheel_status_text[WHEEL_STATUS_COUNT]; // of a cell: a few words, for legends and screen readers

// The status of this name in a list; WHEEL_STATUS_COUNT: none.
enum wheel_status wheel_status_find(struct str name, const enum wheel_status *list, size_t count);
// Whether clients of the platform get a wheel that installs there.
bool wheel_status_is_green(enum wheel_status status);
