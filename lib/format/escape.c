// SPDX-License-Identifier: Apache-2.0
#include "lib/format/escape.h"

#include <stdarg.h>

#include "lib/base/charclass.h"

#define REPLACEMENT STR("\xef\xbf\xbd") // U+FFFD

typedef void put_fn(struct buf *out, char c);

static void put_hex(struct buf *out, const char *digits, char c)
{
	buf_putc(out, digits[(unsigned char)c >> 4]);
	buf_putc(out, digits[(unsigned char)c & 15]);
}

// Makes a copy in room with U+FFFD for each byte that is not ASCII.
static struct str replace_non_ascii(struct str s, struct buf *room)
{
	for (size_t i = 0; i < s.len; i++)
		buf_str(room, s.ptr[i] & 0x80 ? REPLACEMENT : str_slice(s, i, i + 1));
	return buf_view(room);
}

// Copies runs of bytes that are in the sets, and calls put for each other byte.
static void escape_bytes(struct buf *out, struct str s, unsigned sets, put_fn *put)
{
	for (;;) {
		size_t n = charclass_run(s, sets);
		buf_str(out, str_slice(s, 0, n));
		if (n == s.len)
			return;
		put(out, s.ptr[n]);
		s = str_slice(s, n + 1, s.len);
	}
}

static void escape_text(struct buf *out, struct str s, unsigned sets, put_fn *put)
{
	if (charclass_run(s, sets | CHARCLASS_ASCII) == s.len) { // nearly always
		buf_str(out, s);
		return;
	}
	CLEANUP(buf_release) struct buf room = buf_up_to(s.len * REPLACEMENT.len);
	escape_bytes(out, str_is_utf8(s) ? s : replace_non_ascii(s, &room), sets, put);
}

static void put_json(struct buf *out, char c)
{
	bool is_control = c != '"' && c != '\\';
	buf_str(out, is_control ? STR("\\u00") : STR("\\"));
	if (is_control)
		put_hex(out, "0123456789abcdef", c);
	else
		buf_putc(out, c);
}

void escape_json(struct buf *out, struct str s)
{
	buf_putc(out, '"');
	escape_text(out, s, CHARCLASS_JSON, put_json);
	buf_putc(out, '"');
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

// Characters of several bytes that charclass_unshowable() names.
static struct str replace_unshowable(struct str s, struct buf *room)
{
	for (size_t i = 0; i < s.len; i++) {
		size_t bad = (unsigned char)s.ptr[i] < 0x80 ? 0 : charclass_unshowable(str_slice(s, i, s.len));
		if (bad)
			buf_str(room, REPLACEMENT);
		else
			buf_putc(room, s.ptr[i]);
		i += bad ? bad - 1 : 0;
	}
	return buf_view(room);
}

void escape_html(struct buf *out, struct str s)
{
	if (charclass_run(s, CHARCLASS_HTML | CHARCLASS_ASCII) == s.len) { // nearly always
		buf_str(out, s);
		return;
	}
	CLEANUP(buf_release) struct buf room = buf_up_to(s.len * REPLACEMENT.len);
	escape_text(out, str_is_utf8(s) ? replace_unshowable(s, &room) : s, CHARCLASS_HTML, put_html);
}

static void put_url(struct buf *out, char c)
{
	buf_putc(out, '%');
	put_hex(out, "0123456789ABCDEF", c);
}

static void put_showable(struct buf *out, struct str s, bool has_lines)
{
	for (size_t i = 0; i < s.len; i++) {
		bool is_layout = has_lines && (s.ptr[i] == '\n' || s.ptr[i] == '\t');
		size_t bad = is_layout ? 0 : charclass_unshowable(str_slice(s, i, s.len));
		buf_putc(out, bad ? '?' : s.ptr[i]);
		i += bad ? bad - 1 : 0;
	}
}

void escape_terminal(struct buf *out, struct str s)
{
	put_showable(out, s, false);
}

void escape_terminal_line(struct buf *out, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	CLEANUP(mem_free) char *line = xvasprintf(fmt, ap);
	va_end(ap);
	escape_terminal(out, str_from(line));
	buf_putc(out, '\n');
}

void escape_terminal_text(struct buf *out, struct str s)
{
	put_showable(out, s, true);
}

void escape_url(struct buf *out, struct str s)
{
	escape_bytes(out, s, CHARCLASS_UNRESERVED, put_url);
}

void escape_reference(struct buf *out, struct str s)
{
	escape_bytes(out, s, CHARCLASS_URL, put_url);
}
