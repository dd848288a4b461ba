// SPDX-License-Identifier: Apache-2.0
// A request as the handlers see it: plain values without a socket.
#pragma once

#include <stdint.h>

#include "lib/base/buf.h"

enum method { METHOD_GET, METHOD_HEAD, METHOD_POST, METHOD_OTHER };

// The headers that some handler reads.
enum request_header {
	HEADER_ACCEPT,
	HEADER_ACCEPT_ENCODING,
	HEADER_AUTHORIZATION, // never to be logged
	HEADER_CONTENT_LENGTH,
	HEADER_CONTENT_TYPE,
	HEADER_HOST,
	HEADER_IF_NONE_MATCH,
	HEADER_IF_RANGE,
	HEADER_RANGE,
	HEADER_USER_AGENT,
	HEADER_COUNT,
};

// Parts of the query that some handler reads, beside "format".
enum request_argument {
	ARGUMENT_PLATFORM,
	ARGUMENT_VERDICT,
	ARGUMENT_TEXT, // "q"
	ARGUMENT_PAGE,
	ARGUMENT_COUNT,
};

struct request {
	enum method method;
	const char *path;                     // as it was sent, before any "?": still percent-encoded
	const char *format;                   // the value of "?format=", percent-encoded; NULL where there is none
	const char *argument[ARGUMENT_COUNT]; // as format
	const char *peer;                     // the address of whom it came from, "unix" for a socket file
	const char *header[HEADER_COUNT];     // NULL where it was not sent
	unsigned metric;                      // enum metric_route, by which it is counted; the routes set it
	struct buf *joined;                   // owned: by header, the lists that came on several lines; NULL: none did
};

enum method request_method(const char *name);
void request_release(struct request *r);
// Takes a header, if some handler reads it. value is borrowed. Lines of one list are joined (RFC 9110 section 5.3), up to
// LIMIT_REQUEST_HEADER bytes; of other headers the first of its name counts.
void request_take_header(struct request *r, struct str name, const char *value);
// The value of Content-Length; 0 where there is none. One beyond 64 bits counts as the largest number.
uint64_t request_content_length(const struct request *r);
// Takes a part of the query. value is borrowed; NULL where it has no "=".
void request_take_argument(struct request *r, struct str name, const char *value);
