// SPDX-License-Identifier: Apache-2.0
// The files of the catalog, as the scan compares them and as scan and uploads write them. Writes
// stand between catalog_begin and catalog_commit. Errors as in catalog.h.
#pragma once

#include "lib/base/limits.h"
#include "lib/state/catalog/catalog-write.h"

// What the scan compares with what is on the disk.
struct catalog_known {
	int64_t id;
	const char *filename;
	enum catalog_state state;
	bool trusted; // while size, mtime and inode stay, so do the bytes
	uint64_t size;
	int64_t mtime_ns;
	uint64_t inode;
	int64_t written; // to tell whether somebody else wrote it since
};
typedef int catalog_known_fn(void *ctx, const struct catalog_known *file, struct err *e);
int catalog_folder_files(struct catalog *c, int64_t folder, catalog_known_fn *fn, void *ctx, struct err *e) MUST_CHECK;

// A file as it was found. Strings and bytes are borrowed for the call.
struct catalog_entry {
	// Who looked some time ago says what the catalog had then: id 0 for nothing. Where somebody else
	// has written it since, he knows better, and nothing happens. Not guarded: these facts are the
	// newest there are.
	bool is_guarded;
	int64_t id, written;
	int64_t platform;
	int64_t folder;
	const char *folder_path;
	const char *filename;
	bool trusted;
	uint64_t size;
	int64_t mtime_ns;
	uint64_t inode;
	const uint8_t *sha256; // NULL: not read
	const char *refusal;   // NULL: it is good, and has all that follows
	const char *project;   // normalised
	const char *version;   // normal form
	struct str version_key;
	const uint8_t *metadata_sha256; // NULL: no .metadata
	struct str metadata_packed;     // zstd
	const char *requires_python;    // NULL: none
	unsigned findings;
};

// Adds the file to its folder, or takes its new facts. Of several good files of one name on a
// platform the first by path is listed, of those that have no tombstone. The marks that lie beside
// it (catalog-mark.h) are its own.
int catalog_file_put(struct catalog *c, const struct catalog_entry *entry, struct catalog_effect *effect,
	struct err *e) MUST_CHECK;
// Removes the file and gives its name; a duplicate of its name is listed now. Where somebody else has
// written it since it was read (written), or has removed it, nothing happens, and name is empty.
int catalog_file_remove(struct catalog *c, int64_t id, int64_t written, char name[LIMIT_FILE_NAME + 1],
	struct catalog_effect *effect, struct err *e) MUST_CHECK;

// Every file of a name on a platform, whatever its state.
struct catalog_copy {
	int64_t id, written;
	int64_t folder;
	const char *folder_path;
	uint64_t size;
	int64_t mtime_ns;
	const uint8_t *sha256; // NULL: refused before it was read
};
typedef int catalog_copy_fn(void *ctx, const struct catalog_copy *copy, struct err *e);
int catalog_file_copies(struct catalog *c, int64_t platform, const char *filename, catalog_copy_fn *fn, void *ctx,
	struct err *e) MUST_CHECK;

// All files that are refused, or duplicates, or unlisted, by platform and path.
typedef int catalog_unlisted_fn(void *ctx, int64_t platform, const char *path, const char *reason, struct err *e);
int catalog_unlisted(struct catalog *c, enum catalog_state state, catalog_unlisted_fn *fn, void *ctx,
	struct err *e) MUST_CHECK;
// File names that several platforms list: on how many, and with how many different contents. Reads
// every row of the catalog.
typedef int catalog_shared_fn(void *ctx, const char *filename, uint64_t platforms, uint64_t contents, struct err *e);
int catalog_shared(struct catalog *c, catalog_shared_fn *fn, void *ctx, struct err *e) MUST_CHECK;
