// SPDX-License-Identifier: Apache-2.0
// An attempt as the state keeps it, whatever becomes of the index (results.h): FOLDER/ab/abcd…, named after its id. A line
// of JSON, {"attempt": results-json.h, "number", "sent"}, then its log as a zstd frame, if it has one. FOLDER/totals counts
// the attempts, also those that were removed: {"platforms": [{"platform", "attempts": {result: number}}]}. Files are
// replaced whole, durably, by the holder of the index's lock. Any thread may read.
#pragma once

#include "lib/base/arena.h"
#include "lib/base/buf.h"
#include "lib/state/results/results.h"

struct kept_attempt {
	struct results_attempt attempt;
	int64_t number;    // of attempts that began in one second that with the higher one is newer
	struct str packed; // the log; ptr NULL: none
	struct arena text; // of the strings
	struct buf bytes;  // of the file
};
void attempt_file_release(struct kept_attempt *f); // for CLEANUP

// Appends the line; the log follows.
void attempt_file_line(const struct results_attempt *a, int64_t number, struct buf *out);
// The attempt borrows from out->text, the log from bytes. ERR_INVALID names the value that is wrong; ERR_LIMIT.
int attempt_file_parse(struct str bytes, struct kept_attempt *out, struct err *e) MUST_CHECK;

// packed: ptr NULL: no log. ERR_FULL, ERR_IO.
int attempt_file_write(const char *folder, const struct results_attempt *a, int64_t number, struct str packed,
	struct err *e) MUST_CHECK;
// ERR_NOT_FOUND; and as attempt_file_parse(). The caller releases *out in any case.
int attempt_file_read(const char *folder, const char *id, struct kept_attempt *out, struct err *e) MUST_CHECK;
// Nothing with this id is fine.
int attempt_file_remove(const char *folder, const char *id, struct err *e) MUST_CHECK;
// Calls fn with the id of each file. A missing folder has none.
typedef int attempt_files_fn(void *ctx, const char *id, struct err *e);
int attempt_files_each(const char *folder, attempt_files_fn *fn, void *ctx, struct err *e) MUST_CHECK;

struct attempt_totals {
	const char *platform;
	uint64_t count[RESULTS_RESULT_COUNT];
};
int attempt_totals_write(const char *folder, const struct attempt_totals *t, size_t count, struct err *e) MUST_CHECK;
// *t and its strings are in text. A missing file has none.
int attempt_totals_read(const char *folder, const struct attempt_totals **t, size_t *count, struct arena *text,
	struct err *e) MUST_CHECK;
