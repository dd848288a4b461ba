// SPDX-License-Identifier: Apache-2.0
// Restores: lists pruned files again, if their bytes are still there and unchanged. Purged files are reported, with
// their URL at upstream. One thread.
#pragma once

#include "pruner/operations/operation.h"

struct restore_options {
	const char *const *file; // names; a removal by an operator is undone too
	const char *const *on;   // by file: the name of the only platform; an item that is NULL: all
	size_t files;
	const char *run;         // all files that this run pruned; NULL: none
	const char *const *glob; // of platform names; none: all
	size_t globs;
};

// Reports each file's result. ERR_NOT_FOUND: no platform has a file of that name, listed or pruned; no file was pruned
// by the run, and it is not the last plan; or some files could not be restored. Ends the operation.
int restore(struct operation *x, const struct restore_options *options, struct err *e) MUST_CHECK;
