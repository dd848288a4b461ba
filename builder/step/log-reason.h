// SPDX-License-Identifier: Apache-2.0
// Why a program failed, in one line: the line of its output that says most. Pure functions; any thread.
#pragma once

#include "lib/base/buf.h"

enum { LOG_REASON = 400 }; // bytes, at most

enum log_cause {
	LOG_CAUSE_PROGRAM,
	LOG_CAUSE_AWAY, // pip or uv could not reach the index or a file host
};
// Appends the line to out, without colours and control characters; nothing if the output has no line that says
// anything. It is the last line that is not one of pip's remarks about what happened before, nor advice; or, where that
// line only says that a tool failed, the tool's first error (log-reason.c).
enum log_cause log_reason(struct str output, struct buf *out);
// Appends any text as such a line: UTF-8 of at most LOG_REASON bytes, without control characters.
void log_reason_line(struct str text, struct buf *out);
// The signal that ended the program of a build backend, as pip says ("exit code: -11"); 0: none.
int log_reason_signal(struct str output);
// The part of a log behind its last line that begins with LOG_REASON_MARK; the whole if there is none.
#define LOG_REASON_MARK "--- "
struct str log_reason_part(struct str log);
