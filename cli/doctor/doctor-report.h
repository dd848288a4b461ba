// SPDX-License-Identifier: Apache-2.0
// What `wheelcache doctor` found: one row for each thing that it looked at. One thread at a time.
#pragma once

#include <stddef.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/format/jsondoc.h"

enum doctor_level {
	DOCTOR_FINE,
	DOCTOR_WARNING, // it works, but not as well or as safely as it could
	DOCTOR_WRONG,
	DOCTOR_COUNT
};

struct doctor_report {
	struct jsondoc *rows;
	size_t count[DOCTOR_COUNT];
};

void doctor_report_init(struct doctor_report *r);
void doctor_report_release(struct doctor_report *r); // for CLEANUP
// Adds a row. what: the thing, one word. advice: what to do; "" where there is nothing to do. Then what was found.
void doctor_report_add(struct doctor_report *r, enum doctor_level level, const char *what, const char *advice,
	const char *fmt, ...) PRINTF_LIKE(5, 6);
#define doctor_fine(r, what, ...) doctor_report_add((r), DOCTOR_FINE, (what), "", __VA_ARGS__)
#define doctor_warn(r, what, ...) doctor_report_add((r), DOCTOR_WARNING, (what), __VA_ARGS__)
#define doctor_wrong(r, what, ...) doctor_report_add((r), DOCTOR_WRONG, (what), __VA_ARGS__)
// Adds one line for each row, and the counts; quiet: only what is not fine.
void doctor_report_text(const struct doctor_report *r, bool is_quiet, struct buf *out);
// The same as a document, which takes over the rows. The caller owns it.
struct jsondoc *doctor_report_json(struct doctor_report *r);
