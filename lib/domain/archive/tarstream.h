// SPDX-License-Identifier: Apache-2.0
// A tar archive that arrives piece by piece: POSIX ustar and pax, GNU long names. One thread at a
// time.
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

// Called with each entry; may set *keep to a buffer that its bytes go to, past whose ceiling is
// ERR_LIMIT. Returns 0, or -1 with *e set: the reading ends.
typedef int tarstream_fn(void *ctx, const struct tarentry *entry, struct buf **keep, struct err *e);

enum { TAR_BLOCK = 512 };

struct tarstream {
	tarstream_fn *fn;
	void *ctx;
	char block[TAR_BLOCK]; // a header, as far as it has come
	size_t have;
	uint64_t left, padding; // of the present entry
	struct buf *keep;       // where its bytes go; NULL: nowhere
	struct buf extended;    // a pax header or a GNU long name: of the entry that follows
	char extended_type;     // 'x', 'L'; 0 without one
	bool has_entries, has_ended;
};

// Whether a block's check sum is right: all that tells a tar from other files.
bool tarstream_is_header(const char block[TAR_BLOCK]);
void tarstream_init(struct tarstream *t, tarstream_fn *fn, void *ctx);
void tarstream_release(struct tarstream *t);
// Takes the next piece. ERR_INVALID where it is no tar, or a sparse file is in it.
int tarstream_add(struct tarstream *t, struct str piece, struct err *e) MUST_CHECK;
// Behind the last piece: ERR_INVALID where more should have come, or nothing was in it.
int tarstream_end(struct tarstream *t, struct err *e) MUST_CHECK;
