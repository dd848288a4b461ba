// SPDX-License-Identifier: Apache-2.0
// The second look at what a prune has unlisted: a view may have taken the file after the first look (pruner/plan/pins.h).
// One thread.
#pragma once

#include "pruner/operations/operation.h"

// A file that has been unlisted. Borrowed.
struct take_back_file {
	const struct platform *platform;
	const char *filename, *project;
	const char *folder; // NULL: all of its copies
	const uint8_t *sha256;
	uint64_t size;
};

// Lists the file again if a view has it now; pins_sync() was called after the file was unlisted. Returns 1 if it is
// listed, and reports it as kept; 0 if no view has it. If it cannot be listed, that is reported, and *trouble has the
// reason. -1 only for errors of the catalog and of the audit log.
int take_back_if_pinned(struct operation *x, const struct take_back_file *f, struct err *trouble,
	struct err *e) MUST_CHECK;
