// SPDX-License-Identifier: Apache-2.0
// Repairs the order of time after the clock of a writer was ahead: what was made then has a time in the future, and so
// has all that was made later, since no generation and no record is older than the one before. One thread at a time for
// each catalog connection.
#pragma once

#include "lib/state/catalog/catalog.h"

// A time that is later than this is in the future: more than a day after the clock, which may be set a little wrong.
int64_t views_repair_limit(void);

// The number of generations of the view, and of records of evidence, with a time in the future.
struct views_repair_counts {
	uint64_t generations, records;
};
// Writes a generation with the action "repair" and without files, which says when those in the future were made: as
// their files say, no earlier than the generation before and no later than the one behind. *generations is their
// number; dry_run: nothing is written. ERR_INVALID: the membership is damaged; errors of membership_append().
int views_repair_view(const char *folder, struct catalog *c, const char *view, const char *by, bool dry_run,
	uint64_t *generations, struct err *e) MUST_CHECK;
// Gives the records that came in the future times just before now, in the order in which they came. *records is their
// number. A catalog of another host keeps the old times until it is made again.
int views_repair_evidence(const char *folder, struct catalog *c, bool dry_run, uint64_t *records,
	struct err *e) MUST_CHECK;
