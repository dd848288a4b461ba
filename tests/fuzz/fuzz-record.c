// SPDX-License-Identifier: Apache-2.0
// RECORD: the parsed rows, written with every field in quotes, parse to the same rows.
#include "lib/domain/wheel/record.h"

#include <inttypes.h>

#include "lib/base/buf.h"
#include "lib/base/decimal.h"
#include "tests/fuzz/fuzz.h"

static void check_decoded(const struct record_row *row)
{
	uint8_t sha256[SHA256_SIZE];
	uint64_t size;
	enum record_hash hash = record_hash_decode(row->hash, sha256);
	HOLDS((hash == RECORD_HASH_NONE) == (row->hash.len == 0));
	HOLDS(hash != RECORD_HASH_SHA256 || row->hash.len == 7 + 43);
	if (!decimal_parse(row->size, UINT64_MAX, &size))
		return;
	struct str digits = row->size;
	while (digits.len > 1 && digits.ptr[0] == '0')
		digits = str_slice(digits, 1, digits.len);
	CLEANUP(mem_free) char *text = xasprintf("%" PRIu64, size);
	HOLDS(str_eq(digits, str_from(text)));
}

static void put_quoted(struct buf *out, struct str field, char end)
{
	buf_putc(out, '"');
	for (size_t i = 0; i < field.len; i++) {
		if (field.ptr[i] == '"')
			buf_putc(out, '"');
		buf_putc(out, field.ptr[i]);
	}
	buf_putc(out, '"');
	buf_putc(out, end);
}

static int write_row(void *ctx, const struct record_row *row, struct err *e UNUSED)
{
	check_decoded(row);
	put_quoted(ctx, row->path, ',');
	put_quoted(ctx, row->hash, ',');
	put_quoted(ctx, row->size, '\n');
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf once, twice;
	buf_init(&once, 16 * size + 16);
	buf_init(&twice, 16 * size + 16);
	if (record_foreach(fuzz_text(bytes, size), write_row, &once, &e) < 0) {
		HOLDS(e.kind == ERR_INVALID && e.msg[0]);
		return 0;
	}
	HOLDS(record_foreach(buf_view(&once), write_row, &twice, &e) == 0);
	HOLDS(!once.failed && str_eq(buf_view(&once), buf_view(&twice)));
	return 0;
}
