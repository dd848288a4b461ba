// SPDX-License-Identifier: Apache-2.0
// An error: its kind, and a sentence that names the thing, the reason, and what to do where that helps.
//
// A fallible function returns 0, or -1 (a pointer: NULL) with *e set. On success it does not change *e. A layer may put
// words in front of the message. A function that returns an error does not log it. The kind alone decides the exit
// code, and the HTTP status (server/message/reply.h). A struct err belongs to the caller; one thread at a time.
#pragma once

#include "lib/base/mem.h"

enum err_kind {
	ERR_NONE,
	ERR_USAGE,     // the command line or the configuration is wrong
	ERR_INVALID,   // malformed data
	ERR_NOT_FOUND, // no such thing
	ERR_CONFLICT,  // it exists already, and differs
	ERR_DENIED,    // not allowed
	ERR_LIMIT,     // larger than wheelcache accepts
	ERR_FULL,      // no room left on a disk or in a quota
	ERR_BUSY,      // in use by another process, or still changing; try again later
	ERR_IO,        // an error of the file system
	ERR_DB,        // an error of the catalog
	ERR_NET,       // an error of the network
	ERR_TIME,      // the time limit is exceeded
	ERR_COUNT,
};

enum { ERR_MSG_SIZE = 512 };

struct err {
	enum err_kind kind;
	char msg[ERR_MSG_SIZE];
};

#define ERR_INIT                                                                                                       \
	{                                                                                                              \
		.kind = ERR_NONE, .msg = ""                                                                            \
	}

// Sets kind and message and returns -1. A message that is too long is cut at its end.
int err_set(struct err *e, enum err_kind kind, const char *fmt, ...) PRINTF_LIKE(3, 4);
// The same, with ": " and the text of errno at the end.
int err_errno(struct err *e, enum err_kind kind, const char *fmt, ...) PRINTF_LIKE(3, 4);
// Puts words in front of the message and returns -1.
int err_prefix(struct err *e, const char *fmt, ...) PRINTF_LIKE(2, 3);
// Puts "; " and what to do behind the message, and returns -1.
int err_advise(struct err *e, const char *fmt, ...) PRINTF_LIKE(2, 3);
// For a caller to whom a thing that is missing is none: 0 if *why is ERR_NOT_FOUND; else *e becomes *why, and -1.
int err_unless_missing(struct err *e, const struct err *why);
// The exit code of a command: 0 for ERR_NONE, 2 for ERR_USAGE, 1 for all others.
int err_exit_code(enum err_kind kind);
