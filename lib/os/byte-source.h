// SPDX-License-Identifier: Apache-2.0
// Random access to bytes in memory, in an open file, or where a function finds them.
// A file is read with pread() and never mapped: if it shrinks meanwhile, the read fails and there is no SIGBUS. Nothing
// is owned, and nothing needs to be released. Any thread.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"
#include "lib/base/str.h"

// Reads exactly len bytes, which are there. Any thread.
typedef int byte_source_fn(void *ctx, uint64_t offset, void *out, size_t len, struct err *e);

struct byte_source {
	const char *memory; // borrowed; NULL: the bytes are in fd, or those that read() gives
	int fd;             // borrowed
	uint64_t size;
	byte_source_fn *read; // NULL: there is none
	void *ctx;
};

struct byte_source byte_source_memory(struct str bytes); // bytes must outlive the source
struct byte_source byte_source_file(int fd, uint64_t size);
struct byte_source byte_source_function(byte_source_fn *read, void *ctx, uint64_t size);
// Reads exactly len bytes from offset. ERR_INVALID if there are fewer, ERR_IO if reading fails.
int byte_source_read(const struct byte_source *s, uint64_t offset, void *out, size_t len, struct err *e) MUST_CHECK;
