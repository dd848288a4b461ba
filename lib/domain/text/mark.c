// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/text/mark.h"

#include <stdio.h>

#include "lib/base/limits.h"
#include "lib/format/jsondoc.h"
#include "lib/os/clock.h"

// Appends the text as one line. Control characters become blanks, and several blanks become one.
static void add_as_line(struct str text, struct buf *out)
{
	bool is_apart = false;
	text = str_trim(text);
	for (size_t i = 0; i < text.len && out->len + is_apart < LIMIT_REASON; i++) {
		bool is_blank = (unsigned char)text.ptr[i] <= ' ' || text.ptr[i] == 0x7f;
		if (!is_blank && is_apart)
			buf_putc(out, ' ');
		if (!is_blank)
			buf_putc(out, text.ptr[i]);
		is_apart = is_blank;
	}
	bool is_cut = out->len + is_apart >= LIMIT_REASON; // the cut may be inside a character
	while (is_cut && out->len && (out->data[out->len - 1] & 0x80) && !str_is_utf8(buf_view(out)))
		out->data[--out->len] = '\0';
}

// The offset of the last line.
static size_t last_line_offset(struct str text)
{
	return (size_t)(str_rfind(str_trim(text), '\n') + 1);
}

bool mark_is_from_upstream(struct str text)
{
	text = str_trim(text);
	return str_starts(str_slice(text, last_line_offset(text), text.len), STR(MARK_FROM_UPSTREAM));
}

void mark_reason(enum mark mark, struct str text, struct buf *out)
{
	struct err no_json = ERR_INIT;
	CLEANUP(jsondoc_cleanup)
	struct jsondoc *doc = mark != MARK_YANKED ? jsondoc_read(text, &no_json) : NULL;
	const char *reason = doc ? jsondoc_get_str(doc, "reason") : NULL;
	if (doc)
		text = str_from(reason ? reason : "");
	if (mark == MARK_YANKED && mark_is_from_upstream(text))
		text = str_slice(str_trim(text), 0, last_line_offset(str_trim(text)));
	add_as_line(text, out);
}

void mark_time_write(int64_t uploaded, const uint8_t sha256[SHA256_SIZE], char out[MARK_TIME_TEXT])
{
	char when[CLOCK_TEXT], hex[SHA256_HEX + 1] = "";
	clock_write(uploaded, when);
	hex_encode(sha256, SHA256_SIZE, hex);
	snprintf(out, MARK_TIME_TEXT, "%s %s", when, hex);
}

bool mark_time_read(const char *text, int64_t *uploaded, uint8_t sha256[SHA256_SIZE])
{
	struct str hash = str_trim(str_from(text)), time = str_cut(&hash, ' ');
	char when[CLOCK_TEXT] = "";
	if (!hash.ptr || time.len != CLOCK_TEXT - 1)
		return false;
	memcpy(when, time.ptr, time.len);
	return clock_read(when, uploaded) && hex_decode(hash, sha256, SHA256_SIZE);
}
