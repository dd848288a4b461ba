// SPDX-License-Identifier: Apache-2.0
// Compression: gzip (RFC 1952) with libdeflate, from 256 KB on with ISA-L where it is built with it, gzip in pieces
// with zlib, zstd (RFC 8878) with libzstd. The same input and level always give the same output on a machine. Any
// thread; a struct compress is for one thread at a time.
// Errors: ERR_INVALID for damaged input, ERR_LIMIT if the result exceeds out's limit or memory runs out.
#pragma once

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/os/byte-source.h"

// Add the compressed bytes to out. The levels are the library's (1-19). bytes has less than 4 GB.
int compress_gzip(struct str bytes, struct buf *out, struct err *e) MUST_CHECK;
int compress_zstd(struct str bytes, int level, struct buf *out, struct err *e) MUST_CHECK;

// A zstd context that a thread keeps for many small frames: creating one takes longer than compressing such a frame.
struct compress;

struct compress *compress_new(void);    // if memory runs out, compress_zstd_by reports it
void compress_free(struct compress *p); // NULL is fine
int compress_zstd_by(struct compress *p, struct str bytes, int level, struct buf *out, struct err *e) MUST_CHECK;

// Adds the content of one zstd frame, which must state its size, to out.
int decompress_zstd(struct str packed, struct buf *out, struct err *e) MUST_CHECK;

// Adds the content of a gzip file in memory to out. Several members are one content.
int decompress_gzip_whole(struct str packed, struct buf *out, struct err *e) MUST_CHECK;

// Called with each piece of the content, which is borrowed. Returns 0 to continue, 1 to end early, -1 with *e set.
typedef int decompress_sink(void *ctx, struct str piece, struct err *e);
// Decompresses a gzip file in pieces, and checks the CRC at the end of each member. Several members are one content.
// Returns 0 also if sink ended it early. Errors of reading (lib/os/byte-source.h) and of sink are passed on.
int decompress_gzip(const struct byte_source *packed, decompress_sink *sink, void *ctx, struct err *e) MUST_CHECK;

// --- zstd in pieces ---

// Packs one frame, whose pieces it gives to a decompress_sink. Memory: some MB.
struct compress_stream;

struct compress_stream *compress_stream_new(int level, decompress_sink *sink, void *ctx);
void compress_stream_free(struct compress_stream *s); // NULL is fine
// Errors of sink, which must not return 1.
int compress_stream_add(struct compress_stream *s, struct str bytes, struct err *e) MUST_CHECK;
// Ends the frame.
int compress_stream_end(struct compress_stream *s, struct err *e) MUST_CHECK;

// Unpacks one frame, whose window has at most `window` bytes, a power of two: so much memory is used.
struct decompress_stream;

// Writes up to `room` bytes to out, and their number to *got; 0: there are no more.
typedef int decompress_source(void *ctx, void *out, size_t room, size_t *got, struct err *e);
struct decompress_stream *decompress_stream_new(size_t window, decompress_source *source, void *ctx);
void decompress_stream_free(struct decompress_stream *s); // NULL is fine
// Writes exactly len bytes. ERR_INVALID: it is damaged, or has fewer. Errors of source.
int decompress_stream_read(struct decompress_stream *s, void *out, size_t len, struct err *e) MUST_CHECK;
// ERR_INVALID: the frame has not ended here, or something follows it.
int decompress_stream_end(struct decompress_stream *s, struct err *e) MUST_CHECK;
