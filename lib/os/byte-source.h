// SPDX-License-Identifier: Apache-2.0
// Random access to bytes in memory or in an open file.
// A file is read with pread() and never mapped: if it shrinks meanwhile, the read fails and there is no SIGBUS. Nothing
// is owned, and nothing needs to be released. Any thread.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"
#include "lib/base/str.h"

struct byte_source {
	const char *memory; // borrowed; NULL: the bytes are in fd
	int fd;             // borrowed
	uint64_t size;
};

struct byte_source byte_source_memory(struct str bytes); // bytes must outlive the source
struct byte_source byte_source_file(int fd, uint64_t size);
// Reads exactly len bytes from offset. ERR_INVALID if there are fewer, ERR_IO if reading fails.
int byte_source_read(const struct byte_source *s, uint64_t offset, void *out, size_t len, struct err *e) MUST_CHECK;
