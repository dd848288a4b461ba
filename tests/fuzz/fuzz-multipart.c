// SPDX-License-Identifier: Apache-2.0
// Forms: in whatever pieces one arrives, the parts are the same. An input is the size of the pieces in its first byte, a
// line with the Content-Type, and the body.
#include "server/message/multipart.h"

#include <string.h>

#include "tests/fuzz/fuzz.h"

enum { TOLD_MAX = 4 << 20 };

struct telling {
	struct buf told;
	const struct multipart *m;
	size_t data;  // bytes that belong to parts
	size_t begin; // of the part's, in told
	bool is_in_part;
};

static int tell_begin(void *ctx, const struct multipart_part *part, struct err *e UNUSED)
{
	struct telling *t = ctx;
	HOLDS(!t->is_in_part);
	t->is_in_part = true;
	const char *const text[] = {part->name, part->filename ? part->filename : "", part->type ? part->type : ""};
	for (size_t i = 0; i < ARRAY_SIZE(text); i++) {
		HOLDS(!strpbrk(text[i], "\r\n"));
		HOLDS(i == 2 || str_is_utf8(str_from(text[i])));
		buf_printf(&t->told, "[%s]", text[i]);
	}
	t->begin = t->told.len;
	return 0;
}

static int tell_data(void *ctx, struct str bytes, struct err *e UNUSED)
{
	struct telling *t = ctx;
	HOLDS(t->is_in_part && bytes.len);
	t->data += bytes.len;
	buf_str(&t->told, bytes);
	return 0;
}

static int tell_end(void *ctx, struct err *e UNUSED)
{
	struct telling *t = ctx;
	HOLDS(t->is_in_part);
	HOLDS(!memmem(t->told.data + t->begin, t->told.len - t->begin, t->m->delimiter, t->m->delimiter_len));
	t->is_in_part = false;
	buf_puts(&t->told, "[end]");
	return 0;
}

static void tell(const char *type, struct str body, size_t piece, struct telling *t)
{
	static const struct multipart_ops ops = {tell_begin, tell_data, tell_end};
	struct multipart m;
	struct err e = ERR_INIT;
	*t = (struct telling){.m = &m};
	buf_init(&t->told, TOLD_MAX);
	int result = multipart_init(&m, type, &ops, t, &e);
	if (result < 0) {
		HOLDS(e.kind == ERR_INVALID);
		return;
	}
	for (size_t at = 0; at < body.len && result == 0; at += piece)
		result = multipart_add(&m, str_slice(body, at, piece < body.len - at ? at + piece : body.len), &e);
	if (result == 0)
		result = multipart_end(&m, &e);
	HOLDS(result == 0 ? e.kind == ERR_NONE && !t->is_in_part : e.kind == ERR_INVALID || e.kind == ERR_LIMIT);
	HOLDS(t->data <= body.len);
	multipart_release(&m);
	buf_puts(&t->told, e.msg);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	if (size < 2)
		return 0;
	struct str body = fuzz_text(bytes + 1, size - 1);
	CLEANUP(mem_free) char *type = fuzz_take(&body, '\n');
	struct telling whole, pieces;
	if (!body.len)
		return 0;
	tell(type, body, body.len, &whole);
	tell(type, body, bytes[0] % 97 + 1, &pieces);
	HOLDS(str_eq(buf_view(&whole.told), buf_view(&pieces.told)));
	buf_release(&whole.told);
	buf_release(&pieces.told);
	return 0;
}
