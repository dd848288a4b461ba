// SPDX-License-Identifier: Apache-2.0
// Builds what is missing on one platform: learns the rows from a server or our own store, tries them in parallel, each
// alone, keeps each result, and publishes each good wheel at once. Ends by itself, or when it is stopped; what is left
// is taken by the next run.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "builder/build-report.h"
#include "lib/base/err.h"
#include "lib/net/fetch.h"
#include "lib/state/config/config.h"

struct build_options {
	const struct config *config;
	const char *catalog; // the path of the file; NULL: there is no store of our own
	const char *platform;
	const char *from; // base URL of the server that lists what is missing, with "/" at its end; NULL: our own store
	const char *to;   // upload URL; NULL: that of from, or our own store
	const char *const *python; // none: all
	size_t pythons;
	const char *const *project; // in normal form; none: all
	size_t projects;
	struct missing_shard shard; // 0 of 0: all
	enum schedule_retry retry;
	const struct rebuild_set *rebuild; // wheels that count as not there; NULL: none
	bool is_dry_run;
	bool is_quiet; // only problems are logged
	// How to reach the server; user and password are the token's.
	struct fetch_options fetch;
	const atomic_bool *stop; // ends running attempts and takes no more rows when it becomes true
};

// The caller releases *out, also after an error of the run itself: ERR_USAGE (options, no such platform, the index
// holds it), ERR_BUSY (another builder has the work folder), errors of the server and of our own files. A row that
// fails is no error: see build_report_verdict(). What options point to outlives *out.
int build_run(const struct build_options *options, struct build_report *out, struct err *e) MUST_CHECK;
