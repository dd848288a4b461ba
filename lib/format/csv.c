// SPDX-License-Identifier: Apache-2.0
#include "lib/format/csv.h"

#include <string.h>

// What spreadsheets take for the beginning of a formula, also behind blanks that they drop.
static bool is_like_formula(struct str text)
{
	size_t i = 0;
	while (i < text.len && text.ptr[i] == ' ')
		i++;
	return i < text.len && memchr("=+-@\t\r\n|%", text.ptr[i], 9);
}

static bool needs_quotes(struct str text)
{
	for (size_t i = 0; i < text.len; i++)
		if (memchr(",\";\r\n\t", text.ptr[i], 6))
			return true;
	return text.len && (text.ptr[0] == ' ' || text.ptr[text.len - 1] == ' ');
}

void csv_field(struct buf *out, struct str text)
{
	bool is_quoted = needs_quotes(text);
	if (is_quoted)
		buf_putc(out, '"');
	if (is_like_formula(text))
		buf_putc(out, '\'');
	for (size_t i = 0; i < text.len; i++) {
		if (text.ptr[i] == '"')
			buf_putc(out, '"');
		buf_putc(out, text.ptr[i]);
	}
	if (is_quoted)
		buf_putc(out, '"');
}

void csv_next(struct buf *out)
{
	buf_putc(out, ',');
}

void csv_end_row(struct buf *out)
{
	buf_puts(out, "\r\n");
}
