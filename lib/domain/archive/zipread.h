// SPDX-License-Identifier: Apache-2.0
// Unpacks members of a ZIP file, by libzip. Which bytes a member is was found and proved by
// zipframe: libzip sees nothing but those. Thread-safe.
#pragma once

#include "lib/base/buf.h"
#include "lib/domain/archive/zipdirectory.h"

// Called with each piece; returns 0, or -1 with *e set.
typedef int zipread_sink(void *ctx, struct str piece, struct err *e);

// Unpacks a member piece by piece. ERR_INVALID where the data is damaged, or its size or CRC is not
// the declared one: never more than that size is handed out.
int zipread_member(const struct byte_source *s, const struct zipmember *m, zipread_sink *sink, void *ctx,
	struct err *e) MUST_CHECK;
// Adds the whole of a member to out; ERR_LIMIT where its declared size passes out's ceiling.
int zipread_whole(const struct byte_source *s, const struct zipmember *m, struct buf *out, struct err *e) MUST_CHECK;
