// SPDX-License-Identifier: Apache-2.0
#include "lib/format/compress.h"

#include <libdeflate.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>
#if HAVE_ISAL
#include <isa-l/igzip_lib.h>
#endif

enum {
	GZIP_WINDOW = 15 + 16, // zlib's code for a 32 KiB window and a gzip header
	BLOCK = 64 << 10,
};

static void inflate_done(z_stream *z)
{
	inflateEnd(z);
}

// --- gzip ---

// Of a large page time counts, and of a small one bytes.
enum { LARGE = 256 << 10, SMALL_LEVEL = 5 };

#if HAVE_ISAL
static int compress_large(struct str bytes, struct buf *out, struct err *e)
{
	CLEANUP(mem_free) struct isal_zstream *z = xmalloc(sizeof(*z));
	CLEANUP(mem_free) void *work = xmalloc(ISAL_DEF_LVL1_DEFAULT);
	isal_deflate_init(z);
	z->level = 1;
	z->level_buf = work;
	z->level_buf_size = ISAL_DEF_LVL1_DEFAULT;
	z->gzip_flag = IGZIP_GZIP;
	memcpy(&z->next_in, &bytes.ptr, sizeof(z->next_in));
	z->avail_in = (uint32_t)bytes.len;
	z->end_of_stream = 1;
	while (z->internal_state.state != ZSTATE_END) {
		char *room = buf_reserve(out, BLOCK);
		if (!room)
			return err_set(e, ERR_LIMIT, "gzip: the result is too large");
		z->next_out = (uint8_t *)room;
		z->avail_out = BLOCK;
		if (isal_deflate(z) != COMP_OK)
			return err_set(e, ERR_INVALID, "gzip: ISA-L refuses the input");
		out->len += BLOCK - z->avail_out;
	}
	out->data[out->len] = '\0';
	return 0;
}
#endif

static void gzip_done(struct libdeflate_compressor **gzip)
{
	libdeflate_free_compressor(*gzip);
}

int compress_gzip(struct str bytes, struct buf *out, struct err *e)
{
#if HAVE_ISAL
	if (bytes.len >= LARGE)
		return compress_large(bytes, out, e);
#endif
	CLEANUP(gzip_done) struct libdeflate_compressor *gzip = libdeflate_alloc_compressor(SMALL_LEVEL);
	if (!gzip)
		return err_set(e, ERR_LIMIT, "gzip: out of memory");
	size_t bound = libdeflate_gzip_compress_bound(gzip, bytes.len);
	char *room = buf_reserve(out, bound);
	if (!room)
		return err_set(e, ERR_LIMIT, "gzip: the result is too large");
	out->len += libdeflate_gzip_compress(gzip, bytes.ptr, bytes.len, room, bound); // never fails with this bound
	out->data[out->len] = '\0';
	return 0;
}

// --- zstd ---

struct compress {
	ZSTD_CCtx *zstd; // NULL: out of memory
};

struct compress *compress_new(void)
{
	struct compress *p = xmalloc(sizeof(*p));
	p->zstd = ZSTD_createCCtx();
	return p;
}

void compress_free(struct compress *p)
{
	if (p)
		ZSTD_freeCCtx(p->zstd);
	free(p);
}

int compress_zstd_by(struct compress *p, struct str bytes, int level, struct buf *out, struct err *e)
{
	if (!p->zstd)
		return err_set(e, ERR_LIMIT, "zstd: out of memory");
	size_t bound = ZSTD_compressBound(bytes.len);
	char *room = buf_reserve(out, bound);
	if (!room)
		return err_set(e, ERR_LIMIT, "zstd: the result is too large");
	size_t n = ZSTD_compressCCtx(p->zstd, room, bound, bytes.ptr, bytes.len, level);
	if (ZSTD_isError(n))
		return err_set(e, ERR_INVALID, "zstd: %s", ZSTD_getErrorName(n));
	out->len += n;
	out->data[out->len] = '\0';
	return 0;
}

int compress_zstd(struct str bytes, int level, struct buf *out, struct err *e)
{
	struct compress *p = compress_new();
	int r = compress_zstd_by(p, bytes, level, out, e);
	compress_free(p);
	return r;
}

int decompress_zstd(struct str packed, struct buf *out, struct err *e)
{
	unsigned long long size = ZSTD_getFrameContentSize(packed.ptr, packed.len);
	if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN)
		return err_set(e, ERR_INVALID, "zstd: not a frame that states its size");
	char *room = size > out->cap ? NULL : buf_reserve(out, (size_t)size);
	if (!room)
		return err_set(e, ERR_LIMIT, "zstd: the content has %llu bytes, which is too much", size);
	size_t n = ZSTD_decompress(room, (size_t)size, packed.ptr, packed.len);
	if (ZSTD_isError(n))
		return err_set(e, ERR_INVALID, "zstd: %s", ZSTD_getErrorName(n));
	out->len += n;
	out->data[out->len] = '\0';
	return 0;
}

