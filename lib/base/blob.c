// SPDX-License-Identifier: Apache-2.0
#include "lib/base/blob.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/base/buf.h"
#include "lib/base/limits.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22 // Linux 5.14; an older kernel returns EINVAL and reads the bytes when they are sent
#endif

enum { PREFETCH = 16 << 20 };

struct blob {
	atomic_size_t owners;
	char *data;
	size_t size;
	bool mapped, is_own; // is_own: of a file that nobody else has
	int fd;              // of a file that blob_file() finds; -1: none
	struct blob *next;   // of them
	void (*at_end)(void *ctx); // NULL: nothing
	void *ctx;
};

static struct {
	pthread_mutex_t lock;
	struct blob *first;
	unsigned count;
} open_files = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct blob *blob_new(char *data, size_t size, bool mapped)
{
	struct blob *b = xmalloc(sizeof(*b));
	*b = (struct blob){.data = data, .size = size, .mapped = mapped, .fd = -1};
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

static void keep_open(struct blob *b, int fd)
{
	pthread_mutex_lock(&open_files.lock);
	b->fd = open_files.count < LIMIT_FILES_SENT ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
	if (b->fd >= 0) {
		open_files.count++;
		b->next = open_files.first;
		open_files.first = b;
	}
	pthread_mutex_unlock(&open_files.lock);
}

static void close_file(struct blob *b)
{
	pthread_mutex_lock(&open_files.lock);
	struct blob **at = &open_files.first;
	while (*at != b)
		at = &(*at)->next;
	*at = b->next;
	open_files.count--;
	pthread_mutex_unlock(&open_files.lock);
	close(b->fd);
}

int blob_file(const char *bytes, off_t *at)
{
	pthread_mutex_lock(&open_files.lock);
	const struct blob *b = open_files.first;
	while (b && ((uintptr_t)bytes < (uintptr_t)b->data || (uintptr_t)bytes - (uintptr_t)b->data >= b->size))
		b = b->next;
	int fd = b ? b->fd : -1;
	*at = b ? bytes - b->data : 0;
	pthread_mutex_unlock(&open_files.lock);
	return fd;
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
	struct blob *b = blob_new(data, size, true);
	if (size >= BLOB_SEND_LEAST)
		keep_open(b, fd);
	return b;
}

struct blob *blob_map_own(int fd, size_t size, struct err *e)
{
	struct blob *b = blob_map(fd, size, e);
	if (b)
		b->is_own = true;
	return b;
}

void blob_at_end(struct blob *b, void (*fn)(void *ctx), void *ctx)
{
	b->at_end = fn;
	b->ctx = ctx;
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
	if (b->fd >= 0)
		close_file(b);
	if (b->mapped)
		munmap(b->data, b->size);
	else
		free(b->data);
	if (b->at_end)
		b->at_end(b->ctx);
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
