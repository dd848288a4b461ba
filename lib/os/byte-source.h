// SPDX-License-Identifier: Apache-2.0
// Bytes to be read at any place: memory, or an open file. A file is read with pread, never mapped: one
// that shrinks while we look is a short read, not a SIGBUS.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"
#include "lib/base/str.h"

struct byte_source {
	const char *memory; // NULL: read fd
	int fd;             // borrowed
	uint64_t size;
};

struct byte_source byte_source_memory(struct str bytes); // borrowed, must outlive the source
struct byte_source byte_source_file(int fd, uint64_t size);
// Reads exactly len bytes from offset; ERR_INVALID where the bytes end before, ERR_IO where reading fails.
int byte_source_read(const struct byte_source *s, uint64_t offset, void *out, size_t len, struct err *e) MUST_CHECK;