static void gunzip_done(struct libdeflate_decompressor **gzip)
{
	libdeflate_free_decompressor(*gzip);
}

// The length in the last four bytes of the last member: that of the whole content if there is one member.
static size_t stated_length(struct str packed)
{
	const unsigned char *end = (const unsigned char *)packed.ptr + packed.len;
	return packed.len < 4 ? 0
			      : (size_t)end[-4] | (size_t)end[-3] << 8 | (size_t)end[-2] << 16 | (size_t)end[-1] << 24;
}

// Decompresses the first member and cuts it off *packed.
static int gunzip_member(struct libdeflate_decompressor *gzip, struct str *packed, struct buf *out, struct err *e)
{
	size_t left = out->cap - out->len, guess = stated_length(*packed);
	size_t size = guess < left ? guess : left;
	for (;;) {
		size_t taken = 0, given = 0;
		char *room = buf_reserve(out, size);
		enum libdeflate_result result =
			libdeflate_gzip_decompress_ex(gzip, packed->ptr, packed->len, room, size, &taken, &given);
		if (result == LIBDEFLATE_SUCCESS) {
			out->len += given;
			out->data[out->len] = '\0';
			*packed = str_slice(*packed, taken, packed->len);
			return 0;
		}
		if (result != LIBDEFLATE_INSUFFICIENT_SPACE)
			return err_set(e, ERR_INVALID, "gzip: damaged or truncated");
		if (size == left)
			return err_set(e, ERR_LIMIT, "gzip: the content has more than %zu bytes", out->cap);
		size = left - size > size + BLOCK ? 2 * size + BLOCK : left;
	}
}

int decompress_gzip_whole(struct str packed, struct buf *out, struct err *e)
{
	CLEANUP(gunzip_done) struct libdeflate_decompressor *gzip = libdeflate_alloc_decompressor();
	if (!gzip)
		return err_set(e, ERR_LIMIT, "gzip: out of memory");
	do {
		if (gunzip_member(gzip, &packed, out, e) < 0)
			return -1;
	} while (packed.len);
	return 0;
}

// Reads the next block of the file; at its end, an empty one.
static int refill_input(z_stream *z, const struct byte_source *s, uint64_t *offset, unsigned char *block, struct err *e)
{
	uint64_t left = s->size - *offset;
	size_t n = left < BLOCK ? (size_t)left : BLOCK;
	if (byte_source_read(s, *offset, block, n, e) < 0)
		return -1;
	*offset += n;
	z->next_in = block;
	z->avail_in = (unsigned)n;
	return 0;
}

// Decompresses the member at the position of z.
static int inflate_member(z_stream *z, const struct byte_source *s, uint64_t *offset, unsigned char *block,
	decompress_sink *sink, void *ctx, struct err *e)
{
	unsigned char out[BLOCK];
	for (;;) {
		if (z->avail_in == 0 && refill_input(z, s, offset, block, e) < 0)
			return -1;
		z->next_out = out;
		z->avail_out = sizeof(out);
		int code = inflate(z, Z_NO_FLUSH);
		if (code != Z_OK && code != Z_STREAM_END)
			return err_set(e, ERR_INVALID, "gzip: %s", z->msg ? z->msg : "truncated");
		size_t n = sizeof(out) - z->avail_out;
		int go = n ? sink(ctx, (struct str){(char *)out, n}, e) : 0;
		if (go)
			return go;
		if (code == Z_STREAM_END)
			return 0;
	}
}

int decompress_gzip(const struct byte_source *packed, decompress_sink *sink, void *ctx, struct err *e)
{
	CLEANUP(inflate_done) z_stream z = {0};
	unsigned char block[BLOCK];
	uint64_t offset = 0;
	if (inflateInit2(&z, GZIP_WINDOW) != Z_OK)
		return err_set(e, ERR_LIMIT, "gzip: out of memory");
	do {
		int go = inflate_member(&z, packed, &offset, block, sink, ctx, e);
		if (go)
			return go < 0 ? -1 : 0;
		inflateReset(&z);
	} while (z.avail_in || offset < packed->size);
	return 0;
}

// --- zstd in pieces ---

struct compress_stream {
	ZSTD_CCtx *zstd;
	decompress_sink *sink;
	void *ctx;
	char out[BLOCK];
};

