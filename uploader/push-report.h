// SPDX-License-Identifier: Apache-2.0
// The report of a push: the outcome for each file. One thread at a time.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "uploader/dist-file.h"

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
