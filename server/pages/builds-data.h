// SPDX-License-Identifier: Apache-2.0
// What the pages of build results show: the attempts of the platforms that a client may read, copied out of the results
// file. One thread fills a value; any thread may read it.
#pragma once

#include "lib/base/arena.h"
#include "lib/state/results/results.h"

enum { BUILDS_DAYS = 60 };

struct builds_query {
	const char *const *platforms; // names: those that the client may read, and no other
	size_t platform_count;
	const char *platform, *project; // globs, project in normal form; "": any
	const char *result;             // "": any
	uint64_t limit;                 // of attempts
	int64_t now;                    // seconds since 1970
	bool only_attempts;             // neither what fails now nor the trend
};

// An attempt, the newest of its platform, Python and project, that failed.
struct builds_failure {
	struct results_attempt attempt;
	int64_t since;  // when the first of its failures in a row began
	unsigned count; // of these
};

struct builds_day {
	int64_t day; // its first second, UTC
	uint64_t good, failed;
};

struct builds_data {
	struct arena text; // of all strings
	struct builds_failure *failure;
	size_t failures, failure_room;
	struct results_attempt *attempt; // the newest first
	size_t attempts, attempt_room;
	uint64_t running;
	struct builds_day day[BUILDS_DAYS]; // the last one is today
	bool has_more;                      // attempts, or failures, beyond the limit or LIMIT_BUILDS_TEXT
};

// results NULL: nothing was built yet. Errors as in results.h; ERR_TIME: the search takes too long. The caller releases
// *out if this returns 0.
int builds_data_read(struct results *results, const struct builds_query *query, struct builds_data *out,
	struct err *e) MUST_CHECK;
void builds_data_release(struct builds_data *d); // all zero is fine; for CLEANUP
// Copies the strings of an attempt into the arena.
struct results_attempt builds_data_copy(struct arena *text, const struct results_attempt *a);
