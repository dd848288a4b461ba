// SPDX-License-Identifier: Apache-2.0
#include "server/scrutiny.h"

#include <string.h>

enum { LINE_END = 2 };

// RFC 9110 section 5.6.2. A blank before the colon is no token either, and would hide a length from
// us.
static bool is_token(struct str s)
{
	for (size_t i = 0; i < s.len; i++)
		if (!ascii_is_alnum(s.ptr[i]) &&
			(!s.ptr[i] || !strchr("-_.!#$%&'*+^`|~", s.ptr[i])))
			return false;
	return s.len > 0;
}

// RFC 9112 section 2.2: a CR without its LF may end a line for somebody else.
void scrutiny_piece(struct scrutiny *s, struct str piece, size_t gap)
{
	s->is_malformed |= str_find(piece, '\r') >= 0;
	if (!s->next)
		return;
	s->is_malformed |= piece.ptr != s->next;
	s->next = piece.ptr + piece.len + gap;
}

// Between name and value there is the colon, and then blanks.
static void place_header(struct scrutiny *s, struct str name, struct str value)
{
	scrutiny_piece(s, name, 1);
	if (s->next && !s->is_malformed)
		s->next += strspn(s->next, " \t");
	scrutiny_piece(s, value, LINE_END);
}

void scrutiny_header(struct scrutiny *s, struct str name, struct str value)
{
	place_header(s, name, value);
	s->is_malformed |= !is_token(name);
	if (str_eq_nocase(name, STR("Host")))
		s->hosts++;
	else if (str_eq_nocase(name, STR("Content-Length")))
		s->has_body |= !str_eq(value, STR("0"));
	else if (str_eq_nocase(name, STR("Transfer-Encoding")) ||
		 str_eq_nocase(name, STR("Expect")))
		s->has_body = true;
}
