// SPDX-License-Identifier: Apache-2.0
// Sends files to a platform: examines them, asks what is there, sends what is missing, several at a
// time, asks again after each mishap, and in the end whether all of them are there.
#pragma once

#include <stdint.h>

#include "lib/net/fetch.h"
#include "uploader/push-report.h"
#include "uploader/upload-url.h"

struct push_progress {
	size_t files, all_files;   // done with
	uint64_t bytes, all_bytes; // of what is to be sent
};

struct push_options {
	const struct upload_url *target;
	unsigned jobs;    // at once, 1 or more
	unsigned retries; // after a first try
	// How to reach the server; .progress is ours.
	struct fetch_options fetch;
	// Called at most ten times a second, from one thread at a time. NULL: nobody is told.
	void (*progress)(void *ctx, const struct push_progress *progress);
	void *ctx;
};

// Never fails: what did is in *out, to be released. The paths are borrowed by it.
void push_run(const struct push_options *options, char **paths, size_t count, struct push_report *out);
