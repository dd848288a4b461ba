// SPDX-License-Identifier: Apache-2.0
// Pushes files to a platform: reads and checks them, gets the pages of their projects, sends what is missing, several
// files at a time, and checks the pages again: after each error, and in the end for all files.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/net/fetch.h"
#include "uploader/dist-file.h"
#include "uploader/upload-client.h"

enum push_report_outcome {
	PUSH_REPORT_NEW,       // the server published it
	PUSH_REPORT_THERE,     // the server already has it, with the same bytes
	PUSH_REPORT_KEPT,      // the server keeps an earlier build of the same contents
	PUSH_REPORT_CONFLICT,  // the server has other contents under this name
	PUSH_REPORT_REFUSED,   // the server refuses it
	PUSH_REPORT_BAD,       // invalid, so it was not sent
	PUSH_REPORT_FAILED,    // no answer, or server errors, at each try
	PUSH_REPORT_NOT_TRIED, // an error stopped the whole push
	PUSH_REPORT_COUNT,
};

struct push_report_file {
	struct dist_file dist;
	enum push_report_outcome outcome;
	struct err why; // unless PUSH_REPORT_NEW or PUSH_REPORT_THERE
	unsigned sent;  // number of tries
	bool is_listed; // the page lists it, with these bytes
};

struct push_report {
	struct push_report_file *file; // in the order of the command line
	size_t count;
	struct err stop; // the error that stopped the whole push; ERR_NONE: none
	double seconds;
};

void push_report_release(struct push_report *p);
// Appends a line for each file that is not on the server, with the reason.
void push_report_problems(const struct push_report *p, struct buf *out);
// Appends the report for people, which begins with these lines, or as JSON.
void push_report_text(const struct push_report *p, struct buf *out);
void push_report_json(const struct push_report *p, struct buf *out);
// 0 where the server has every file, with these bytes or these contents; otherwise -1: the error that stopped the push,
// or ERR_CONFLICT.
int push_report_verdict(const struct push_report *p, struct err *e) MUST_CHECK;

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
