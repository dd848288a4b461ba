// SPDX-License-Identifier: Apache-2.0
// One error: what kind it is, and a sentence that names the thing and the reason.
//
// A fallible function returns 0, or -1 (a pointer: NULL) with *e set. On success *e is not touched.
// Each layer may put its own words in front; nobody logs and returns. The kind alone decides the
// exit code, and the HTTP status (server/message/error-status.h).
#pragma once

#include "lib/base/mem.h"

enum err_kind {
	ERR_NONE,
	ERR_USAGE,     // the command line or the configuration is wrong
	ERR_INVALID,   // bytes that are not what they claim to be
	ERR_NOT_FOUND, // no such thing
	ERR_CONFLICT,  // it is there already, and different
	ERR_DENIED,    // not allowed
	ERR_LIMIT,     // larger than we accept
	ERR_FULL,      // no room left: a disk, or a quota
	ERR_BUSY,      // try again: somebody else works on it, or it is still changing
	ERR_IO,        // the file system said no
	ERR_DB,        // the catalog said no
	ERR_NET,       // the network said no
	ERR_TIME,      // it takes longer than it may
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

// Sets kind and message (cut at the end where it is too long); returns -1.
int err_set(struct err *e, enum err_kind kind, const char *fmt, ...) PRINTF_LIKE(3, 4);
// The same with ": " and the text of errno at the end.
int err_errno(struct err *e, enum err_kind kind, const char *fmt, ...) PRINTF_LIKE(3, 4);
// Puts words in front of the message that is there; returns -1.
int err_prefix(struct err *e, const char *fmt, ...) PRINTF_LIKE(2, 3);
// 0 for none, 2 for usage, 1 for all others.
int err_exit_code(enum err_kind kind);
