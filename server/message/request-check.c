// SPDX-License-Identifier: Apache-2.0
#include "server/message/request-check.h"

#include <string.h>

#include "lib/base/decimal.h"
#include "lib/base/mem.h"

enum { LINE_END = 2 };

// RFC 9110 section 5.6.2. Refuses a blank before the colon as well, which would hide a length from this server.
static bool is_token(struct str s)
{
	for (size_t i = 0; i < s.len; i++)
		if (!ascii_is_alnum(s.ptr[i]) && (!s.ptr[i] || !strchr("-_.!#$%&'*+^`|~", s.ptr[i])))
			return false;
	return s.len > 0;
}

// RFC 9112 section 2.2: another parser may end a line at a CR without LF.
void request_check_piece(struct request_check *s, struct str piece, size_t gap)
{
	s->is_malformed |= str_find(piece, '\r') >= 0;
	if (!s->next)
		return;
	s->is_malformed |= piece.ptr != s->next;
	s->next = piece.ptr + piece.len + gap;
}

// Between name and value are the colon and blanks.
static void check_place(struct request_check *s, struct str name, struct str value)
{
	request_check_piece(s, name, 1);
	if (s->next && !s->is_malformed)
		s->next += strspn(s->next, " \t");
	request_check_piece(s, value, LINE_END);
}

static void note_length(struct request_check *s, struct str value)
{
	uint64_t ignored;
	s->lengths++;
	s->has_body |= !str_eq(value, STR("0"));
	s->is_odd_length |= !decimal_cut(&value, UINT64_MAX, &ignored) || value.len;
}

static void note_coding(struct request_check *s, struct str value)
{
	s->codings++;
	s->has_body = true;
	s->is_odd_length |= !str_eq_nocase(value, STR("chunked"));
}

static void note_expect(struct request_check *s, struct str value)
{
	s->expects++;
	s->has_body = true;
	s->is_odd_expect |= !str_eq_nocase(value, STR("100-continue"));
}

void request_check_header(struct request_check *s, struct str name, struct str value)
{
	static const struct {
		struct str name;
		void (*note)(struct request_check *s, struct str value);
	} noted[] = {
		{STR("Content-Length"), note_length},
		{STR("Transfer-Encoding"), note_coding},
		{STR("Expect"), note_expect},
	};
	check_place(s, name, value);
	s->is_malformed |= !is_token(name);
	s->hosts += str_eq_nocase(name, STR("Host"));
	for (size_t i = 0; i < ARRAY_SIZE(noted); i++)
		if (str_eq_nocase(name, noted[i].name))
			noted[i].note(s, value);
}

static const char *find_unclear_length(const struct request_check *s, struct str version)
{
	if (s->lengths + s->codings == 0)
		return "a POST without Content-Length";
	if (s->lengths + s->codings > 1)
		return "more than one length";
	if (s->is_odd_length)
		return s->lengths ? "Content-Length is no number" : "Transfer-Encoding is not chunked";
	if (s->codings && str_eq(version, STR("HTTP/1.0")))
		return "Transfer-Encoding in HTTP/1.0";
	return NULL;
}

struct reply *request_check_refuse(const struct request_check *s, enum method m, struct str version)
{
	if (s->is_malformed || s->hosts > 1)
		return reply_text(400, "400 Bad Request: malformed header");
	if (s->has_body && (m == METHOD_GET || m == METHOD_HEAD))
		return reply_text(400, "400 Bad Request: %s with a body", m == METHOD_GET ? "GET" : "HEAD");
	if (m != METHOD_POST)
		return NULL;
	const char *why = find_unclear_length(s, version);
	if (why && s->lengths + s->codings == 0)
		return reply_text(411, "411 Length Required: %s", why);
	if (why)
		return reply_text(400, "400 Bad Request: %s", why);
	if (s->is_odd_expect || s->expects > 1)
		return reply_text(417, "417 Expectation Failed: only 100-continue is supported");
	return NULL;
}
