// SPDX-License-Identifier: Apache-2.0
// Bytes that several owners share: in memory, or a file mapped read-only. Counted; thread-safe.
#pragma once

#include <stddef.h>

#include "lib/base/err.h"
#include "lib/base/str.h"

struct buf;
struct blob;

// Takes the buffer's bytes over; b is released after it.
struct blob *blob_from_buf(struct buf *b);
// Maps size bytes of fd, which may be closed afterwards; size 0 is an empty blob. A file that shrinks
// under its mapping must only ever be read by the kernel for us (send, writev: EFAULT), never by our
// own code (SIGBUS).
struct blob *blob_map(int fd, size_t size, struct err *e) MUST_CHECK;
// Has the kernel read a mapped file now, up to 16 MiB, so that sending it later does not wait for the disk, and begin
// with the rest.
// May block; a file that has gone or shrunk meanwhile is no error here.
void blob_prefetch(const struct blob *b);
struct blob *blob_ref(struct blob *b);
void blob_unref(struct blob *b); // NULL is fine
struct str blob_view(const struct blob *b);
// What it takes of our own memory: nothing for the bytes of a mapped file, which are the kernel's.
size_t blob_weight(const struct blob *b);
