// SPDX-License-Identifier: Apache-2.0
// The wheels that were removed from the pages of our platforms (lib/state/store/tombstone.h), and why. What an operator
// removed is not to be built again. What a prune or `wheelcache retain` removed was of no use then, and is missing once a
// branch wants it. Read once from the catalog; then constant. One thread at a time for each struct fits.
#pragma once

#include "lib/base/arena.h"
#include "lib/base/strset.h"
#include "lib/domain/text/version.h"
#include "lib/install/fits.h"
#include "lib/state/catalog/catalog.h"

struct removed_wheel {
	const char *project;
	int64_t platform;
	struct version version;
	unsigned tags, python; // numbers of struct fits
	const char *filename, *reason;
	unsigned build; // the number of its build tag; 0: it has none
	bool is_by_us;  // a prune or `wheelcache retain` removed it
	bool has_file;  // it was not purged
};

// All zero is empty.
struct removed_wheels {
	struct removed_wheel *wheel; // sorted by project after removed_wheels_sort()
	size_t count, room;
	struct arena text;
};

// Adds the removed wheels of a platform whose projects are in the set (sorted). Errors of catalog.h.
int removed_wheels_read(struct removed_wheels *r, struct catalog *c, int64_t platform, const struct strset *projects,
	struct fits *fits, struct err *e) MUST_CHECK;
void removed_wheels_sort(struct removed_wheels *r);
void removed_wheels_release(struct removed_wheels *r);

struct removed_question {
	const char *project;
	int64_t platform;
	size_t environment;
	uint64_t micros;
	const struct version *version; // NULL: any that the specifier set admits
	const char *specifier;
	bool is_by_us;
};
// A removed wheel of this version that installs on one of the micro versions; NULL: none.
const struct removed_wheel *removed_wheels_find(const struct removed_wheels *r, struct fits *fits,
	const struct removed_question *q);
// The highest build tag of the removed wheels of this version, and whether there is one; *build stays if it is higher.
bool removed_wheels_build(const struct removed_wheels *r, const char *project, int64_t platform,
	const struct version *version, unsigned *build);
