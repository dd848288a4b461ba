// SPDX-License-Identifier: Apache-2.0
// Unpacks members of a ZIP file with libzip. zipframe has found and checked the bytes of each member; libzip sees only
// these bytes. Any thread.
#pragma once

#include "lib/base/buf.h"
#include "lib/domain/archive/zipdirectory.h"
#include "lib/format/inflate.h"

// Called for each piece, which is borrowed for the call. Returns 0, or -1 with *e set, which ends the reading.
typedef int zipread_sink(void *ctx, struct str piece, struct err *e);

// Unpacks a member piece by piece. ERR_INVALID if the data is damaged or its size or CRC is not the declared one; the
// sink never gets more than that size. ERR_LIMIT from 4 GiB on, ERR_IO if the source cannot be read.
int zipread_member(const struct byte_source *s, const struct zipmember *m, zipread_sink *sink, void *ctx,
	struct err *e) MUST_CHECK;
// Appends the whole member to out. ERR_LIMIT if its declared size does not fit under the ceiling of out.
int zipread_whole(const struct byte_source *s, const struct zipmember *m, struct buf *out, struct err *e) MUST_CHECK;

// Whole members of a ZIP file in memory, one at a time; zipread.h hands them over in pieces. zipframe has found and
// checked the bytes of each member. One thread at a time.

// The caller's storage; all zero but source is ready, and zipload_release ends it.
struct zipload {
	const struct byte_source *source; // borrowed
	struct inflater *inflater;
	struct zipload_pages {
		char *at;
		size_t room;
	} packed, unpacked;
};

void zipload_release(struct zipload *l); // for CLEANUP
// Gives the memory of large members back. The caller may then set another source and go on.
void zipload_trim(struct zipload *l);
// The first bytes of a member, at most size, as many as the first bytes of its data give. Returns their number, or -1:
// ERR_IO.
long zipload_head(struct zipload *l, const struct zipmember *m, char *out, size_t size, struct err *e) MUST_CHECK;
// The whole member, borrowed until the next call. The caller has compared its sizes with a limit. ERR_INVALID if its
// data is damaged, or its size or CRC is not the declared one; ERR_LIMIT if memory runs out; ERR_IO.
int zipload_whole(struct zipload *l, const struct zipmember *m, struct str *out, struct err *e) MUST_CHECK;
