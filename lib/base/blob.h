// SPDX-License-Identifier: Apache-2.0
// Read-only bytes with a reference count: in memory, or a file mapped read-only.
// Any thread may take and drop references.
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include "lib/base/err.h"
#include "lib/base/str.h"

struct buf;
struct blob;

enum { BLOB_SEND_LEAST = 64 << 10 }; // of less a copy is as cheap

// Takes over the buffer's bytes and leaves b released. The caller owns the one reference. Never fails.
struct blob *blob_from_buf(struct buf *b);
// Maps size bytes of fd, which the caller may close afterwards; size 0 gives an empty blob. ERR_IO if it cannot be
// mapped. If the file may shrink, only the kernel may read the mapping (send and writev fail with EFAULT). Code that
// reads it gets SIGBUS.
struct blob *blob_map(int fd, size_t size, struct err *e) MUST_CHECK;
// The same for a file that has no name, and that only this blob has.
struct blob *blob_map_own(int fd, size_t size, struct err *e) MUST_CHECK;
// Calls fn when the blob ends. Once for a blob, before another thread has it.
void blob_at_end(struct blob *b, void (*fn)(void *ctx), void *ctx);
// The descriptor of the mapped file that the bytes are of, if it has at least BLOB_SEND_LEAST, and their place in it,
// for sendfile(2). Open as long as the caller has a reference to the blob. -1: LIMIT_FILES_SENT other files are open,
// or no descriptor was free, or the bytes are of no such file.
int blob_file(const char *bytes, off_t *at);
// Makes the kernel read the first 16 MiB of a mapped file now and start on the rest, so that a later send does not wait
// for the disk. May block. Ignores errors, such as a file that has shrunk.
void blob_prefetch(const struct blob *b);
struct blob *blob_ref(struct blob *b);      // returns b
void blob_unref(struct blob *b);            // NULL is fine
struct str blob_view(const struct blob *b); // valid as long as the caller holds a reference
// Bytes of heap memory that the blob uses. The bytes of a mapped file do not count: they are in the kernel's page
// cache.
size_t blob_weight(const struct blob *b);
// Bytes of the disk that end with the blob: those of blob_map_own(). 0 for all other blobs.
size_t blob_spooled(const struct blob *b);
