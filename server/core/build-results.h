// SPDX-License-Identifier: Apache-2.0
// The results of builds in a server. The index is opened anew for each use: it need not exist, a builder beside the
// server may create it, and an operator may move it away. Only build_results_record() creates it, and
// build_results_new() if there are attempts. A change from good to failed, or back, runs [build] on-change. Any thread.
#pragma once

#include "lib/state/results/results.h"

struct build_results;

struct build_results *build_results_new(const struct config *c, const char *catalog_path);
// Waits a few seconds for commands of on-change. NULL is fine.
void build_results_free(struct build_results *b);

// Opens the file for reading, with a limit of so many milliseconds for each search (0: none). The caller closes *out.
// ERR_NOT_FOUND: nothing was built yet; so too if b is NULL.
int build_results_open(const struct build_results *b, unsigned milliseconds, struct results **out,
	struct err *e) MUST_CHECK;

enum build_results_answer {
	BUILD_RESULTS_NEW,     // recorded
	BUILD_RESULTS_CHANGED, // it was known as running, and is as sent now
	BUILD_RESULTS_SAME,    // it was known: nothing changed
};
// Records an attempt that a builder sent, with its log (ptr NULL: none). c: has keep-results and on-change.
// ERR_CONFLICT: the id is that of another attempt, or of this one after its end with another content. Else as
// results_put().
int build_results_record(struct build_results *b, const struct config *c, const struct results_attempt *a,
	struct str log, enum build_results_answer *answer, struct err *e) MUST_CHECK;
