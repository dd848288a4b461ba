// SPDX-License-Identifier: Apache-2.0
// What became of the files that were to be pushed.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "uploader/dist-file.h"

enum pushed_outcome {
	PUSHED_NEW,       // the server took it
	PUSHED_THERE,     // it had it, with the same bytes
	PUSHED_KEPT,      // the server keeps an earlier build of the same contents
	PUSHED_CONFLICT,  // it has other contents under this name
	PUSHED_REFUSED,   // the server does not want it
	PUSHED_BAD,       // not sound: never sent
	PUSHED_FAILED,    // no answer, or only excuses, however often it was tried
	PUSHED_NOT_TRIED, // something stopped all of them
	PUSHED_COUNT,
};

struct pushed_file {
	struct parcel parcel;
	enum pushed_outcome outcome;
	struct err why; // where it is not PUSHED_NEW or PUSHED_THERE
	unsigned sent;  // how often
	bool is_listed; // the page shows it, with these bytes
};

struct pushed {
	struct pushed_file *file; // in the order of the command line
	size_t count;
	struct err stop; // what stopped all of them; ERR_NONE: nothing did
	double seconds;
};

void pushed_release(struct pushed *p);
void pushed_text(const struct pushed *p, struct buf *out);
void pushed_json(const struct pushed *p, struct buf *out);
// 0 where every file is there with the bytes that it has here; else why not, of the first kind that
// there is.
int pushed_verdict(const struct pushed *p, struct err *e) MUST_CHECK;
