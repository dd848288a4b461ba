// SPDX-License-Identifier: Apache-2.0
// An attempt as the state keeps it, whatever becomes of the index (results.h): FOLDER/ab/abcd…, named after its id. A
// line of JSON, {"attempt": results-json.h, "number", "sent", "totals"}, then its log as a zstd frame, if it has one.
// The totals are those of its platform until then, with the attempts that were removed: the newest file has them. Files
// are replaced whole, durably, by the holder of the index's lock. Any thread may read.
#pragma once

#include "lib/base/arena.h"
#include "lib/base/buf.h"
#include "lib/state/results/results.h"

struct kept_attempt {
	struct results_attempt attempt;
	int64_t number;    // of attempts that began in one second that with the higher one is newer
	uint64_t totals[RESULTS_RESULT_COUNT]; // of the platform
	struct str packed; // the log; ptr NULL: none
	struct arena text; // of the strings
	struct buf bytes;  // of the file
};
void attempt_file_release(struct kept_attempt *f); // for CLEANUP

// Appends the line; the log follows.
void attempt_file_line(const struct kept_attempt *f, struct buf *out);
// The attempt borrows from out->text, the log from bytes. ERR_INVALID names the value that is wrong; ERR_LIMIT.
int attempt_file_parse(struct str bytes, struct kept_attempt *out, struct err *e) MUST_CHECK;

// ERR_FULL, ERR_IO.
int attempt_file_write(const char *folder, const struct kept_attempt *f, struct err *e) MUST_CHECK;
// ERR_NOT_FOUND; and as attempt_file_parse(). The caller releases *out in any case.
int attempt_file_read(const char *folder, const char *id, struct kept_attempt *out, struct err *e) MUST_CHECK;
// Nothing with this id is fine.
int attempt_file_remove(const char *folder, const char *id, struct err *e) MUST_CHECK;
// Calls fn with the id of each file. A missing folder has none.
typedef int attempt_files_fn(void *ctx, const char *id, struct err *e);
int attempt_files_each(const char *folder, attempt_files_fn *fn, void *ctx, struct err *e) MUST_CHECK;
