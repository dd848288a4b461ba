// SPDX-License-Identifier: Apache-2.0
// Undoing: what was pruned is listed again, as long as its bytes are there and still those. What was purged is named, and
// where upstream has it.
#pragma once

#include "pruner/operations/operation.h"

struct restore_options {
	const char *const *file; // names; a removal by hand is undone too
	size_t files;
	const char *run;         // or all that this run pruned; NULL: none is named
	const char *const *glob; // names of platforms; none: all
	size_t globs;
};

// Each file on its own: the errand tells what became of it. ERR_NOT_FOUND: a name that no platform has, pruned or listed; a
// run that nothing is pruned by, but for that of the last plan; or some could not be restored.
int restore(struct operation *x, const struct restore_options *options, struct err *e) MUST_CHECK;
