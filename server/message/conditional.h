// SPDX-License-Identifier: Apache-2.0
// Conditional and range requests: RFC 9110 sections 13 and 14. Pure functions; any thread. A header is NULL where the
// client did not send it. etag is a strong one of this server, with its quotes.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// Section 13.1.2. True where the list contains etag, or is "*": the answer is 304.
bool etag_matches(const char *if_none_match, const char *etag);
// Section 13.1.5. False where the client has other bytes: the caller ignores Range. Always false for a date, as the
// server sends no date that is a strong validator.
bool if_range_holds(const char *if_range, const char *etag);

enum range_kind {
	RANGE_WHOLE,         // none, several, or malformed: 200 with all bytes
	RANGE_PART,          // 206
	RANGE_UNSATISFIABLE, // 416
};

struct range {
	enum range_kind kind;
	uint64_t first, last; // of RANGE_PART: inclusive, last < size
};

// size: of the whole file, in bytes.
struct range range_parse(const char *header, uint64_t size);
