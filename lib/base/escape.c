// SPDX-License-Identifier: Apache-2.0
#include "lib/base/escape.h"

#define REPLACEMENT STR("\xef\xbf\xbd") // U+FFFD

typedef bool is_special_fn(char c);
typedef void put_special_fn(struct buf *out, char c);

static bool is_control(char c)
{
	return (unsigned char)c < 0x20 || c == 0x7f;
}

static void put_hex(struct buf *out, const char *digits, char c)
{
	buf_putc(out, digits[(unsigned char)c >> 4]);
	buf_putc(out, digits[(unsigned char)c & 15]);
}

// A copy in room without the bad bytes.
static struct str repaired(struct str s, struct buf *room)
{
	for (size_t i = 0; i < s.len; i++)
		buf_str(room, s.ptr[i] & 0x80 ? REPLACEMENT : str_slice(s, i, i + 1));
	return buf_view(room);
}

// Runs of plain bytes are copied in one piece. Inline, so that each use has its own question in the loop.
static inline __attribute__((always_inline)) void escape(struct buf *out, struct str s, is_special_fn *is_special,
	put_special_fn *put)
{
	size_t done = 0;
	for (size_t i = 0; i < s.len; i++) {
		if (!is_special(s.ptr[i]))
			continue;
		buf_str(out, str_slice(s, done, i));
		put(out, s.ptr[i]);
		done = i + 1;
	}
	buf_str(out, str_slice(s, done, s.len));
}

static inline __attribute__((always_inline)) void escape_text(struct buf *out, struct str s, is_special_fn *is_special, put_special_fn *put)
{
	if (str_is_utf8(s)) { // as nearly all is
		escape(out, s, is_special, put);
		return;
	}
	CLEANUP(buf_release) struct buf room;
	buf_init(&room, s.len * REPLACEMENT.len);
	escape(out, repaired(s, &room), is_special, put);
}

static bool is_special_json(char c)
{
	return is_control(c) || c == '"' || c == '\\';
}

static void put_json(struct buf *out, char c)
{
	buf_str(out, is_control(c) ? STR("\\u00") : STR("\\"));
	if (is_control(c))
		put_hex(out, "0123456789abcdef", c);
	else
		buf_putc(out, c);
}

void escape_json(struct buf *out, struct str s)
{
	buf_putc(out, '"');
	escape_text(out, s, is_special_json, put_json);
	buf_putc(out, '"');
}

static bool is_special_html(char c)
{
	return (is_control(c) && c != '\t' && c != '\n') || c == '&' || c == '<' || c == '>' || c == '"';
}

static void put_html(struct buf *out, char c)
{
	switch (c) {
	case '&':
		buf_str(out, STR("&amp;"));
		break;
	case '<':
		buf_str(out, STR("&lt;"));
		break;
	case '>':
		buf_str(out, STR("&gt;"));
		break;
	case '"':
		buf_str(out, STR("&quot;"));
		break;
	default:
		buf_str(out, REPLACEMENT);
	}
}

void escape_html(struct buf *out, struct str s)
{
	escape_text(out, s, is_special_html, put_html);
}

static bool is_reserved_url(char c)
{
	return !ascii_is_alnum(c) && c != '-' && c != '.' && c != '_' && c != '~';
}

static void put_url(struct buf *out, char c)
{
	buf_putc(out, '%');
	put_hex(out, "0123456789ABCDEF", c);
}

void escape_url(struct buf *out, struct str s)
{
	escape(out, s, is_reserved_url, put_url);
}
