// SPDX-License-Identifier: Apache-2.0
#include "lib/os/byte-source.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

struct byte_source byte_source_memory(struct str bytes)
{
	return (struct byte_source){.memory = bytes.ptr ? bytes.ptr : "", .fd = -1, .size = bytes.len};
}

struct byte_source byte_source_file(int fd, uint64_t size)
{
	return (struct byte_source){.memory = NULL, .fd = fd, .size = size};
}

struct byte_source byte_source_function(byte_source_fn *read, void *ctx, uint64_t size)
{
	return (struct byte_source){.fd = -1, .size = size, .read = read, .ctx = ctx};
}

static int read_from_file(const struct byte_source *s, uint64_t offset, char *out, size_t len, struct err *e)
{
	while (len) {
		ssize_t n = pread(s->fd, out, len, (off_t)offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_errno(e, ERR_IO, "cannot read");
		if (n == 0)
			return err_set(e, ERR_INVALID, "truncated while it was read");
		out += n;
		offset += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

int byte_source_read(const struct byte_source *s, uint64_t offset, void *out, size_t len, struct err *e)
{
	if (offset > s->size || len > s->size - offset)
		return err_set(e, ERR_INVALID, "truncated: bytes end at %llu", (unsigned long long)s->size);
	if (s->read)
		return s->read(s->ctx, offset, out, len, e);
	if (!s->memory)
		return read_from_file(s, offset, out, len, e);
	if (len)
		memcpy(out, s->memory + offset, len);
	return 0;
}
