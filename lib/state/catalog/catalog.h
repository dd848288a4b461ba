// SPDX-License-Identifier: Apache-2.0
// The catalog: what the store holds, in SQLite, derived from the store and never inside it. Losing
// it loses nothing. catalog.c alone knows sqlite3, and opens; schema.c has one table with every
// statement of an open catalog; catalog-read.c, -write.c and -file.c run them, through query.h.
//
// A struct catalog is one connection: one thread at a time. Any number of connections, in any
// number of processes, may read while one writes (catalog-write.h). A reading function calls back
// while its statement is in use: it must not be called again from there. Errors are ERR_DB, ERR_IO
// (disk full, folder not writable), ERR_BUSY, ERR_USAGE (made by a newer wheelcache, or for another
// store).
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/format/digest.h"

struct catalog;

// Where the catalog of a store is unless the configuration says: a file a store, named after the
// store's last component and a hash of its real path, in $STATE_DIRECTORY (systemd),
// $XDG_STATE_HOME/wheelcache,
// ~/.local/state/wheelcache, or /var/lib/wheelcache where there is no home. To be freed by the
// caller.
char *catalog_default_path(const char *store_path);

// Opens it, makes it where it is missing (with its folder), and brings an older schema up to date. Each
// commit raises its change count (lib/state/catalog/changes.h).
int catalog_open(const char *path, struct catalog **out, struct err *e) MUST_CHECK;
// Opens it for reading alone: neither made nor brought up to date (ERR_USAGE where that is needed).
// Its bytes and its time stay as they are, and no change count is made. As with any reader of a database in WAL mode,
// SQLite keeps "-wal" and "-shm" beside it, made where nobody else has it open. Where that is not allowed (a folder
// of somebody else's), it is read without them and without locks: right as long as nobody writes, so ask
// catalog_is_current at the end.
int catalog_open_read(const char *path, struct catalog **out, struct err *e) MUST_CHECK;
// ERR_BUSY where it was read without locks, and somebody has opened or written it since.
int catalog_is_current(const struct catalog *c, struct err *e) MUST_CHECK;
const char *catalog_path(const struct catalog *c);
// Whether the system has failed for it. Then it is to be closed: where SQLite could not open a file for writing it has
// it for reading alone, as long as the connection lives.
bool catalog_has_failed(const struct catalog *c);
// All that is read within so many milliseconds from now on fails with ERR_TIME after them; 0: without a limit again.
void catalog_limit(struct catalog *c, unsigned ms);
void catalog_close(struct catalog *c);    // NULL is fine
void catalog_cleanup(struct catalog **c); // for CLEANUP

// The platform's id, stable for the catalog's life. ERR_NOT_FOUND where it is not there.
int catalog_platform_find(struct catalog *c, const char *name, int64_t *id, struct err *e) MUST_CHECK;
// The same, made where it is missing; outside of a transaction.
int catalog_platform_add(struct catalog *c, const char *name, int64_t *id, struct err *e) MUST_CHECK;
// ERR_USAGE where the catalog was made for another store; records the store (its real path) where
// it has none.
int catalog_claim(struct catalog *c, const char *store, struct err *e) MUST_CHECK;
// The same without a write: 0 where it is that store's, 1 where it has none yet.
int catalog_is_of(struct catalog *c, const char *store, struct err *e) MUST_CHECK;

// From here to the end, all that is read is of one moment, whatever others commit meanwhile.
int catalog_read_begin(struct catalog *c, struct err *e) MUST_CHECK;
void catalog_read_end(struct catalog **c); // for CLEANUP; NULL is fine

// Whether a scan has got to its end once and read every platform, but for single folders that could
// not be read: until then, what is not in the catalog may be in the store.
int catalog_was_scanned(struct catalog *c, bool *scanned, struct err *e) MUST_CHECK;
// How far scans have come with one platform.
enum catalog_scanned {
	CATALOG_UNREADABLE = -1, // no scan has read all of it, and the last one tried
	CATALOG_NOT_TRIED = 0,   // no scan has looked at it yet
	CATALOG_SCANNED = 1,     // a scan has read all of it once
};
int catalog_platform_scanned(struct catalog *c, int64_t platform, enum catalog_scanned *out, struct err *e) MUST_CHECK;
// Whether a scan has read all of any platform.
int catalog_any_was_scanned(struct catalog *c, bool *scanned, struct err *e) MUST_CHECK;

