// SPDX-License-Identifier: Apache-2.0
// Request paths: no segment leads elsewhere, and a path that is encoded again decodes to the same segments.
#include "server/message/request.h"

#include <string.h>

#include "lib/format/escape.h"
#include "tests/fuzz/fuzz.h"

static void check_segment(struct str s)
{
	HOLDS(s.len && s.len <= LIMIT_SEGMENT && str_is_utf8(s) && s.ptr[s.len] == '\0');
	HOLDS(!str_eq(s, STR(".")) && !str_eq(s, STR("..")));
	for (size_t i = 0; i < s.len; i++)
		HOLDS((unsigned char)s.ptr[i] >= ' ' && s.ptr[i] != 0x7f && s.ptr[i] != '/' && s.ptr[i] != '\\');
}

static void check_encodes_to_same(const struct urlpath *path)
{
	CLEANUP(buf_release) struct buf text;
	struct urlpath continuation;
	buf_init(&text, 3 * LIMIT_PATH + 2);
	for (size_t i = 0; i < path->count; i++) {
		buf_putc(&text, '/');
		escape_url(&text, path->segment[i]);
	}
	if (path->has_trailing_slash)
		buf_putc(&text, '/');
	HOLDS(!text.failed);
	if (text.len > LIMIT_PATH)
		return;
	HOLDS(urlpath_parse(buf_view(&text), &continuation) == URLPATH_GOOD);
	HOLDS(continuation.count == path->count && continuation.has_trailing_slash == path->has_trailing_slash);
	for (size_t i = 0; i < path->count; i++)
		HOLDS(str_eq(continuation.segment[i], path->segment[i]));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct str text = fuzz_text(bytes, size);
	struct urlpath path;
	char decoded[128];
	if (urlpath_decode(text, decoded, sizeof(decoded)))
		HOLDS(strlen(decoded) <= text.len);
	if (urlpath_parse(text, &path) != URLPATH_GOOD)
		return 0;
	HOLDS(path.count <= URLPATH_SEGMENTS && text.ptr[0] == '/');
	for (size_t i = 0; i < path.count; i++)
		check_segment(path.segment[i]);
	check_encodes_to_same(&path);
	return 0;
}
