// SPDX-License-Identifier: Apache-2.0
#include "lib/format/inflate.h"

#include <libdeflate.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

#include "lib/base/mem.h"

enum { RAW = -15 }; // zlib's code for the largest window and no header

struct inflater {
	struct libdeflate_decompressor *whole;
	z_stream head;
};

struct inflater *inflater_new(void)
{
	struct inflater *i = xcalloc(1, sizeof(*i));
	i->whole = libdeflate_alloc_decompressor();
	if (!i->whole || inflateInit2(&i->head, RAW) != Z_OK) {
		fputs("out of memory\n", stderr);
		abort();
	}
	return i;
}

void inflater_free(struct inflater *i)
{
	if (!i)
		return;
	libdeflate_free_decompressor(i->whole);
	inflateEnd(&i->head);
	free(i);
}

int inflater_whole(struct inflater *i, struct str packed, char *out, size_t size, struct err *e)
{
	enum libdeflate_result result =
		libdeflate_deflate_decompress(i->whole, packed.ptr, packed.len, out, size, NULL);
	if (result == LIBDEFLATE_SUCCESS)
		return 0;
	return err_set(e, ERR_INVALID, result == LIBDEFLATE_BAD_DATA ? "damaged data" : "size differs");
}

size_t inflater_head(struct inflater *i, struct str packed, char *out, size_t size)
{
	z_stream *z = &i->head;
	inflateReset(z);
	z->next_in = (unsigned char *)(uintptr_t)packed.ptr;
	z->avail_in = (unsigned)packed.len;
	z->next_out = (unsigned char *)out;
	z->avail_out = (unsigned)size;
	inflate(z, Z_SYNC_FLUSH);
	return size - z->avail_out;
}

uint32_t inflate_crc32(struct str bytes)
{
	return libdeflate_crc32(0, bytes.ptr, bytes.len);
}