// A listed file. Strings and bytes are borrowed for the call. Its columns are in file-columns.h.
struct catalog_file {
	int64_t platform;
	const char *filename;
	const char *version;    // normal form
	struct str version_key; // sorts by PEP 440
	uint64_t size;
	int64_t mtime_ns;
	const uint8_t *sha256;
	const uint8_t *metadata_sha256; // NULL: no .metadata
	const char *requires_python;    // NULL: none
	const char *yanked;             // the reason, "" for none; NULL: it is not yanked
};
// Has *file own its strings and bytes: they are copied into the arena, with which they go.
void catalog_file_copy(struct arena *a, struct catalog_file *file);
// Returns 0 to go on, -1 with *e set to end.
typedef int catalog_file_fn(void *ctx, const struct catalog_file *file, struct err *e);
// The listed files of one project on one platform, by version key, then file name.
int catalog_project_files(struct catalog *c, int64_t platform, const char *project, catalog_file_fn *fn, void *ctx,
	struct err *e) MUST_CHECK;

// A project on a platform; files is 0 where its last one has gone.
struct catalog_project {
	int64_t platform;
	const char *project; // normalised
	uint64_t files;
	uint64_t bytes;
};
typedef int catalog_project_fn(void *ctx, const struct catalog_project *project, struct err *e);
// The projects of a platform that have files, by name.
int catalog_projects(struct catalog *c, int64_t platform, catalog_project_fn *fn, void *ctx, struct err *e) MUST_CHECK;
// A folder of the platform (its path; to be freed) that lists files of the project; *folder is NULL where
// none does.
int catalog_project_folder(struct catalog *c, int64_t platform, const char *project, char **folder,
	struct err *e) MUST_CHECK;
// What a platform holds: projects that have files, their listed files, and the bytes of those.
struct catalog_totals {
	uint64_t projects, files, bytes;
};
int catalog_totals(struct catalog *c, int64_t platform, struct catalog_totals *out, struct err *e) MUST_CHECK;
// What a platform has on its disk: its listed files, and those that are there but not listed.
struct catalog_usage {
	uint64_t files, bytes;
};
int catalog_usage(struct catalog *c, int64_t platform, struct catalog_usage *out, struct err *e) MUST_CHECK;
// All projects that changed after the change numbered since, on every platform; *newest gets the
// number of the newest change, and stays as it is on an error: whoever asks again misses none.
// since 0: all there are, also those without files.
int catalog_changes(struct catalog *c, int64_t since, catalog_project_fn *fn, void *ctx, int64_t *newest,
	struct err *e) MUST_CHECK;
// Whether anybody else committed since the last call (cheap; true at the first).
bool catalog_was_written(struct catalog *c);

// Where a file is, and what its bytes were when they were hashed.
struct catalog_place {
	bool is_unlisted; // it was pruned: on no page, and still to be had by its URL
	char *path;       // below the platform; to be released
	char *project;    // normalised; to be released
	uint64_t size;
	int64_t mtime_ns;
	uint64_t inode;
	uint8_t sha256[SHA256_SIZE];
	bool has_metadata;
	uint8_t metadata_sha256[SHA256_SIZE];
};
// ERR_NOT_FOUND where the platform has no such file, listed or unlisted.
int catalog_find_file(struct catalog *c, int64_t platform, const char *filename, struct catalog_place *out,
	struct err *e) MUST_CHECK;
void catalog_place_release(struct catalog_place *p);
// The same of all listed files of a platform, as far as links to them need it. Borrowed for the
// call.
struct catalog_location {
	const char *project; // normalised
	const char *filename;
	const char *path;               // below the platform
	const uint8_t *metadata_sha256; // NULL: no .metadata
};
typedef int catalog_location_fn(void *ctx, const struct catalog_location *file, struct err *e);
// By project, then file name.
int catalog_locations(struct catalog *c, int64_t platform, catalog_location_fn *fn, void *ctx,
	struct err *e) MUST_CHECK;
// Adds the bytes of METADATA to out.
int catalog_metadata(struct catalog *c, const uint8_t sha256[SHA256_SIZE], struct buf *out, struct err *e) MUST_CHECK;
