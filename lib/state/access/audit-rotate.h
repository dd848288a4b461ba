// SPDX-License-Identifier: Apache-2.0
// The files of the audit log: PATH has the newest lines, PATH.1 older ones, PATH.2 older ones yet. A file is moved on
// when it is full, or when its first line is older than a tenth of the time that lines are kept (a day at least). Moved
// files are deleted when their last line is older than that time. Any thread.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/err.h"

// Whether the open file is the one that has the log's name.
bool audit_is_in_place(const char *path, int fd);
// The caller has locked the open file, which is in place. max_size: bytes; keep: seconds, 0: always. True: it has
// another name now, and nothing has the log's. Of a symbolic link, the target is moved. What cannot be moved, as what
// is no regular file, goes on growing.
bool audit_rotate(const char *path, int fd, uint64_t max_size, uint64_t keep);

// Opens PATH for 0, or PATH.NUMBER. Errors are those of safefile_open().
int audit_open_moved(const char *path, unsigned number, struct err *e) MUST_CHECK;
