// SPDX-License-Identifier: Apache-2.0
// Decides which versions of a project a view keeps ([view NAME] keep-versions, keep-days). A version stays if it is one
// of the newest, if it is young, if it is the newest that installs in some environment of the view, or if the
// operator's lists or branches want it; then all of its files stay. Pure functions; any thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/domain/text/version.h"

struct retention_rules {
	uint64_t keep_versions; // 0: not said
	int64_t keep_seconds;   // 0: not said
	int64_t warn_seconds;   // 0: no warnings
};

enum retention_reason {
	RETENTION_NO_RULE, // neither keep-versions nor keep-days is said
	RETENTION_NEWEST,
	RETENTION_YOUNG,
	RETENTION_UNDATED, // a file of it has no date; it never counts as old
	RETENTION_LAST,    // the newest that installs in an environment
	RETENTION_WANTED,  // a branch, a pin or the list of packages wants it
	RETENTION_ENDS,    // it does not stay
};

// A file that the view shows.
struct retention_file {
	int64_t arrived;                // seconds since 1970: when it came, else its own time; 0: unknown
	const uint64_t *installs;       // bit i of word i / 64: it installs in environment i
	bool is_yanked;                 // then it does not count as one that installs
	bool is_wanted;                 // by a branch, a pin or the list of packages: its version stays
	enum retention_reason decision; // result, for all files of a version alike
	size_t environment;             // result: of RETENTION_LAST, the first such one
	int64_t ends;   // result: when it ends if nothing comes, seconds since 1970; 0: not by its age alone, or now
	bool is_warned; // result: ends lies within the time of warnings
	const struct version *version;
};

// Decides for all files of one project, and sorts them: the newest version first (PEP 440), and of one version the
// newest arrival. environments: number of bits in `installs`.
void retention_decide(struct retention_file *file, size_t files, size_t environments,
	const struct retention_rules *rules, int64_t now);
