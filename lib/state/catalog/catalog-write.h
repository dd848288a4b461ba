// SPDX-License-Identifier: Apache-2.0
// Writes to the catalog: transactions, platforms and folders; catalog-file.h has the files. Calls that write stand
// between catalog_begin and catalog_commit, if not said otherwise. Readers see all of a transaction or nothing. One
// thread at a time for each connection. Errors and callbacks as in catalog.h.
#pragma once

#include "lib/state/catalog/catalog.h"

// Raises the connection's page cache from 1 MiB to 16, for a scan or a plan.
int catalog_enlarge_cache(struct catalog *c, struct err *e) MUST_CHECK;

// A write transaction. The caller's storage; all zero: none is open. With CLEANUP(catalog_rollback) it ends with the
// scope that it is declared in.
struct catalog_transaction {
	struct catalog *catalog; // borrowed; NULL: none is open
};
// Waits up to 30 s for another writer, then ERR_BUSY. After an error no transaction is open.
int catalog_begin(struct catalog *c, struct catalog_transaction *out, struct err *e) MUST_CHECK;
// Then all of it is in the catalog, and its times of arrival in the state (arrivals.h). After an error the transaction
// may be open, and is to be rolled back; or only the state could not be written, which the next scan tries again.
int catalog_commit(struct catalog_transaction *t, struct err *e) MUST_CHECK;
// Writes to the state what a crash kept from it. Not inside a transaction.
int catalog_mend_state(struct catalog *c, struct err *e) MUST_CHECK;
// For CLEANUP; nothing where no transaction is open. An error loses nothing: closing the connection rolls back too.
void catalog_rollback(struct catalog_transaction *t);

// Records that a whole scan is complete.
int catalog_set_scanned(struct catalog *c, struct err *e) MUST_CHECK;
// Records what a scan has read of a platform.
int catalog_platform_set_scanned(struct catalog *c, int64_t platform, enum catalog_scanned scanned,
	struct err *e) MUST_CHECK;

// The platform's id; a missing platform is added.
int catalog_platform_ensure(struct catalog *c, const char *name, int64_t *id, struct err *e) MUST_CHECK;

// A platform of the catalog, configured or not.
struct catalog_platform {
	int64_t id;
	const char *name;
	uint64_t folders;
	uint64_t files; // listed
};
typedef int catalog_platform_fn(void *ctx, const struct catalog_platform *platform, struct err *e);
int catalog_platforms(struct catalog *c, catalog_platform_fn *fn, void *ctx, struct err *e) MUST_CHECK;
// Removes the platform's folders and files. The id stays; its projects stay without files, so that servers see the
// change.
int catalog_platform_clear(struct catalog *c, int64_t platform, struct err *e) MUST_CHECK;

// A folder of a platform, as it was when it was last listed.
struct catalog_folder {
	int64_t id;
	const char *path; // below the platform; "" is its root
	int64_t mtime_ns;
	bool trusted;     // an unchanged mtime_ns means that it has no new names
	uint64_t ignored; // entries that are neither wheels nor sdists
};
typedef int catalog_folder_fn(void *ctx, const struct catalog_folder *folder, struct err *e);
// ERR_NOT_FOUND: there is none. out->path is the argument.
int catalog_folder_find(struct catalog *c, int64_t platform, const char *path, struct catalog_folder *out,
	struct err *e) MUST_CHECK;
int catalog_folder_children(struct catalog *c, int64_t folder, catalog_folder_fn *fn, void *ctx,
	struct err *e) MUST_CHECK;
int catalog_folder_set(struct catalog *c, const struct catalog_folder *folder, struct err *e) MUST_CHECK;
// The id of a folder ("" is the platform's root). A missing folder is added, with its parents; it is not trusted.
int catalog_folder_ensure(struct catalog *c, int64_t platform, const char *path, int64_t *id, struct err *e) MUST_CHECK;
// Removes the folder if it is empty; else another process has put something into it, and nothing happens.
int catalog_folder_remove(struct catalog *c, int64_t folder, struct err *e) MUST_CHECK;

enum catalog_state {
	FILE_IS_LISTED,
	FILE_IS_REFUSED,   // quarantined: damaged, or not what its name says
	FILE_IS_DUPLICATE, // good, but its name is listed from another folder of the platform
	FILE_IS_UNLISTED,  // good, but it has a tombstone
};

// How a write changed the listed bytes of a name on its platform.
struct catalog_effect {
	bool was_left; // another process wrote the row meanwhile: nothing happened
	bool is_new;   // catalog_file_put: its bytes, time or refusal are not those that the catalog had
	bool was_listed, is_listed;
	uint8_t before[SHA256_SIZE], after[SHA256_SIZE];
};
