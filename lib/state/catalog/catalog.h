// SPDX-License-Identifier: Apache-2.0
// The catalog: an SQLite database of what the store holds. It is derived from the store and never inside it; losing it
// loses nothing. schema-statement.c has every statement in one table; the catalog-*.c run them (catalog-query.h).
//
// A struct catalog is one connection: one thread at a time. Any number of connections, in any number of processes, may
// read while one writes (catalog-write.h). A reading function calls back while its statement is in use, so the callback
// must not call the same function. A callback returns 0 to continue, or -1 with *e set to stop; what it is given is
// borrowed for the call. Errors are ERR_DB, ERR_IO (disk full, folder not writable), ERR_BUSY, ERR_TIME
// (catalog_limit), ERR_USAGE (made by a newer wheelcache, or for another store).
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/format/digest.h"

struct catalog;

// Opens the catalog, creates it (with its folder) if it is missing, and upgrades an older schema. Each commit raises
// its change count (lib/state/catalog/changes.h). The caller closes *out.
int catalog_open(const char *path, struct catalog **out, struct err *e) MUST_CHECK;
// Opens it read-only: it is neither created nor upgraded (ERR_NOT_FOUND, ERR_USAGE). Its bytes and its modification
// time stay as they are, and no change count is created. As for every reader of a database in WAL mode, SQLite creates
// "-wal" and "-shm" beside it. If the folder is not writable, the catalog is read without them and without locks, which
// is correct only while no process writes: call catalog_is_current at the end.
int catalog_open_read(const char *path, struct catalog **out, struct err *e) MUST_CHECK;
// ERR_BUSY: it was read without locks, and another process has opened or written it since.
int catalog_is_current(const struct catalog *c, struct err *e) MUST_CHECK;
const char *catalog_path(const struct catalog *c);
// Whether the system has failed an operation. Then close the connection: a file that SQLite could not open for writing
// stays read-only for this connection.
bool catalog_has_failed(const struct catalog *c);
// Reads that are not done within this time from now on fail with ERR_TIME; 0: no limit.
void catalog_limit(struct catalog *c, unsigned ms);
void catalog_close(struct catalog *c);    // NULL is fine
void catalog_cleanup(struct catalog **c); // for CLEANUP

// The platform's id, which never changes in this catalog. ERR_NOT_FOUND: it has none.
int catalog_platform_find(struct catalog *c, const char *name, int64_t *id, struct err *e) MUST_CHECK;
// The same; a missing platform is added. Not inside a transaction.
int catalog_platform_add(struct catalog *c, const char *name, int64_t *id, struct err *e) MUST_CHECK;
// Records the store (its real path) if the catalog has none. ERR_USAGE: it is another store's. Not inside a
// transaction.
int catalog_claim(struct catalog *c, const char *store, struct err *e) MUST_CHECK;
// Makes it that of another store: forgets all that scans have read, and the plans. What is not read from platforms
// stays: memberships, evidence, answers of upstream. Not inside a transaction.
int catalog_adopt(struct catalog *c, const char *store, struct err *e) MUST_CHECK;
// The store that it records, which the caller frees; NULL: none.
int catalog_store(struct catalog *c, char **out, struct err *e) MUST_CHECK;
// Claims without a write. 0: it is this store's; 1: it has none.
int catalog_is_of(struct catalog *c, const char *store, struct err *e) MUST_CHECK;

// Between begin and end all reads see one snapshot.
int catalog_read_begin(struct catalog *c, struct err *e) MUST_CHECK;
void catalog_read_end(struct catalog **c); // for CLEANUP; NULL is fine

// Whether a scan has been completed and has read every platform, except for single unreadable folders. Until then,
// files may be in the store that the catalog does not have.
int catalog_was_scanned(struct catalog *c, bool *scanned, struct err *e) MUST_CHECK;
// What scans have read of one platform.
enum catalog_scanned {
	CATALOG_UNREADABLE = -1, // no scan has read all of it; the last one failed
	CATALOG_NOT_TRIED = 0,   // no scan has tried
	CATALOG_SCANNED = 1,     // a scan has read all of it
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
	const uint8_t *provenance;      // hash of its provenance object (PEP 740); NULL: none
	int64_t uploaded; // when, in another store, seconds since 1970; 0: mtime_ns says it
	int64_t arrived; // when it came, or was listed again, seconds since 1970; 0: unknown, then mtime_ns counts
};
// Copies the strings and bytes that *file borrows into the arena; they live as long as the arena.
void catalog_file_copy(struct arena *a, struct catalog_file *file);
// When it was uploaded, as pages show it, in nanoseconds since 1970.
int64_t catalog_file_uploaded(const struct catalog_file *file);
// When it came, seconds since 1970.
int64_t catalog_file_came(const struct catalog_file *file);
typedef int catalog_file_fn(void *ctx, const struct catalog_file *file, struct err *e);
// The listed files of one project on one platform, by version key, then file name.
int catalog_project_files(struct catalog *c, int64_t platform, const char *project, catalog_file_fn *fn, void *ctx,
	struct err *e) MUST_CHECK;

