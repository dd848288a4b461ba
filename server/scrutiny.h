// SPDX-License-Identifier: Apache-2.0
// What a request's header must not be, lest a proxy before us reads another request out of it than
// we do: then one client gets what another one asked for. Fed piece by piece, in the order of the
// header. Pure.
#pragma once

#include <stdbool.h>

#include "lib/base/str.h"

struct scrutiny {
	const char *next; // where the next piece must lie; NULL: anywhere
	unsigned hosts;
	bool has_body; // or announces one
	bool is_malformed;
};

// A piece of the request line. Where next is known, the piece must begin there, and after gap bytes
// comes the next.
void scrutiny_piece(struct scrutiny *s, struct str piece, size_t gap);
// A field, its value without the blanks before it. Where next is known, it must have a line of its
// own.
void scrutiny_header(struct scrutiny *s, struct str name, struct str value);
