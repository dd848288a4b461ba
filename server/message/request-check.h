// SPDX-License-Identifier: Apache-2.0
// What a request's header must not be, lest a proxy before us reads another request out of it than
// we do: then one client gets what another one asked for. Fed piece by piece, in the order of the
// header. Pure.
#pragma once

#include <stdbool.h>

#include "lib/base/str.h"
#include "server/message/reply.h"

struct request_check {
	const char *next; // where the next piece must lie; NULL: anywhere
	unsigned hosts;
	unsigned lengths;   // Content-Length
	unsigned codings;   // Transfer-Encoding
	unsigned expects;   // Expect
	bool has_body;      // or announces one
	bool is_odd_length; // one that is no number, or a coding that is not "chunked" alone
	bool is_odd_expect; // other than 100-continue
	bool is_malformed;
};

// A piece of the request line. Where next is known, the piece must begin there, and after gap bytes
// comes the next.
void request_check_piece(struct request_check *s, struct str piece, size_t gap);
// A field, its value without the blanks before it. Where next is known, it must have a line of its
// own.
void request_check_header(struct request_check *s, struct str name, struct str value);

// NULL: all is well. Otherwise the answer to a request that others may read in another way. The body of a POST must end
// at the same place for everybody: one length, or chunked (RFC 9112 section 6.3).
struct reply *request_check_refuse(const struct request_check *s, enum method m, struct str version);
