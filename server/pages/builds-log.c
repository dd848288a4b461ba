// SPDX-License-Identifier: Apache-2.0
#include "server/pages/builds-log.h"

#include "lib/base/charclass.h"

#define REPLACEMENT "\xef\xbf\xbd"

// The length of the well-formed UTF-8 character at the beginning of s; 0: there is none.
static size_t character_length(struct str s)
{
	unsigned char c = (unsigned char)s.ptr[0];
	size_t len = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
	return len <= s.len && str_is_utf8(str_slice(s, 0, len)) ? len : 0;
}

// Returns how many bytes of the log it takes.
static size_t put_control(struct str rest, struct buf *out)
{
	unsigned char c = (unsigned char)rest.ptr[0];
	if (c == '\r') {
		buf_putc(out, '\n');
		return rest.len > 1 && rest.ptr[1] == '\n' ? 2 : 1;
	}
	buf_puts(out, "\xe2\x90");
	buf_putc(out, (char)(c == 0x7f ? 0xa1 : 0x80 + c));
	return 1;
}

void builds_log_clean(struct str log, struct buf *out)
{
	while (log.len) {
		unsigned char c = (unsigned char)log.ptr[0];
		size_t len = 1;
		if ((c >= ' ' && c < 0x7f) || c == '\n' || c == '\t') {
			buf_putc(out, (char)c);
		} else if (c < 0x80) {
			len = put_control(log, out);
		} else {
			len = character_length(log);
			struct str one = str_slice(log, 0, len);
			if (len && !charclass_unshowable(one))
				buf_str(out, one);
			else
				buf_puts(out, REPLACEMENT);
			len = len ? len : 1;
		}
		log = str_slice(log, len, log.len);
	}
}
