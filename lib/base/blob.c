// SPDX-License-Identifier: Apache-2.0
#include "lib/base/blob.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "lib/base/buf.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22 // Linux 5.14; an older kernel returns EINVAL and reads the bytes when they are sent
#endif

enum { PREFETCH = 16 << 20 };

struct blob {
	atomic_size_t owners;
	char *data;
	size_t size;
	bool mapped, is_own; // is_own: of a file that nobody else has
};

static struct blob *blob_new(char *data, size_t size, bool mapped)
{
	struct blob *b = xmalloc(sizeof(*b));
	*b = (struct blob){.data = data, .size = size, .mapped = mapped};
	atomic_init(&b->owners, 1);
	return b;
}

struct blob *blob_from_buf(struct buf *b)
{
	size_t size = b->len;
	// Blobs live long, so spare room is given back: a compressed page was built in a buffer as large as a plain
	// one.
	return blob_new(xreallocarray(buf_steal(b), size + 1, 1), size, false);
}

struct blob *blob_map(int fd, size_t size, struct err *e)
{
	if (size == 0)
		return blob_new(NULL, 0, false);
	void *data = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	if (data == MAP_FAILED) {
		err_errno(e, ERR_IO, "cannot map %zu bytes", size);
		return NULL;
	}
	return blob_new(data, size, true);
}

struct blob *blob_map_own(int fd, size_t size, struct err *e)
{
	struct blob *b = blob_map(fd, size, e);
	if (b)
		b->is_own = true;
	return b;
}

void blob_prefetch(const struct blob *b)
{
	if (!b->mapped || madvise(b->data, b->size < PREFETCH ? b->size : PREFETCH, MADV_POPULATE_READ) < 0)
		return;
	if (b->size > PREFETCH && madvise(b->data + PREFETCH, b->size - PREFETCH, MADV_WILLNEED) < 0)
		return;
}

struct blob *blob_ref(struct blob *b)
{
	atomic_fetch_add_explicit(&b->owners, 1, memory_order_relaxed);
	return b;
}

void blob_unref(struct blob *b)
{
	if (!b || atomic_fetch_sub_explicit(&b->owners, 1, memory_order_acq_rel) != 1)
		return;
	if (b->mapped)
		munmap(b->data, b->size);
	else
		free(b->data);
	free(b);
}

struct str blob_view(const struct blob *b)
{
	return (struct str){b->data, b->size};
}

size_t blob_weight(const struct blob *b)
{
	return sizeof(*b) + (b->mapped ? 0 : b->size);
}

size_t blob_spooled(const struct blob *b)
{
	return b->is_own ? b->size : 0;
}