struct compress_stream *compress_stream_new(int level, decompress_sink *sink, void *ctx)
{
	struct compress_stream *s = xmalloc(sizeof(*s));
	s->zstd = ZSTD_createCCtx();
	s->sink = sink;
	s->ctx = ctx;
	if (s->zstd)
		ZSTD_CCtx_setParameter(s->zstd, ZSTD_c_compressionLevel, level);
	return s;
}

void compress_stream_free(struct compress_stream *s)
{
	if (s)
		ZSTD_freeCCtx(s->zstd);
	free(s);
}

static int pack_more(struct compress_stream *s, struct str bytes, ZSTD_EndDirective how, struct err *e)
{
	ZSTD_inBuffer in = {bytes.ptr, bytes.len, 0};
	size_t left;
	if (!s->zstd)
		return err_set(e, ERR_LIMIT, "zstd: out of memory");
	do {
		ZSTD_outBuffer out = {s->out, sizeof(s->out), 0};
		left = ZSTD_compressStream2(s->zstd, &out, &in, how);
		if (ZSTD_isError(left))
			return err_set(e, ERR_LIMIT, "zstd: %s", ZSTD_getErrorName(left));
		if (out.pos && s->sink(s->ctx, (struct str){s->out, out.pos}, e) < 0)
			return -1;
	} while (in.pos < in.size || (how == ZSTD_e_end && left));
	return 0;
}

int compress_stream_add(struct compress_stream *s, struct str bytes, struct err *e)
{
	return pack_more(s, bytes, ZSTD_e_continue, e);
}

int compress_stream_end(struct compress_stream *s, struct err *e)
{
	return pack_more(s, STR(""), ZSTD_e_end, e);
}

struct decompress_stream {
	ZSTD_DCtx *zstd;
	decompress_source *source;
	void *ctx;
	ZSTD_inBuffer in;
	bool has_ended; // the frame
	char block[BLOCK];
};

struct decompress_stream *decompress_stream_new(size_t window, decompress_source *source, void *ctx)
{
	struct decompress_stream *s = xmalloc(sizeof(*s));
	int bits = 0;
	while ((size_t)1 << bits < window)
		bits++;
	s->zstd = ZSTD_createDCtx();
	if (s->zstd)
		ZSTD_DCtx_setParameter(s->zstd, ZSTD_d_windowLogMax, bits);
	s->source = source;
	s->ctx = ctx;
	s->in = (ZSTD_inBuffer){s->block, 0, 0};
	s->has_ended = false;
	return s;
}

void decompress_stream_free(struct decompress_stream *s)
{
	if (s)
		ZSTD_freeDCtx(s->zstd);
	free(s);
}

// 1: there is input; 0: its end.
static int refill_stream(struct decompress_stream *s, struct err *e)
{
	if (s->in.pos < s->in.size)
		return 1;
	s->in.pos = s->in.size = 0;
	return s->source(s->ctx, s->block, sizeof(s->block), &s->in.size, e) < 0 ? -1 : s->in.size > 0;
}

int decompress_stream_read(struct decompress_stream *s, void *to, size_t len, struct err *e)
{
	ZSTD_outBuffer out = {to, len, 0};
	if (!s->zstd)
		return err_set(e, ERR_LIMIT, "zstd: out of memory");
	while (out.pos < len) {
		size_t before = out.pos;
		int more = s->has_ended ? 0 : refill_stream(s, e);
		if (more < 0)
			return -1;
		// What the library still holds comes without input.
		size_t left = s->has_ended ? 0 : ZSTD_decompressStream(s->zstd, &out, &s->in);
		if (ZSTD_isError(left))
			return err_set(e, ERR_INVALID, "zstd: %s", ZSTD_getErrorName(left));
		s->has_ended |= left == 0;
		if (!more && out.pos == before)
			return err_set(e, ERR_INVALID, "zstd: it ends early");
	}
	return 0;
}

int decompress_stream_end(struct decompress_stream *s, struct err *e)
{
	char extra;
	ZSTD_outBuffer out = {&extra, 1, 0};
	while (s->zstd && !s->has_ended) {
		int more = refill_stream(s, e);
		size_t left = more < 0 ? 0 : ZSTD_decompressStream(s->zstd, &out, &s->in);
		if (more < 0)
			return -1;
		if (ZSTD_isError(left))
			return err_set(e, ERR_INVALID, "zstd: %s", ZSTD_getErrorName(left));
		s->has_ended |= left == 0;
		if (out.pos || (!more && !s->has_ended))
			return err_set(e, ERR_INVALID, "zstd: it does not end where it should");
	}
	int more = refill_stream(s, e);
	return more > 0 ? err_set(e, ERR_INVALID, "zstd: something follows it") : more;
}
