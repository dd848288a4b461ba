// SPDX-License-Identifier: Apache-2.0
// The bounded log of an attempt: its beginning and its end are kept, and the number of bytes between them that were
// dropped. It is a file that grows while the attempt runs, so it can be read meanwhile; its size never exceeds the
// limit. One thread at a time.
#pragma once

#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"

struct run_log;

// Creates the file. limit: bytes, at least 4096. The caller closes *out.
int run_log_open(const char *path, uint64_t limit, struct run_log **out, struct err *e) MUST_CHECK;
void run_log_close(struct run_log *l);    // NULL is fine; the file stays
void run_log_cleanup(struct run_log **l); // for CLEANUP
// Adds bytes. A disk that is full loses bytes of the log, which it then says; it is no error.
void run_log_add(struct run_log *l, struct str bytes);
// Adds a line of ours, such as "--- build: pip wheel …".
void run_log_line(struct run_log *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Appends all that is kept to out.
int run_log_text(const struct run_log *l, struct buf *out, struct err *e) MUST_CHECK;
