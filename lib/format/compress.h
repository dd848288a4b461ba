// SPDX-License-Identifier: Apache-2.0
// Packing: gzip (RFC 1952) by libdeflate, and what comes in pieces by zlib; zstd (RFC 8878) by libzstd. Same input, same
// output.
#pragma once

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/os/byte-source.h"

// Add the packed bytes to out. Levels as the libraries count them (gzip 1-12, zstd 1-19).
int compress_gzip(struct str bytes, int level, struct buf *out, struct err *e) MUST_CHECK;
int compress_zstd(struct str bytes, int level, struct buf *out, struct err *e) MUST_CHECK;

// What a thread keeps from one small frame to the next: making it takes longer than packing one.
struct compress;

struct compress *compress_new(void);
void compress_free(struct compress *p); // NULL is fine
int compress_zstd_by(struct compress *p, struct str bytes, int level, struct buf *out, struct err *e) MUST_CHECK;

// Adds what one zstd frame holds to out; ERR_LIMIT where it passes out's ceiling.
int decompress_zstd(struct str packed, struct buf *out, struct err *e) MUST_CHECK;

// Adds what a gzip file in memory holds (several members are one) to out: ERR_LIMIT where it passes out's ceiling,
// ERR_INVALID where it is damaged, or its end is missing.
int decompress_gzip_whole(struct str packed, struct buf *out, struct err *e) MUST_CHECK;

// Called with each piece of what comes out. Returns 0 to go on, 1 to end early, -1 with *e set.
typedef int decompress_sink(void *ctx, struct str piece, struct err *e);
// Unpacks a gzip file (several members are one stream) piece by piece, its CRC checked at the end.
int decompress_gzip(const struct byte_source *packed, decompress_sink *sink, void *ctx, struct err *e) MUST_CHECK;
