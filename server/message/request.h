// SPDX-License-Identifier: Apache-2.0
// A request as the handlers get it: values without a socket. One thread at a time; strings are borrowed from the
// library's buffer and valid until the request ends.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/base/limits.h"
#include "lib/base/str.h"
#include "server/message/reply.h"

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

// Parses the path of a request into decoded segments, none of which can lead to another folder. Pure functions; any
// thread.

enum { URLPATH_SEGMENTS = 6 };

// Segments are slices of bytes. Each is followed by a NUL and contains none.
struct urlpath {
	struct str segment[URLPATH_SEGMENTS];
	size_t count;            // 0: "/"
	bool has_trailing_slash; // "/simple/": one segment and this; "/": none and this
	char bytes[LIMIT_PATH + 1];
};

enum urlpath_result {
	URLPATH_GOOD,
	URLPATH_MALFORMED, // 400: bad %XX, a control character, not UTF-8
	URLPATH_UNKNOWN,   // 404: no path of this server: ".", "..", an empty segment, "/" or "\" encoded,
			   // too long, too deep
};

// Decodes %XX once; out gets a NUL at the end. False where the text is malformed, has a control character or does not
// fit.
bool urlpath_decode(struct str raw, char *out, size_t room);
// raw: the path as sent, encoded, without the query. "+" stays "+".
enum urlpath_result urlpath_parse(struct str raw, struct urlpath *out);

// Rejects request smuggling: headers that a proxy in front of the server could read as another request, so that a
// client gets the answer to another client's request. The caller passes the pieces of the header in their order. No
// I/O, no allocation except for replies. One thread at a time.

struct request_check {
	const char *next; // address at which the next piece must begin; NULL: anywhere
	unsigned hosts;
	unsigned lengths;   // Content-Length
	unsigned codings;   // Transfer-Encoding
	unsigned expects;   // Expect
	bool has_body;      // or announces a body
	bool is_odd_length; // a length that is no number, or a coding other than "chunked"
	bool is_odd_expect; // other than 100-continue
	bool is_malformed;
};

// A piece of the request line, with gap bytes after it. If next is set, the piece must begin there.
void request_check_piece(struct request_check *s, struct str piece, size_t gap);
// A header field; value has no leading blanks. If next is set, the field must have a line of its own.
void request_check_header(struct request_check *s, struct str name, struct str value);

// NULL: the request is unambiguous. Otherwise the answer, which the caller drops. All readers must agree where the body
// of a POST ends: one length, or chunked (RFC 9112 section 6.3).
struct reply *request_check_refuse(const struct request_check *s, enum method m, struct str version);

// The client's address where proxies stand before the server ([server] trusted-proxies). What a trusted proxy says of
// its client counts; the same headers of anyone else are ignored. A unix socket is trusted: its folder decides who
// connects. Any thread.

struct trusted_proxies;

// text: addresses and networks with blanks between, which the configuration has checked; NULL: none. The caller frees
// the result.
struct trusted_proxies *trusted_proxies_new(const char *text);
void trusted_proxies_free(struct trusted_proxies *t); // NULL is fine
// Whether the other end of a connection is a trusted proxy. peer: its address, "unix" for a socket file.
bool trusted_proxies_has(const struct trusted_proxies *t, const char *peer);
// Sets the address of the client that a trusted proxy at peer speaks for: of the list in X-Forwarded-For the last
// address that is no trusted proxy. Where the list has none, it is the farthest one that is known. An entry may have a
// port; one that is no address ends the search, as nobody vouches for what stands before it. forwarded_for NULL: peer.
void trusted_proxies_client(const struct trusted_proxies *t, const char *peer, const char *forwarded_for,
	char out[REQUEST_PEER]);
// The value of X-Forwarded-Prefix as a path without "/" at its end; empty if it is none that may stand in a page.
struct str trusted_proxies_prefix(const char *value);
