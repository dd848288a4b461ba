// SPDX-License-Identifier: Apache-2.0
#include "server/message/urlpath.h"

#include <string.h>

#include "lib/format/digest.h"

// Decodes s to out, which has room for s.len bytes. Returns the length, or -1.
static long decode_percent(struct str s, char *out)
{
	size_t len = 0;
	for (size_t i = 0; i < s.len; i++) {
		uint8_t byte = (uint8_t)s.ptr[i];
		if (s.ptr[i] == '%') {
			if (s.len - i < 3 || !hex_decode(str_slice(s, i + 1, i + 3), &byte, 1))
				return -1;
			i += 2;
		}
		if (byte < 0x20 || byte == 0x7f)
			return -1;
		out[len++] = (char)byte;
	}
	return (long)len;
}

bool urlpath_decode(struct str raw, char *out, size_t room)
{
	if (raw.len >= room)
		return false;
	long len = decode_percent(raw, out);
	out[len < 0 ? 0 : len] = '\0';
	return len >= 0;
}

static enum urlpath_result check_segment(struct str s)
{
	if (!str_is_utf8(s))
		return URLPATH_MALFORMED;
	if (!s.len || s.len > LIMIT_SEGMENT || str_eq(s, STR(".")) || str_eq(s, STR("..")))
		return URLPATH_UNKNOWN;
	return str_find(s, '/') >= 0 || str_find(s, '\\') >= 0 ? URLPATH_UNKNOWN : URLPATH_GOOD;
}

enum urlpath_result urlpath_parse(struct str raw, struct urlpath *out)
{
	char *at = out->bytes;
	out->count = 0;
	out->has_trailing_slash = false;
	if (raw.len > LIMIT_PATH)
		return URLPATH_UNKNOWN;
	if (!raw.len || raw.ptr[0] != '/')
		return URLPATH_MALFORMED;
	for (struct str rest = str_slice(raw, 1, raw.len); rest.ptr;) {
		struct str part = str_cut(&rest, '/');
		if (!part.len && !rest.ptr) {
			out->has_trailing_slash = true;
			return URLPATH_GOOD;
		}
		long len = decode_percent(part, at);
		if (len < 0)
			return URLPATH_MALFORMED;
		struct str segment = {at, (size_t)len};
		enum urlpath_result result = check_segment(segment);
		if (result != URLPATH_GOOD)
			return result;
		if (out->count == URLPATH_SEGMENTS)
			return URLPATH_UNKNOWN;
		out->segment[out->count++] = segment;
		at += len;
		*at++ = '\0';
	}
	return URLPATH_GOOD;
}
