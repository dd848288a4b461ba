// SPDX-License-Identifier: Apache-2.0
// Tar archives: in whatever pieces one arrives, the entries are the same. The first byte of an
// input is the size of the pieces.
#include "lib/domain/archive/tarstream.h"

#include "tests/fuzz/tarsums.h"

enum { TOLD_MAX = 1 << 20, KEPT_MAX = 4096 };

struct listing {
	struct buf told; // a line an entry, and what stopped the reading
	struct buf kept; // what files called PKG-INFO hold
	uint64_t keeps;  // how much that is
};

static void listing_release(struct listing *l)
{
	buf_release(&l->told);
	buf_release(&l->kept);
}

static int tell(void *ctx, const struct tarentry *entry, struct buf **keep, struct err *e UNUSED)
{
	struct listing *l = ctx;
	HOLDS(!*keep);
	buf_printf(&l->told, "%c %llu ", entry->type, (unsigned long long)entry->size);
	buf_str(&l->told, entry->path);
	buf_putc(&l->told, '\n');
	if (entry->type != '0' || !str_ends(entry->path, STR("PKG-INFO")))
		return 0;
	*keep = &l->kept;
	l->keeps += entry->size;
	return 0;
}

static void list(struct str tar, size_t piece, struct listing *out)
{
	CLEANUP(tarstream_release) struct tarstream t;
	struct err e = ERR_INIT;
	int result = 0;
	buf_init(&out->told, TOLD_MAX);
	buf_init(&out->kept, KEPT_MAX);
	tarstream_init(&t, tell, out);
	for (size_t at = 0; at < tar.len && result == 0; at += piece) {
		size_t end = piece < tar.len - at ? at + piece : tar.len;
		result = tarstream_add(&t, str_slice(tar, at, end), &e);
	}
	if (result == 0)
		result = tarstream_end(&t, &e);
	HOLDS((result == 0) == (e.kind == ERR_NONE) && !out->kept.failed);
	HOLDS(result < 0 || (out->told.len > 0 && out->kept.len == out->keeps));
	buf_puts(&out->told, e.msg);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	if (size < 2)
		return 0;
	struct str text = fuzz_text(bytes + 1, size - 1);
	CLEANUP(mem_free) char *sound = tarsums_set(text);
	CLEANUP(listing_release) struct listing whole = {0}, pieces = {0};
	list((struct str){sound, text.len}, text.len, &whole);
	list((struct str){sound, text.len}, 1u + bytes[0], &pieces);
	HOLDS(str_eq(buf_view(&whole.told), buf_view(&pieces.told)));
	HOLDS(str_eq(buf_view(&whole.kept), buf_view(&pieces.kept)));
	return 0;
}
