// SPDX-License-Identifier: Apache-2.0
// Applies a plan: unlists the files that it removes, after it has rechecked each decision. If one does not hold,
// nothing is done, unless an option leaves such files out. An apply that was killed can be repeated: a file that has a
// tombstone of this run is done. One thread.
#pragma once

#include "lib/base/arena.h"
#include "lib/state/config/config.h"
#include "pruner/operations/operation.h"
#include "pruner/plan/planfile.h"
#include "pruner/plan/policy.h"

// The files of a plan that its operator leaves out: names, or globs of them. Each word is compared with the file's
// name, with PLATFORM/NAME and with PLATFORM/PATH. All zero is an empty list.
struct exceptions {
	struct exception {
		const char *word;
		bool is_used;
	} *glob, *name; // name: without special characters; sorted by exceptions_sort
	size_t globs, names, glob_room, name_room;
	struct arena text;
};

// Adds a word, or for "@FILE" each line of the file that is neither empty nor a comment ("#"). ERR_USAGE where the word
// is empty, or there are more than LIMIT_EXCEPTION_GLOBS globs; ERR_NOT_FOUND, ERR_IO and ERR_LIMIT of the file.
int exceptions_add(struct exceptions *x, const char *word, struct err *e) MUST_CHECK;
// After the last exceptions_add.
void exceptions_sort(struct exceptions *x);
// Whether the file is left out. Notes which word says so.
bool exceptions_take(struct exceptions *x, const struct planfile_entry *file);
// A word that left out no file; NULL: there is none.
const char *exceptions_unused(const struct exceptions *x);
void exceptions_release(struct exceptions *x);

struct apply_options {
	uint64_t max_files, max_bytes,
		max_failures;        // per cent: of a platform's listed files, of their bytes, of all look-ups
	bool accepts_changed_policy; // the recheck still uses the current policy
	bool skips_changed_wheels;   // leave out files that are no longer those that the plan decided on
	bool skips_changed_evidence; // leave out files that would not be removed today
	struct exceptions *except;   // files that are left out, sorted; NULL: none
	bool is_dry;                 // only report what would be done
	void (*lookup_progress)(void *ctx, uint64_t done, uint64_t all, uint64_t failed); // NULL: none
	void (*file_progress)(void *ctx, uint64_t done, uint64_t all);
	void *ctx;
};

// policy: of the current configuration, with the classes that the plan was made with (apply_takes). ERR_CONFLICT: the
// plan no longer holds, or clients of a view would lose versions (pruner/plan/view-losses.h); ERR_NOT_FOUND: the plan
// removes no file that a word of except names; ERR_LIMIT: it exceeds a cap; ERR_NET: too many look-ups failed;
// ERR_BUSY: a platform is frozen. In these cases nothing was done. Later errors are reported for each file, and the
// last one is returned. Ends the operation.
int apply(struct operation *x, const struct config *c, const struct policy *policy, const struct planfile *plan,
	const struct apply_options *options, struct err *e) MUST_CHECK;
// The classes that a plan was made with. Pure.
struct policy_takes apply_takes(const struct planfile_head *head);
