// SPDX-License-Identifier: Apache-2.0
// An HTTP response: status, headers and body, collected while they arrive.
// Memory that runs out ends the process. One thread at a time.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/buf.h"

struct fetch_answer {
	unsigned status;      // 0: no response yet
	uint64_t retry_after; // seconds, from the header Retry-After; 0: none
	struct buf headers;   // one line each, "name: value\n"
	struct buf body;
	bool is_cut; // the body, of a status from 400 on: more of it is not wanted
};

// limit: of the body, in bytes. A longer body is an error; the body of a status from 400 on is cut instead.
void fetch_answer_init(struct fetch_answer *a, size_t limit);
void fetch_answer_release(struct fetch_answer *a); // for CLEANUP
// The value of the first header of this name, borrowed from the answer. Empty if there is none.
struct str fetch_header(const struct fetch_answer *a, const char *name);

// For fetch.c and fetch-pool.c: add a header line or a piece of the body. A status line discards the headers before it.
// False if a limit is exceeded.
bool fetch_answer_take_header(struct fetch_answer *a, struct str line);
bool fetch_answer_take_body(struct fetch_answer *a, struct str piece);
