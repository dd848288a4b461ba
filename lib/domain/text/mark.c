// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/text/mark.h"

#include "lib/base/limits.h"
#include "lib/format/jsondoc.h"

// One line: all that is no text becomes a blank, and several blanks one.
static void add_line(struct str text, struct buf *out)
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
	bool is_cut = out->len + is_apart >= LIMIT_REASON; // perhaps in the middle of a character
	while (is_cut && out->len && (out->data[out->len - 1] & 0x80) && !str_is_utf8(buf_view(out)))
		out->data[--out->len] = '\0';
}

// Where the last line begins.
static size_t last_line(struct str text)
{
	return (size_t)(str_rfind(str_trim(text), '\n') + 1);
}

bool mark_follows(struct str text)
{
	text = str_trim(text);
	return str_starts(str_slice(text, last_line(text), text.len), STR(MARK_FOLLOWS));
}

void mark_reason(enum mark mark, struct str text, struct buf *out)
{
	struct err no_json = ERR_INIT;
	CLEANUP(jsondoc_cleanup)
	struct jsondoc *doc = mark == MARK_PRUNED ? jsondoc_read(text, &no_json) : NULL;
	const char *reason = doc ? jsondoc_get_str(doc, "reason") : NULL;
	if (doc)
		text = str_from(reason ? reason : "");
	if (mark == MARK_YANKED && mark_follows(text))
		text = str_slice(str_trim(text), 0, last_line(str_trim(text)));
	add_line(text, out);
}
