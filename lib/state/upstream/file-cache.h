// SPDX-License-Identifier: Apache-2.0
// The cache of upstream's files on a local disk, so that each is downloaded once. It is bounded in bytes; the least
// recently used files are removed first. Files that mirrors pin (mirror-pins.h) are neither removed nor counted. Losing
// it loses nothing but time. A file is at <project>/<sha256>/<filename>; it is whole and has this hash. Its
// modification time is its last use, to the hour. Any thread; several processes may share one. Errors are ERR_IO and
// ERR_FULL, if not said otherwise.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"
#include "lib/format/digest.h"

struct file_cache;
struct mirror_pins; // lib/state/upstream/mirror-pins.h

// Opens the folder, or creates it. Removes unfinished files of dead processes. pins: borrowed until it is closed; NULL:
// no file is pinned. The caller closes *out.
int file_cache_open(const char *path, uint64_t most_bytes, struct mirror_pins *pins, struct file_cache **out,
	struct err *e) MUST_CHECK;
void file_cache_close(struct file_cache *d);    // NULL is fine; after all writers are freed
void file_cache_cleanup(struct file_cache **d); // for CLEANUP
// Its bound in bytes. A new bound takes effect at once: files are removed if it is lower.
uint64_t file_cache_most(const struct file_cache *d);
// The most bytes that a file of this hash may have; NULL: of an unknown one. It is more for a pinned file.
uint64_t file_cache_most_of(struct file_cache *d, const uint8_t *sha256);
void file_cache_limit(struct file_cache *d, uint64_t most_bytes);
// Its files and bytes with the pinned ones, as far as this process knows.
void file_cache_totals(struct file_cache *d, uint64_t *files, uint64_t *bytes);
// Bytes reserved by writers; they count as those of files.
uint64_t file_cache_reserved(struct file_cache *d);

struct file_cache_file {
	int fd; // to be closed by the caller
	uint64_t size;
	uint8_t sha256[SHA256_SIZE];
};
// Opens a file and records its use. sha256 NULL: the most recently used file of this name. ERR_NOT_FOUND.
int file_cache_find(struct file_cache *d, const char *project, const char *filename, const uint8_t *sha256,
	struct file_cache_file *out, struct err *e) MUST_CHECK;

// Whether a cache at this path has a file, of this size unless that is -1. Nothing is opened, and no use recorded.
bool file_cache_has(const char *path, const char *project, const char *filename, const uint8_t sha256[SHA256_SIZE],
	int64_t size);
// Opens such a file, without recording its use; the caller closes it. -1: it is not there.
int file_cache_peek(const char *path, const char *project, const char *filename, const uint8_t sha256[SHA256_SIZE],
	uint64_t *size);

// Writes one file. One thread at a time.
struct file_cache_writer;

// project is normalised. sha256: the expected hash; NULL: any. size: the bytes to reserve; 0: unknown. The caller frees
// the writer before it closes the cache. NULL on an error. ERR_INVALID: not a file name. ERR_FULL: the disk has no
// room. ERR_LIMIT: other writers have reserved too much, which does not concern a file that is pinned by now.
struct file_cache_writer *file_cache_begin(struct file_cache *d, const char *project, const char *filename,
	const uint8_t *sha256, uint64_t size, struct err *e) MUST_CHECK;
// Changes the reservation to `size`, or to what was written if that is more. Errors as above. A write beyond the
// reservation raises it.
int file_cache_writer_reserve(struct file_cache_writer *a, uint64_t size, struct err *e) MUST_CHECK;
int file_cache_writer_write(struct file_cache_writer *a, const void *bytes, size_t len, struct err *e) MUST_CHECK;
// A descriptor from which any thread may pread() what was written so far, also after file_cache_writer_keep. Borrowed.
int file_cache_writer_fd(const struct file_cache_writer *a);
// To be called once when all is written: *sha256 is the hash. ERR_INVALID: it is not the expected one.
int file_cache_writer_check(struct file_cache_writer *a, uint8_t sha256[SHA256_SIZE], struct err *e) MUST_CHECK;
// Puts the file into the cache under this hash, after file_cache_writer_check. Waits for the disk. Removes other files
// to stay within the bound. ERR_LIMIT: the file alone exceeds the bound, and is not kept.
int file_cache_writer_keep(struct file_cache_writer *a, const uint8_t sha256[SHA256_SIZE], struct err *e) MUST_CHECK;
// Frees the file's disk space and reservation; other threads may still read from the descriptor what they need to end.
void file_cache_writer_discard(struct file_cache_writer *a);
void file_cache_writer_free(struct file_cache_writer *a); // removes a file that was not kept; NULL is fine
