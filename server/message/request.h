// SPDX-License-Identifier: Apache-2.0
// A request as the handlers get it: values without a socket. One thread at a time; strings are borrowed from the
// library's buffer and valid until the request ends.
#pragma once

#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/base/limits.h"

enum method { METHOD_GET, METHOD_HEAD, METHOD_POST, METHOD_OTHER };

// The headers that handlers read.
enum request_header {
	HEADER_ACCEPT,
	HEADER_ACCEPT_ENCODING,
	HEADER_AUTHORIZATION, // never logged
	HEADER_CONTENT_LENGTH,
	HEADER_CONTENT_TYPE,
	HEADER_HOST,
	HEADER_IF_NONE_MATCH,
	HEADER_IF_RANGE,
	HEADER_ORIGIN, // only browsers send it
	HEADER_RANGE,
	HEADER_USER_AGENT,
	HEADER_FORWARDED_FOR,    // these three only of a trusted proxy
	HEADER_FORWARDED_PREFIX, // NULL: none
	HEADER_FORWARDED_PROTO,
	HEADER_COUNT,
};

// The query parameters that handlers read, beside "format".
enum request_argument {
	ARGUMENT_PLATFORM,
	ARGUMENT_VERDICT,
	ARGUMENT_TEXT, // "q"
	ARGUMENT_PAGE,
	ARGUMENT_PROJECT,
	ARGUMENT_RESULT,
	ARGUMENT_LIMIT,
	ARGUMENT_PYTHON,
	ARGUMENT_ALL,
	ARGUMENT_VIEW,
	ARGUMENT_VERSION,
	ARGUMENT_PLATFORMS,
	ARGUMENT_PROJECTS,
	ARGUMENT_STATE,
	ARGUMENT_AFTER,
	ARGUMENT_PLAN,
	ARGUMENT_UPSTREAM,
	ARGUMENT_BY,
	ARGUMENT_SINCE,
	ARGUMENT_SIGN_IN,
	ARGUMENT_CHOSEN, // "x": may be there several times, joined by ","
	ARGUMENT_COUNT,
};
enum { REQUEST_ARGUMENT_SIZE = LIMIT_FILE_NAME + 1 };
enum { REQUEST_PEER = 46 }; // the text of any address; INET6_ADDRSTRLEN

struct request {
	enum method method;
	const char *path;                     // as sent, without the query: percent-encoded
	const char *format;                   // the value of "?format=", percent-encoded; NULL: none
	const char *argument[ARGUMENT_COUNT]; // like format
	const char *peer;                     // the client's address, as trusted proxies say; "unix" for a socket file
	const char *header[HEADER_COUNT];     // NULL: not sent
	unsigned metric;                      // enum metric_route that counts the request; set by the routes
	struct buf *joined;                   // owned: by header, the lists that came on several lines; NULL: none
	struct buf *chosen;                   // owned: what ARGUMENT_CHOSEN points to; NULL: it was there once or never
};

enum method request_method(const char *name);
void request_release(struct request *r);
// Records a header, if handlers read it. value is borrowed. Joins the lines of a list (RFC 9110 section 5.3), up to
// LIMIT_REQUEST_HEADER bytes. Of other headers the first line counts.
void request_take_header(struct request *r, struct str name, const char *value);
// The value of Content-Length; 0 where there is none. One beyond 64 bits counts as the largest number.
uint64_t request_content_length(const struct request *r);
// Forgets what only a trusted proxy may say.
void request_forget_forwarded(struct request *r);
// Records a query parameter. value is borrowed; NULL where the parameter has no "=".
void request_take_argument(struct request *r, struct str name, const char *value);
// Decodes a query parameter, in which forms write "+" for a blank. "" if it is missing; false if it is malformed or too
// long.
bool request_read_argument(const struct request *r, enum request_argument which, char out[REQUEST_ARGUMENT_SIZE]);
