// SPDX-License-Identifier: Apache-2.0
// Tar archives: the entries are the same, whatever the sizes of the pieces that arrive. The first byte of an input is
// the size of the pieces.
#include "lib/domain/archive/tarstream.h"

#include "tests/fuzz/tarsums.h"

enum { LISTING_MAX = 1 << 20, KEPT_MAX = 4096 };

struct tar_listing {
	struct buf entries; // one line per entry, and the error that ended the reading
	struct buf kept;    // the content of files named PKG-INFO
	uint64_t keeps;     // the sum of their sizes
};

static void tar_listing_release(struct tar_listing *l)
{
	buf_release(&l->entries);
	buf_release(&l->kept);
}

static int list_entry(void *ctx, const struct tarentry *entry, struct buf **keep, struct err *e UNUSED)
{
	struct tar_listing *l = ctx;
	HOLDS(!*keep);
	buf_printf(&l->entries, "%c %llu ", entry->type, (unsigned long long)entry->size);
	buf_str(&l->entries, entry->path);
	buf_putc(&l->entries, '\n');
	if (entry->type != '0' || !str_ends(entry->path, STR("PKG-INFO")))
		return 0;
	*keep = &l->kept;
	l->keeps += entry->size;
	return 0;
}

static void list_tar(struct str tar, size_t piece, struct tar_listing *out)
{
	CLEANUP(tarstream_release) struct tarstream t;
	struct err e = ERR_INIT;
	int result = 0;
	buf_init(&out->entries, LISTING_MAX);
	buf_init(&out->kept, KEPT_MAX);
	tarstream_init(&t, list_entry, out);
	for (size_t at = 0; at < tar.len && result == 0; at += piece) {
		size_t end = piece < tar.len - at ? at + piece : tar.len;
		result = tarstream_add(&t, str_slice(tar, at, end), &e);
	}
	if (result == 0)
		result = tarstream_end(&t, &e);
	HOLDS((result == 0) == (e.kind == ERR_NONE) && !out->kept.failed);
	HOLDS(result < 0 || (out->entries.len > 0 && out->kept.len == out->keeps));
	buf_puts(&out->entries, e.msg);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	if (size < 2)
		return 0;
	struct str text = fuzz_text(bytes + 1, size - 1);
	CLEANUP(mem_free) char *sound = tarsums_set(text);
	CLEANUP(tar_listing_release) struct tar_listing whole = {0}, pieces = {0};
	list_tar((struct str){sound, text.len}, text.len, &whole);
	list_tar((struct str){sound, text.len}, 1u + bytes[0], &pieces);
	HOLDS(str_eq(buf_view(&whole.entries), buf_view(&pieces.entries)));
	HOLDS(str_eq(buf_view(&whole.kept), buf_view(&pieces.kept)));
	return 0;
}
