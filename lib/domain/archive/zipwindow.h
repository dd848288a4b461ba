// SPDX-License-Identifier: Apache-2.0
// The part of a source that was read last: a walk over its records reads each block once.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "lib/os/byte-source.h"

// {.source = s} to begin with.
struct zipwindow {
	const struct byte_source *source; // borrowed
	char *bytes;
	size_t room, len;
	uint64_t at;
};

void zipwindow_release(struct zipwindow *w);
// len bytes from there on, which stay until the next call. NULL: ERR_INVALID where the file ends
// before, ERR_IO.
const char *zipwindow_get(struct zipwindow *w, uint64_t at, size_t len, struct err *e) MUST_CHECK;
