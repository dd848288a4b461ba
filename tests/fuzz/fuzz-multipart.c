// SPDX-License-Identifier: Apache-2.0
// Forms: the parts are the same, whatever the sizes of the pieces that arrive. An input is a byte with the size of the
// pieces, a line with the Content-Type, and the body.
#include "server/message/multipart.h"

#include <string.h>

#include "tests/fuzz/fuzz.h"

enum { LOG_MAX = 4 << 20 };

struct part_log {
	struct buf log;
	const struct multipart *m;
	size_t data;  // bytes that belong to parts
	size_t begin; // of the part's bytes, in log
	bool is_in_part;
};

static int log_begin(void *ctx, const struct multipart_part *part, struct err *e UNUSED)
{
	struct part_log *t = ctx;
	HOLDS(!t->is_in_part);
	t->is_in_part = true;
	const char *const text[] = {part->name, part->filename ? part->filename : "", part->type ? part->type : ""};
	for (size_t i = 0; i < ARRAY_SIZE(text); i++) {
		HOLDS(!strpbrk(text[i], "\r\n"));
		HOLDS(i == 2 || str_is_utf8(str_from(text[i])));
		buf_printf(&t->log, "[%s]", text[i]);
	}
	t->begin = t->log.len;
	return 0;
}

static int log_data(void *ctx, struct str bytes, struct err *e UNUSED)
{
	struct part_log *t = ctx;
	HOLDS(t->is_in_part && bytes.len);
	t->data += bytes.len;
	buf_str(&t->log, bytes);
	return 0;
}

static int log_end(void *ctx, struct err *e UNUSED)
{
	struct part_log *t = ctx;
	HOLDS(t->is_in_part);
	HOLDS(!memmem(t->log.data + t->begin, t->log.len - t->begin, t->m->delimiter, t->m->delimiter_len));
	t->is_in_part = false;
	buf_puts(&t->log, "[end]");
	return 0;
}

static void log_form(const char *type, struct str body, size_t piece, struct part_log *t)
{
	static const struct multipart_ops ops = {log_begin, log_data, log_end};
	struct multipart m;
	struct err e = ERR_INIT;
	*t = (struct part_log){.m = &m};
	buf_init(&t->log, LOG_MAX);
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
	buf_puts(&t->log, e.msg);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	if (size < 2)
		return 0;
	struct str body = fuzz_text(bytes + 1, size - 1);
	CLEANUP(mem_free) char *type = fuzz_take(&body, '\n');
	struct part_log whole, pieces;
	if (!body.len)
		return 0;
	log_form(type, body, body.len, &whole);
	log_form(type, body, bytes[0] % 97 + 1, &pieces);
	HOLDS(str_eq(buf_view(&whole.log), buf_view(&pieces.log)));
	buf_release(&whole.log);
	buf_release(&pieces.log);
	return 0;
}
