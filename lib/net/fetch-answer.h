// SPDX-License-Identifier: Apache-2.0
// What was answered over HTTP, as it comes in.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/buf.h"

struct fetch_answer {
	unsigned status;
	uint64_t retry_after; // seconds, of the header Retry-After; 0: none
	struct buf headers;   // a line each, "name: value\n"
	struct buf body;
};

// A body beyond limit is ERR_LIMIT; that of an error (400 and more) is cut there. To be released.
void fetch_answer_init(struct fetch_answer *a, size_t limit);
void fetch_answer_release(struct fetch_answer *a);
// The value of the first header of this name; empty where there is none.
struct str fetch_header(const struct fetch_answer *a, const char *name);

// As they come. A status line begins the headers anew. False where there is no room.
bool fetch_answer_take_header(struct fetch_answer *a, struct str line);
bool fetch_answer_take_body(struct fetch_answer *a, struct str piece);
