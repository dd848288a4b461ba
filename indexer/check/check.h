// SPDX-License-Identifier: Apache-2.0
// The check: compares the store with the catalog and reports differences. It writes neither.
//
// It compares the names of all files, and the bytes of a sample or of all. A difference is reported only if the catalog
// still says the same afterwards: a scan may run meanwhile.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "indexer/walk/summary.h"
#include "indexer/walk/walk.h"

struct check_options {
	unsigned threads;  // 0: one per processor
	uint64_t settle;   // seconds: a damaged file younger than this is still being written
	uint64_t rate;     // bytes per second to read at most; 0: no limit
	bool hashes_all;   // hash all listed files, not a sample
	uint64_t sample;   // how many listed files to hash
	uint64_t seed;     // of their random choice
	const char *views; // the folder of memberships and evidence; NULL: none
	struct walk_watch watch;
};

// Checks a store whose platforms have their ids (store_find), in the calling thread and options->threads more. catalog
// may be read-only. Differences and unreadable files are in *summary, and are no error. ERR_BUSY where it was
// cancelled, or the catalog changed while it was read without locks; errors of catalog.h. The caller releases *summary
// in any case.
int check_run(const struct store *store, struct catalog *catalog, const struct check_options *options,
	struct summary *summary, struct err *e) MUST_CHECK;
// 0 where there is no difference; else -1 with ERR_INVALID and the counts. Any thread.
int check_verdict(const struct summary *summary, struct err *e) MUST_CHECK;
