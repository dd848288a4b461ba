// SPDX-License-Identifier: Apache-2.0
// The depot: files of upstream that are kept on a local disk, so that each is fetched once. It is a cache, bounded in
// bytes: what was used longest ago goes first, and losing it loses nothing. A file is at <project>/<sha256>/<filename>;
// what is there is whole and has this hash. Its time is its last use, to the hour. Thread-safe; several processes may
// share one.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"
#include "lib/format/digest.h"

struct file_cache;

// Made where it is missing. What others left half is swept.
int file_cache_open(const char *path, uint64_t most_bytes, struct file_cache **out, struct err *e) MUST_CHECK;
void file_cache_close(struct file_cache *d);    // NULL is fine; after its arrivals
void file_cache_cleanup(struct file_cache **d); // for CLEANUP
// How much it may hold. A new bound counts at once: where it is lower, files go.
uint64_t file_cache_most(const struct file_cache *d);
void file_cache_limit(struct file_cache *d, uint64_t most_bytes);
// What it holds, as far as this process knows.
void file_cache_totals(struct file_cache *d, uint64_t *files, uint64_t *bytes);
// Bytes that are reserved for files on their way: they count as what it holds does.
uint64_t file_cache_reserved(struct file_cache *d);

struct file_cache_file {
	int fd; // to be closed by the caller
	uint64_t size;
	uint8_t sha256[SHA256_SIZE];
};
// Opens a file, and notes its use. sha256 NULL: whichever there is of this name, the one used last. ERR_NOT_FOUND.
int file_cache_find(struct file_cache *d, const char *project, const char *filename, const uint8_t *sha256,
	struct file_cache_file *out, struct err *e) MUST_CHECK;

// A file on its way. One thread at a time.
struct file_cache_writer;

// project is normalised. sha256 NULL: not known, and whatever comes is right. size: what is reserved for it; 0: not
// known. ERR_INVALID for a name that is no file's; ERR_FULL where the disk has no room; ERR_LIMIT where there is too
// much on its way already. What begins is to be freed before the depot is closed.
struct file_cache_writer *file_cache_begin(struct file_cache *d, const char *project, const char *filename,
	const uint8_t *sha256, uint64_t size, struct err *e) MUST_CHECK;
// Reserves so much for all of it instead, or what was written where that is more. Errors as above. Where more is
// written than was reserved, writing does this.
int file_cache_writer_reserve(struct file_cache_writer *a, uint64_t size, struct err *e) MUST_CHECK;
int file_cache_writer_write(struct file_cache_writer *a, const void *bytes, size_t len, struct err *e) MUST_CHECK;
// Where what was written so far may be read, by any thread with pread(); also after it was kept.
int file_cache_writer_fd(const struct file_cache_writer *a);
// It is whole, and on its way no more: *sha256 gets what it has. ERR_INVALID where that is not what was expected. Once,
// before it is kept.
int file_cache_writer_check(struct file_cache_writer *a, uint8_t sha256[SHA256_SIZE], struct err *e) MUST_CHECK;
// Keeps it, by this hash; waits for the disk. Where there are too many bytes then, others go. One that is larger than
// all the depot may hold is ERR_LIMIT, and not kept.
int file_cache_writer_keep(struct file_cache_writer *a, const uint8_t sha256[SHA256_SIZE], struct err *e) MUST_CHECK;
// It will not be kept: its room on the disk is free, though others may still hold it and read.
void file_cache_writer_discard(struct file_cache_writer *a);
void file_cache_writer_free(struct file_cache_writer *a); // what was not kept is gone; NULL is fine
