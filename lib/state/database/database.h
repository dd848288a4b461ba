// SPDX-License-Identifier: Apache-2.0
// A file of SQLite: opening it, its schema, its errors. Only database.c uses sqlite3; query.h runs the statements.
//
// A struct database is one connection: one thread at a time, any number of connections in any number of processes. Its
// file is in WAL mode. Errors are ERR_DB, ERR_IO (disk full, folder not writable), ERR_BUSY (30 seconds of waiting for
// a lock), ERR_TIME (database_limit), ERR_USAGE (a file of a newer wheelcache, or not ours).
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/err.h"

// What a file of one kind has. Constant.
struct database_kind {
	const char *name;   // "catalog", for messages
	const char *advice; // what to do about a damaged file
	const char *older;  // what brings a file of an older schema up to date
	int application_id; // PRAGMA application_id
	// Step i upgrades a file from PRAGMA user_version i to i + 1. A released step never changes.
	const char *const *schema_step;
	int schema_steps;
	const char *connection; // statements that are run in each new connection
	const char *const *statement;
	size_t statements;
	bool tells_full; // a full disk is ERR_FULL; else ERR_IO
	// A file whose creation did not get to its tables is ERR_NOT_FOUND for a reader; else ERR_USAGE.
	bool empty_is_absent;
};

struct database;

// Opens the file, creates it (with its folder) if it is missing, and upgrades an older schema. A foreign or newer file
// stays as it is. The caller closes *out.
int database_open(const struct database_kind *kind, const char *path, struct database **out, struct err *e) MUST_CHECK;
// Opens it read-only: it is neither created nor upgraded (ERR_NOT_FOUND, ERR_USAGE). As for every reader of a database
// in WAL mode, SQLite creates "-wal" and "-shm" beside it. If the folder is not writable, the file is read without them
// and without locks, which is correct only while no process writes: call database_is_current at the end.
int database_open_read(const struct database_kind *kind, const char *path, struct database **out,
	struct err *e) MUST_CHECK;
// ERR_BUSY: it was read without locks, and another process has opened or written it since.
int database_is_current(const struct database *d, struct err *e) MUST_CHECK;
void database_close(struct database *d);    // NULL is fine
void database_cleanup(struct database **d); // for CLEANUP
const char *database_path(const struct database *d);
// Whether the system has failed an operation. Then close the connection: a file that SQLite could not open for writing
// stays read-only for this connection.
bool database_has_failed(const struct database *d);
// Reads that are not done within this time from now on fail with ERR_TIME; 0: no limit.
void database_limit(struct database *d, unsigned ms);
// How the connection waits for a lock of another one: at most this long, until it tries again. Default: it sleeps.
typedef void database_wait_fn(void *ctx, unsigned ms);
void database_set_wait(struct database *d, database_wait_fn *wait, void *ctx);
