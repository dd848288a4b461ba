// SPDX-License-Identifier: Apache-2.0
// A read buffer over a byte source, so that a walk over the records reads each block once. One thread at a time.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "lib/os/byte-source.h"

// Initialise it with {.source = s}.
struct zipwindow {
	const struct byte_source *source; // borrowed
	char *bytes;
	size_t room, len; // allocated; filled
	uint64_t at;      // offset in the source of the first byte
};

void zipwindow_release(struct zipwindow *w);
// Returns the len bytes at the offset, which are valid until the next call. NULL on an error: ERR_INVALID if the source
// ends before, ERR_IO if it cannot be read.
const char *zipwindow_get(struct zipwindow *w, uint64_t at, size_t len, struct err *e) MUST_CHECK;
