// SPDX-License-Identifier: Apache-2.0
// What became of the files that were to be pushed.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "uploader/dist-file.h"

enum push_report_outcome {
	PUSH_REPORT_NEW,       // the server took it
	PUSH_REPORT_THERE,     // it had it, with the same bytes
	PUSH_REPORT_KEPT,      // the server keeps an earlier build of the same contents
	PUSH_REPORT_CONFLICT,  // it has other contents under this name
	PUSH_REPORT_REFUSED,   // the server does not want it
	PUSH_REPORT_BAD,       // not sound: never sent
	PUSH_REPORT_FAILED,    // no answer, or only excuses, however often it was tried
	PUSH_REPORT_NOT_TRIED, // something stopped all of them
	PUSH_REPORT_COUNT,
};

struct push_report_file {
	struct dist_file parcel;
	enum push_report_outcome outcome;
	struct err why; // where it is not PUSH_REPORT_NEW or PUSH_REPORT_THERE
	unsigned sent;  // how often
	bool is_listed; // the page shows it, with these bytes
};

struct push_report {
	struct push_report_file *file; // in the order of the command line
	size_t count;
	struct err stop; // what stopped all of them; ERR_NONE: nothing did
	double seconds;
};

void push_report_release(struct push_report *p);
void push_report_text(const struct push_report *p, struct buf *out);
void push_report_json(const struct push_report *p, struct buf *out);
// 0 where every file is there with the bytes that it has here; else why not, of the first kind that
// there is.
int push_report_verdict(const struct push_report *p, struct err *e) MUST_CHECK;
