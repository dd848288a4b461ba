// SPDX-License-Identifier: Apache-2.0
// Collects what several programs write to one path one after the other, while others of them run: each `pip install` of
// a build writes its report there (PIP_REPORT), and a file would keep the last one alone. The path is a named pipe, which
// a thread empties. Any thread may open and close one.
#pragma once

#include <stddef.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"

struct report_pipe;

// Makes the named pipe. most: bytes that are kept; what comes after them is read and dropped. ERR_IO.
int report_pipe_open(const char *path, size_t most, struct report_pipe **out, struct err *e) MUST_CHECK;
// Removes the named pipe, since a program that opens it now would wait forever. Appends what was written to out; NULL:
// drops it. A NULL pipe is fine.
void report_pipe_close(struct report_pipe *p, struct buf *out);
