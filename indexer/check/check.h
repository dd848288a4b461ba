// SPDX-License-Identifier: Apache-2.0
// The check: holds the store against the catalog and tells what differs. Writes neither.
//
// The names of all files are compared, and the bytes of those that are chosen. What a scan changes
// in the catalog meanwhile is taken as it is then.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "indexer/check/check-report.h"
#include "indexer/walk/walk.h"

struct check_options {
	unsigned threads; // 0: as many as the machine has processors
	uint64_t settle;  // seconds: a damaged file younger than this is still being written
	uint64_t rate;    // bytes a second that are read at most; 0: any
	bool hashes_all;  // all listed files, not a sample
	uint64_t sample;  // how many listed files are hashed
	uint64_t seed;    // which ones
	struct walk_watch watch;
};

// Checks a store whose platforms have their ids (store_find). catalog may be open for reading
// alone. What is wrong is in summary and no error; neither is a file that cannot be read. ERR_BUSY
// where it was cancelled, or the catalog was written while it was read without locks.
int check_run(const struct store *store, struct catalog *catalog, const struct check_options *options,
	struct summary *summary, struct err *e) MUST_CHECK;
// -1 with ERR_INVALID that counts what is wrong; 0 where nothing is.
int check_verdict(const struct summary *summary, struct err *e) MUST_CHECK;
