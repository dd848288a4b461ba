// SPDX-License-Identifier: Apache-2.0
// Conditional and range requests: RFC 9110 sections 13 and 14. Pure; every header may be NULL: not sent. An etag is
// ours, strong, with its quotes.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// Section 13.1.2: one of the list, or "*". True: 304.
bool etag_matches(const char *if_none_match, const char *etag);
// Section 13.1.5: false where the client holds other bytes: Range is to be ignored. A date never holds; we send none
// that would be strong.
bool if_range_holds(const char *if_range, const char *etag);

enum range_kind {
	RANGE_WHOLE,         // none, several, or malformed: 200 with all bytes
	RANGE_PART,          // 206
	RANGE_UNSATISFIABLE, // 416
};

struct range {
	enum range_kind kind;
	uint64_t first, last; // of a part: both included, last < size
};

struct range range_parse(const char *header, uint64_t size);
