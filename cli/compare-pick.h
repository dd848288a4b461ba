// SPDX-License-Identifier: Apache-2.0
// What "wheelcache compare" is asked to compare: reads its spelling, and finds and opens the wheel. Main thread
// only.
#pragma once

#include "cli/compare-choices.h"
#include "lib/base/buf.h"

// ERR_USAGE: it is none of these.
int compare_pick_parse(const char *text, struct compare_pick *out, struct err *e) MUST_CHECK;
void compare_pick_release(struct compare_pick *p); // for CLEANUP; all zero is fine

// An open wheel.
struct picked_wheel {
	int fd;                 // owned
	char *filename, *label; // owned
	struct buf provenance;  // the statement beside it; empty: none
};

// Opens the wheel. ERR_USAGE: there are several; they were printed to standard error. ERR_NOT_FOUND: there is none. The
// caller releases *out, whatever this returns.
int compare_pick_open(const struct compare_pick *p, const struct pick_place *place, struct picked_wheel *out,
	struct err *e) MUST_CHECK;
void picked_wheel_release(struct picked_wheel *w); // for CLEANUP