// Those of one version; version_key: of struct catalog_file. By file name.
int catalog_version_files(struct catalog *c, int64_t platform, const char *project, struct str version_key,
	catalog_file_fn *fn, void *ctx, struct err *e) MUST_CHECK;

// At most so many of the project's listed files on the platform, those first that the catalog got last.
int catalog_newest_files(struct catalog *c, int64_t platform, const char *project, int64_t limit, catalog_file_fn *fn,
	void *ctx, struct err *e) MUST_CHECK;

// A project on a platform; files is 0 after its last file was removed.
struct catalog_project {
	int64_t platform;
	const char *project; // normalised
	uint64_t files;
	uint64_t bytes;
	int64_t newest; // seconds since 1970: when the newest of its listed files came, also if it has gone; 0: none has
	int64_t status; // number of the change that last wrote its status (catalog-mark.h); 0: it never had one
};
typedef int catalog_project_fn(void *ctx, const struct catalog_project *project, struct err *e);
// The projects of a platform that have files, by name.
int catalog_projects(struct catalog *c, int64_t platform, catalog_project_fn *fn, void *ctx, struct err *e) MUST_CHECK;
// A folder of the platform that has listed files of the project. *folder: its path, which the caller frees; NULL: none.
int catalog_project_folder(struct catalog *c, int64_t platform, const char *project, char **folder,
	struct err *e) MUST_CHECK;
// The totals of a platform: projects with listed files, these files, and their bytes; and quarantined files.
struct catalog_totals {
	uint64_t projects, files, bytes, quarantined;
};
int catalog_totals(struct catalog *c, int64_t platform, struct catalog_totals *out, struct err *e) MUST_CHECK;
// The files on a platform's disk, listed or not. bytes: with their attachments.
struct catalog_usage {
	uint64_t files, bytes;
};
int catalog_usage(struct catalog *c, int64_t platform, struct catalog_usage *out, struct err *e) MUST_CHECK;
// All projects that changed after change number `since`, on every platform. *newest: the number of the newest change;
// unchanged on an error, so that the next call misses none. since 0: all projects, also those without files.
int catalog_changes(struct catalog *c, int64_t since, catalog_project_fn *fn, void *ctx, int64_t *newest,
	struct err *e) MUST_CHECK;
// Whether another connection has committed since the last call. Cheap. True at the first call and after an error.
bool catalog_was_written(struct catalog *c);

// Where a file is, and the state of its bytes when they were hashed. Owns path and project.
struct catalog_place {
	bool is_unlisted; // it was pruned: on no page, but served by its URL
	char *path;       // below the platform
	char *project;    // normalised
	uint64_t size;
	int64_t mtime_ns;
	uint64_t inode;
	uint8_t sha256[SHA256_SIZE];
	bool has_metadata;
	uint8_t metadata_sha256[SHA256_SIZE];
};
// ERR_NOT_FOUND: the platform has no such file, listed or unlisted. The caller releases *out after success.
int catalog_find_file(struct catalog *c, int64_t platform, const char *filename, struct catalog_place *out,
	struct err *e) MUST_CHECK;
void catalog_place_release(struct catalog_place *p);
// Where a listed file is, as links to it need it.
struct catalog_location {
	const char *project; // normalised
	const char *filename;
	const char *path;               // below the platform
	const uint8_t *metadata_sha256; // NULL: no .metadata
	const uint8_t *statement;       // hash of its statement of provenance; NULL: none
	const uint8_t *provenance;      // hash of its provenance object (PEP 740); NULL: none
};
typedef int catalog_location_fn(void *ctx, const struct catalog_location *file, struct err *e);
// All listed files of a platform, by project, then file name.
int catalog_locations(struct catalog *c, int64_t platform, catalog_location_fn *fn, void *ctx,
	struct err *e) MUST_CHECK;
// Appends the bytes of METADATA to out. ERR_NOT_FOUND.
int catalog_metadata(struct catalog *c, const uint8_t sha256[SHA256_SIZE], struct buf *out, struct err *e) MUST_CHECK;
