// SPDX-License-Identifier: Apache-2.0
// Unpacks members of a ZIP file with libzip. zipframe has found and checked the bytes of each member; libzip sees only
// these bytes. Any thread.
#pragma once

#include "lib/base/buf.h"
#include "lib/domain/archive/zipdirectory.h"

// Called for each piece, which is borrowed for the call. Returns 0, or -1 with *e set, which ends the reading.
typedef int zipread_sink(void *ctx, struct str piece, struct err *e);

// Unpacks a member piece by piece. ERR_INVALID if the data is damaged or its size or CRC is not the declared one; the
// sink never gets more than that size. ERR_LIMIT from 4 GiB on, ERR_IO if the source cannot be read.
int zipread_member(const struct byte_source *s, const struct zipmember *m, zipread_sink *sink, void *ctx,
	struct err *e) MUST_CHECK;
// Appends the whole member to out. ERR_LIMIT if its declared size does not fit under the ceiling of out.
int zipread_whole(const struct byte_source *s, const struct zipmember *m, struct buf *out, struct err *e) MUST_CHECK;
