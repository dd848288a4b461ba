// SPDX-License-Identifier: Apache-2.0
// Reads a tar archive that arrives piece by piece: POSIX ustar and pax, GNU long names. The caller owns the struct and
// releases it. One thread at a time. Of an archive that is written it makes the headers.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"

struct tarentry {
	struct str path; // borrowed for the call
	char type;       // '0' file, '5' folder, and so on (POSIX, ustar's typeflag)
	uint64_t size;
};

// Called for each entry. It may set *keep to a buffer that receives the entry's bytes; an entry larger than the
// buffer's ceiling is ERR_LIMIT. Returns 0, or -1 with *e set, which ends the reading.
typedef int tarstream_fn(void *ctx, const struct tarentry *entry, struct buf **keep, struct err *e);

enum { TAR_BLOCK = 512 };

struct tarstream {
	tarstream_fn *fn;
	void *ctx;
	char block[TAR_BLOCK]; // the part of a header that has arrived
	size_t have;
	uint64_t left, padding; // bytes of the current entry that are still to come
	struct buf *keep;       // receives the bytes of the current entry; NULL: they are skipped
	struct buf extended;    // a pax header or a GNU long name, which describes the next entry
	char extended_type;     // 'x' or 'L'; 0: none
	bool has_entries, has_ended;
};

// Whether the checksum of the block is right. Nothing else identifies a tar archive.
bool tarstream_is_header(const char block[TAR_BLOCK]);
void tarstream_init(struct tarstream *t, tarstream_fn *fn, void *ctx);
void tarstream_release(struct tarstream *t);
// Reads the next piece. ERR_INVALID if this is not a tar archive or it holds a sparse file, ERR_LIMIT if an extended
// header is too large, and the errors of the callback.
int tarstream_add(struct tarstream *t, struct str piece, struct err *e) MUST_CHECK;
// Call it after the last piece. ERR_INVALID if the archive is truncated or has no entries.
int tarstream_end(struct tarstream *t, struct err *e) MUST_CHECK;

// --- writing ---

// Appends what stands in front of the bytes of a regular file: a pax header if the path or the size need one, then
// ustar's. The same path and size give the same bytes, without times and owners. The file's bytes follow, then zeros up
// to the next block; two blocks of zeros end an archive.
void tarstream_header(const char *path, uint64_t size, struct buf *out);
// The number of these zeros.
size_t tarstream_padding(uint64_t size);
