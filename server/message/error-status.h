// SPDX-License-Identifier: Apache-2.0
// The HTTP status of an error, by its kind. No other file decides it. Any thread.
//
// The same kind means another status where the server reads its own data than where it takes a client's upload: a
// damaged file of the store is not the client's mistake, a damaged upload is. So the table has two columns.
#pragma once

#include <stdbool.h>

#include "lib/base/err.h"

enum error_side {
	ERROR_OF_READ,   // the server reads its store, its catalog or upstream
	ERROR_OF_UPLOAD, // the server checks and stores what a client sent
	ERROR_SIDE_COUNT,
};

struct error_status {
	unsigned status;      // 4xx or 5xx
	const char *title;    // the reason phrase of status
	unsigned retry_after; // seconds, for the header Retry-After; 0: no such header
	bool is_fault;        // of the server: the message is logged as an error
	const char *detail;   // sent to the client; NULL: nothing (read), the error's message (upload)
};

// Static, never NULL. kind is below ERR_COUNT.
const struct error_status *error_status(enum err_kind kind, enum error_side side);
