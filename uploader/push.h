// SPDX-License-Identifier: Apache-2.0
// Pushes files to a platform: reads and checks them, gets the pages of their projects, sends what is missing, several
// files at a time, and checks the pages again: after each error, and in the end for all files.
#pragma once

#include <stdint.h>

#include "lib/net/fetch.h"
#include "uploader/push-report.h"
#include "uploader/upload-url.h"

struct push_progress {
	size_t files, all_files;   // done, of all
	uint64_t bytes, all_bytes; // of the files to send
};

struct push_options {
	const struct upload_url *target;
	unsigned jobs;    // uploads at once, at least 1
	unsigned retries; // after the first try
	// A statement of provenance, which is to be about each file; NULL: none. Borrowed.
	const char *statement;
	bool sends_again; // also a file that the server has, so that the statement arrives
	// How to reach the server. push_run sets progress and ctx.
	struct fetch_options fetch;
	// Called at most ten times a second and after each file, by one thread at a time, any of the workers. NULL:
	// none.
	void (*progress)(void *ctx, const struct push_progress *progress);
	void *ctx;
};

// Does not fail: errors are in *out, which borrows the paths and is to be released. In the calling thread and
// options->jobs more.
void push_run(const struct push_options *options, char **paths, size_t count, struct push_report *out);
