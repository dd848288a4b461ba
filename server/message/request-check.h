// SPDX-License-Identifier: Apache-2.0
// Rejects request smuggling: headers that a proxy in front of the server could read as another request, so that a
// client gets the answer to another client's request. The caller passes the pieces of the header in their order. No
// I/O, no allocation except for replies. One thread at a time.
#pragma once

#include <stdbool.h>

#include "lib/base/str.h"
#include "server/message/reply.h"

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
