// SPDX-License-Identifier: Apache-2.0
// The files of the catalog, as the scan compares them, and as scans and uploads write them. Writes stand between
// catalog_begin and catalog_commit. One thread at a time for each connection. Errors and callbacks as in catalog.h.
#pragma once

#include "lib/base/limits.h"
#include "lib/state/catalog/catalog-write.h"

// A file as the scan compares it with the disk. Columns: file-columns.h.
struct catalog_known {
	int64_t id;
	const char *filename;
	enum catalog_state state;
	bool trusted; // unchanged size, mtime and inode mean unchanged bytes
	uint64_t size;
	int64_t mtime_ns;
	uint64_t inode;
	int64_t written; // number of the last write: tells whether another process wrote it since
};
typedef int catalog_known_fn(void *ctx, const struct catalog_known *file, struct err *e);
int catalog_folder_files(struct catalog *c, int64_t folder, catalog_known_fn *fn, void *ctx, struct err *e) MUST_CHECK;
// The same for one name alone.
int catalog_folder_file(struct catalog *c, int64_t folder, const char *filename, catalog_known_fn *fn, void *ctx,
	struct err *e) MUST_CHECK;

// 1: the platform has, or had, a file of the project (normal form) or a status of it; 0: neither.
int catalog_knows_project(struct catalog *c, int64_t platform, const char *project, struct err *e) MUST_CHECK;

// A file to be written. Strings and bytes are borrowed for the call. Columns: file-columns.h.
struct catalog_entry {
	// Guarded: id and written are those of the row that the scan read, 0 for none. If another process has
	// written the row since, nothing happens. Not guarded: these facts are the newest.
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
	const char *refusal;   // why it is quarantined; NULL: it is good, and all that follows is set
	const char *project;   // normalised
	const char *version;   // normal form
	struct str version_key;
	const uint8_t *metadata_sha256; // NULL: no .metadata
	struct str metadata_packed;     // zstd
	const char *requires_python;    // NULL: none
	unsigned findings;
	const char *misfit; // why it installs on no machine of the platform; NULL: it may
};

// Adds the file to its folder, or updates it. Of several good files of one name on a platform, the first by path
// without a tombstone is listed. The marks beside the file (catalog-mark.h) apply to it.
int catalog_file_put(struct catalog *c, const struct catalog_entry *entry, struct catalog_effect *effect,
	struct err *e) MUST_CHECK;
// Says that a file, which was just put, came at this time (seconds since 1970) and not now.
int catalog_file_set_came(struct catalog *c, int64_t folder, const char *filename, int64_t came,
	struct err *e) MUST_CHECK;
// Removes the file and writes its name to `name`; a duplicate of the name is then listed. If another process has
// written or removed the row since `written`, nothing happens, and name is empty.
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
// The listed files that install on no machine of their platform, by platform and path.
int catalog_misfits(struct catalog *c, catalog_unlisted_fn *fn, void *ctx, struct err *e) MUST_CHECK;
// File names that several platforms list: on how many, and with how many different contents. Reads every row.
typedef int catalog_shared_fn(void *ctx, const char *filename, uint64_t platforms, uint64_t contents, struct err *e);
int catalog_shared(struct catalog *c, catalog_shared_fn *fn, void *ctx, struct err *e) MUST_CHECK;
// When the newest listed file came (catalog_file.arrived, else its modification time) of those that came until then; 0:
// none. Seconds since 1970. Reads every row.
int catalog_newest_arrival(struct catalog *c, int64_t until, int64_t *out, struct err *e) MUST_CHECK;
