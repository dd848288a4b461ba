// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/text/rfc822-fields.h"

// The length of the first line including its end: LF, CRLF or a lone CR, as in email.feedparser.
static size_t line_length(struct str text)
{
	for (size_t i = 0; i < text.len; i++) {
		if (text.ptr[i] == '\n')
			return i + 1;
		if (text.ptr[i] == '\r')
			return i + 1 < text.len && text.ptr[i + 1] == '\n' ? i + 2 : i + 1;
	}
	return text.len;
}

static struct str after(struct str text, size_t n)
{
	return str_slice(text, n, text.len);
}

static bool is_folded(struct str text)
{
	return text.len && (text.ptr[0] == ' ' || text.ptr[0] == '\t');
}

// The length of the field name; -1 if the line is not a field. A name is printable ASCII without blanks, up to a colon
// (RFC 5322 3.6.8).
static long name_length(struct str line)
{
	long colon = str_find(line, ':');
	for (long i = 0; i < colon; i++)
		if (line.ptr[i] <= ' ' || line.ptr[i] > '~')
			return -1;
	return colon;
}

static struct str trim_line_end(struct str s)
{
	while (s.len && (s.ptr[s.len - 1] == '\n' || s.ptr[s.len - 1] == '\r'))
		s.len--;
	return s;
}

// The first line that is not a field begins the body. A blank line between header and body belongs to neither.
static bool end_header(struct str *rest, size_t line)
{
	if (trim_line_end(str_slice(*rest, 0, line)).len == 0)
		*rest = after(*rest, line);
	return false;
}

bool rfc822_fields_next(struct str *rest, struct rfc822_field *out)
{
	for (;;) {
		size_t line = line_length(*rest);
		bool is_stray = is_folded(*rest); // a continuation of no field: skipped
		long name = is_stray ? -1 : name_length(str_slice(*rest, 0, line));
		if (!is_stray && name < 0)
			return end_header(rest, line);
		size_t end = line;
		while (is_folded(after(*rest, end)))
			end += line_length(after(*rest, end));
		struct str field = str_slice(*rest, 0, end);
		*rest = after(*rest, end);
		if (name <= 0)
			continue; // Python's email drops a field without a name
		struct str value = after(field, (size_t)name + 1);
		while (is_folded(value))
			value = after(value, 1);
		*out = (struct rfc822_field){str_slice(field, 0, (size_t)name), trim_line_end(value)};
		return true;
	}
}

bool rfc822_fields_first(struct str text, struct str name, struct str *value)
{
	struct rfc822_field field;
	while (rfc822_fields_next(&text, &field)) {
		if (!str_eq_nocase(field.name, name))
			continue;
		*value = field.value;
		return true;
	}
	return false;
}
