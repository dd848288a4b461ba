// SPDX-License-Identifier: Apache-2.0
// The connection: opening, schema steps, statements.
#include "lib/state/database/database.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sqlite3.h>

#include "lib/base/buf.h"
#include "lib/base/limits.h"
#include "lib/format/escape.h"
#include "lib/os/clock.h"
#include "lib/os/fs.h"
#include "lib/os/safefile.h"
#include "lib/state/database/query.h"

enum {
	BUSY_MS = 30000,
	BUSY_FIRST_MS = 1,
	BUSY_MOST_MS = 25,
	WAL_RETRY_MS = 10,
	LOOK_AT_CLOCK = 10000, // steps of SQLite's virtual machine: some tenths of a millisecond
};

struct query {
	struct database *database;
	sqlite3_stmt *stmt;
	bool in_use;
};

struct database {
	const struct database_kind *kind;
	sqlite3 *db;
	char *path;
	char *real_path;        // without links, for SQLite
	database_wait_fn *wait; // for the lock of another connection
	void *wait_ctx;
	int64_t busy_since; // clock_ms()
	int64_t ends;       // clock_ms() at which reads fail
	bool has_failed;    // the system has failed an operation
	bool is_unlocked;   // read without locks; opened tells whether another process wrote
	struct stat opened;
	struct query *slot; // one a statement
};

static enum err_kind kind_of(int code)
{
	static const struct {
		int code;
		enum err_kind kind;
	} table[] = {
		{SQLITE_BUSY, ERR_BUSY},
		{SQLITE_LOCKED, ERR_BUSY},
		{SQLITE_INTERRUPT, ERR_TIME},
		{SQLITE_FULL, ERR_IO},
		{SQLITE_READONLY, ERR_IO},
		{SQLITE_IOERR, ERR_IO},
		{SQLITE_PERM, ERR_IO},
		{SQLITE_CANTOPEN, ERR_IO},
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (table[i].code == (code & 0xff))
			return table[i].kind;
	return ERR_DB;
}

static bool is_disk_full(const struct database *d, int code, int reason)
{
	return d->kind->tells_full && ((code & 0xff) == SQLITE_FULL || reason == ENOSPC || reason == EDQUOT);
}

// The message of SQLite, that of the system if there is one, and what to do about a damaged catalog.
static int set_sqlite_error(struct database *d, int code, struct err *e)
{
	int reason = sqlite3_system_errno(d->db);
	bool is_system = kind_of(code) == ERR_IO && reason != 0;
	d->has_failed |= kind_of(code) == ERR_IO;
	bool is_damaged = (code & 0xff) == SQLITE_CORRUPT || (code & 0xff) == SQLITE_NOTADB;
	if (is_damaged)
		return err_set(e, ERR_DB, "%s %s: %s; %s", d->kind->name, d->path, sqlite3_errmsg(d->db),
			d->kind->advice);
	if (is_system) {
		errno = reason;
		return err_errno(e, is_disk_full(d, code, reason) ? ERR_FULL : ERR_IO, "%s %s: %s", d->kind->name,
			d->path, sqlite3_errmsg(d->db));
	}
	return err_set(e, is_disk_full(d, code, 0) ? ERR_FULL : kind_of(code), "%s %s: %s", d->kind->name, d->path,
		sqlite3_errmsg(d->db));
}

struct query *query_begin(struct database *d, size_t statement, struct err *e)
{
	struct query *q = &d->slot[statement];
	if (q->in_use) {
		err_set(e, ERR_DB, "%s: statement %zu is in use", d->kind->name, statement);
		return NULL;
	}
	q->database = d;
	if (!q->stmt) {
		int code = sqlite3_prepare_v3(d->db, d->kind->statement[statement], -1, SQLITE_PREPARE_PERSISTENT,
			&q->stmt, NULL);
		if (code != SQLITE_OK) {
			set_sqlite_error(d, code, e);
			return NULL;
		}
	}
	q->in_use = true;
	return q;
}

void query_end(struct query **q)
{
	if (!*q)
		return;
	sqlite3_reset((*q)->stmt);
	sqlite3_clear_bindings((*q)->stmt);
	(*q)->in_use = false;
	*q = NULL;
}

// Binding fails only for a parameter that the statement does not have (a bug), or without memory.
static void check_bound(int code)
{
	if (code != SQLITE_OK)
		abort();
}

void query_bind_int(struct query *q, int at, int64_t value)
{
	if (q)
		check_bound(sqlite3_bind_int64(q->stmt, at, value));
}

void query_bind_text(struct query *q, int at, const char *text)
{
	if (q)
		check_bound(sqlite3_bind_text(q->stmt, at, text, -1, SQLITE_STATIC));
}

void query_bind_bytes(struct query *q, int at, const void *bytes, size_t len)
{
	if (q)
		check_bound(sqlite3_bind_blob64(q->stmt, at, bytes, len, SQLITE_STATIC));
}

int query_step(struct query *q, struct err *e)
{
	if (!q)
		return -1;
	int code = sqlite3_step(q->stmt);
	if (code == SQLITE_ROW)
		return 1;
	return code == SQLITE_DONE ? 0 : set_sqlite_error(q->database, code, e);
}

int64_t query_int(struct query *q, int column)
{
	return sqlite3_column_int64(q->stmt, column);
}

const char *query_text(struct query *q, int column)
{
	return (const char *)sqlite3_column_text(q->stmt, column);
}

const char *query_text_within(struct query *q, int column, size_t most)
{
	const char *text = query_text(q, column);
	return text && (size_t)sqlite3_column_bytes(q->stmt, column) <= most ? text : NULL;
}

struct str query_bytes(struct query *q, int column)
{
	const char *bytes = sqlite3_column_blob(q->stmt, column);
	return (struct str){bytes, (size_t)sqlite3_column_bytes(q->stmt, column)};
}

int64_t query_new_id(struct query *q)
{
	return sqlite3_last_insert_rowid(q->database->db);
}

static int run_script(struct database *d, const char *sql, struct err *e)
{
	int code = sqlite3_exec(d->db, sql, NULL, NULL, NULL);
	return code == SQLITE_OK ? 0 : set_sqlite_error(d, code, e);
}

// The number that a PRAGMA returns. sql is a constant.
static int pragma_get(struct database *d, const char *sql, int64_t *value, struct err *e)
{
	sqlite3_stmt *stmt = NULL;
	int code = sqlite3_prepare_v2(d->db, sql, -1, &stmt, NULL);
	if (code == SQLITE_OK)
		code = sqlite3_step(stmt);
	if (code == SQLITE_ROW)
		*value = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return code == SQLITE_ROW ? 0 : set_sqlite_error(d, code, e);
}

static int check_version(struct database *d, int64_t *version, struct err *e)
{
	int64_t application = 0, tables = 0;
	// The tables first: another process may be creating them, in one transaction with the application id.
	if (pragma_get(d, "SELECT count(*) FROM sqlite_schema", &tables, e) < 0 ||
		pragma_get(d, "PRAGMA application_id", &application, e) < 0 ||
		pragma_get(d, "PRAGMA user_version", version, e) < 0)
		return -1;
	if (tables && application != d->kind->application_id)
		return err_set(e, ERR_USAGE, "%s is a database, but not a %s of wheelcache", d->path, d->kind->name);
	if (*version > d->kind->schema_steps)
		return err_set(e, ERR_USAGE,
			"%s %s was made by a newer wheelcache (schema %lld, this one knows %d); use that one",
			d->kind->name, d->path, (long long)*version, d->kind->schema_steps);
	return 0;
}

static void rollback_open(struct database **d)
{
	if (!sqlite3_get_autocommit((*d)->db))
		sqlite3_exec((*d)->db, "ROLLBACK", NULL, NULL, NULL);
}

// Runs one step in a transaction of its own, unless another process has run it meanwhile.
static int upgrade_once(struct database *d, bool *done, struct err *e)
{
	CLEANUP(rollback_open) struct database *open = d;
	int64_t version;
	if (run_script(open, "BEGIN IMMEDIATE", e) < 0 || check_version(d, &version, e) < 0)
		return -1;
	*done = version == d->kind->schema_steps;
	if (*done)
		return 0;
	CLEANUP(mem_free)
	char *mark = xasprintf("PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT", d->kind->application_id,
		(int)version + 1);
	return run_script(d, d->kind->schema_step[version], e) < 0 ? -1 : run_script(d, mark, e);
}

static int upgrade_schema(struct database *d, struct err *e)
{
	int64_t version;
	if (check_version(d, &version, e) < 0)
		return -1;
	for (bool done = version == d->kind->schema_steps; !done;)
		if (upgrade_once(d, &done, e) < 0)
			return -1;
	return 0;
}

static void sleep_ms(void *ctx UNUSED, unsigned ms)
{
	sqlite3_sleep((int)ms);
}

void database_set_wait(struct database *d, database_wait_fn *wait, void *ctx)
{
	d->wait = wait;
	d->wait_ctx = ctx;
}

// The busy handler. It waits in short pieces, so that a lock that is released is soon noticed.
static int wait_for_lock(void *ctx, int tries)
{
	struct database *d = ctx;
	int64_t now = clock_ms();
	if (tries == 0)
		d->busy_since = now;
	if (now - d->busy_since >= BUSY_MS)
		return 0;
	d->wait(d->wait_ctx, tries < BUSY_MOST_MS ? BUSY_FIRST_MS + (unsigned)tries : BUSY_MOST_MS);
	return 1;
}

static void wait_when_busy(struct database *d)
{
	sqlite3_busy_handler(d->db, wait_for_lock, d);
}

// If several processes create a file at once, this statement fails with SQLITE_BUSY without calling the busy handler
// in some cases. So this function retries it.
static int use_wal(struct database *d, struct err *e)
{
	int code = SQLITE_BUSY;
	sqlite3_busy_timeout(d->db, 0); // no handler
	for (int waited = 0; code == SQLITE_BUSY && waited < BUSY_MS; waited += WAL_RETRY_MS) {
		if (waited)
			sqlite3_sleep(WAL_RETRY_MS);
		code = sqlite3_exec(d->db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
	}
	wait_when_busy(d);
	return code == SQLITE_OK ? 0 : set_sqlite_error(d, code, e);
}

// Where SQLite cannot open "-wal" or "-shm" for writing, it opens them for reading, and each later write fails. A lock
// that another one holds is as good as one that this connection gets.
static int check_writable(struct database *d, struct err *e)
{
	sqlite3_busy_timeout(d->db, 0); // no handler
	int code = sqlite3_exec(d->db, "BEGIN IMMEDIATE; ROLLBACK", NULL, NULL, NULL);
	wait_when_busy(d);
	return code == SQLITE_OK || code == SQLITE_BUSY ? 0 : set_sqlite_error(d, code, e);
}

// Checks access before SQLite does, whose "unable to open database file" has no reason. It does not open the file:
// closing it would drop the locks of this process's other connections (fcntl(2); "How To Corrupt An SQLite Database
// File").
static int make_file(const struct database *d, int folder, const char *name, struct err *e)
{
	if (safefile_make_at(folder, name) < 0 || faccessat(folder, name, R_OK | W_OK, AT_EACCESS) < 0)
		return err_errno(e, ERR_IO, "cannot write the %s %s", d->kind->name, d->path);
	return 0;
}

// Sets real_path, which has no links: SQLITE_OPEN_NOFOLLOW requires that of the whole path.
static int find_folder(struct database *d, bool make, struct err *e)
{
	char link[64], path[LIMIT_PATH];
	CLEANUP(mem_free) char *name = NULL;
	CLEANUP(mem_close) int folder = safefile_parent(d->path, make, &name, e);
	if (folder < 0)
		return err_prefix(e, "%s ", d->kind->name);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", folder);
	ssize_t len = readlink(link, path, sizeof(path) - 1);
	if (len < 0)
		return err_errno(e, ERR_IO, "%s %s: %s", d->kind->name, d->path, link);
	path[len] = '\0';
	d->real_path = xasprintf("%s/%s", path[1] ? path : "", name);
	// Neither the file nor those beside it may be links: SQLite would write to the target of another account's
	// link.
	static const char *const ending[] = {"", "-wal", "-shm", "-journal"};
	for (size_t i = 0; i < ARRAY_SIZE(ending); i++) {
		CLEANUP(mem_free) char *one = xasprintf("%s%s", name, ending[i]);
		if (safefile_check_at(folder, one, e) < 0)
			return err_prefix(e, "%s: ", d->kind->name);
	}
	return make ? make_file(d, folder, name, e) : 0;
}

// Nobody asks how much memory SQLite has: counting it takes a lock at each allocation, of all connections.
static void configure_sqlite(void)
{
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

// name is the path or a URI of SQLite.
static int open_database(struct database *d, const char *name, int flags, struct err *e)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, configure_sqlite);
	int code = sqlite3_open_v2(name, &d->db, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW, NULL);
	return code == SQLITE_OK ? 0 : set_sqlite_error(d, code, e);
}

static struct database *new_database(const struct database_kind *kind, const char *path)
{
	struct database *d = xcalloc(1, sizeof(*d));
	d->kind = kind;
	d->path = xstrdup(path);
	d->slot = xcalloc(kind->statements, sizeof(*d->slot));
	d->wait = sleep_ms;
	return d;
}

int database_open(const struct database_kind *kind, const char *path, struct database **out, struct err *e)
{
	CLEANUP(database_cleanup) struct database *d = new_database(kind, path);
	// Checks before it changes anything: a foreign or newer database stays as it is.
	if (find_folder(d, true, e) < 0 || open_database(d, d->real_path, SQLITE_OPEN_READWRITE, e) < 0)
		return -1;
	int64_t version;
	wait_when_busy(d);
	if (check_version(d, &version, e) < 0)
		return -1;
	if (use_wal(d, e) < 0 || run_script(d, d->kind->connection, e) < 0 || check_writable(d, e) < 0)
		return -1;
	if (upgrade_schema(d, e) < 0)
		return -1;
	*out = STEAL_PTR(d);
	return 0;
}

// The first read is that of the version; with it SQLite opens "-wal" and "-shm".
static int prepare_read(struct database *d, struct err *e)
{
	int64_t version;
	wait_when_busy(d);
	if (check_version(d, &version, e) < 0 || run_script(d, d->kind->connection, e) < 0)
		return -1;
	if (version == d->kind->schema_steps)
		return 0;
	if (version == 0 && d->kind->empty_is_absent)
		return err_set(e, ERR_NOT_FOUND, "%s %s is empty", d->kind->name, d->path);
	return err_set(e, ERR_USAGE, "%s %s was made by an older wheelcache; %s brings it up to date", d->kind->name,
		d->path, d->kind->older);
}

// https://www.sqlite.org/uri.html: "immutable" uses neither other files nor locks.
static int reopen_unlocked(struct database *d, struct err *e)
{
	CLEANUP(buf_release) struct buf uri = buf_up_to(SIZE_MAX / 2);
	buf_puts(&uri, "file:");
	escape_url(&uri, str_from(d->real_path));
	buf_puts(&uri, "?immutable=1");
	sqlite3_close(d->db);
	d->db = NULL;
	d->is_unlocked = true;
	if (open_database(d, uri.data, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, e) < 0)
		return -1;
	return prepare_read(d, e);
}

static bool has_wal(const struct database *d)
{
	CLEANUP(mem_free) char *wal = xasprintf("%s-wal", d->path);
	return access(wal, F_OK) == 0;
}

int database_open_read(const struct database_kind *kind, const char *path, struct database **out, struct err *e)
{
	struct err why = ERR_INIT;
	CLEANUP(database_cleanup) struct database *d = new_database(kind, path);
	if (stat(path, &d->opened) < 0 || faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) < 0)
		return err_errno(e, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, "cannot read the %s %s", kind->name,
			path);
	if (find_folder(d, false, e) < 0 || open_database(d, d->real_path, SQLITE_OPEN_READONLY, e) < 0)
		return -1;
	bool is_bad = prepare_read(d, &why) < 0;
	if (is_bad && (why.kind != ERR_IO || has_wal(d))) {
		*e = why;
		return -1;
	}
	if (is_bad && reopen_unlocked(d, e) < 0)
		return -1;
	*out = STEAL_PTR(d);
	return 0;
}

int database_is_current(const struct database *d, struct err *e)
{
	struct stat now;
	if (!d->is_unlocked)
		return 0;
	if (stat(d->path, &now) == 0 && !has_wal(d) && now.st_ino == d->opened.st_ino &&
		now.st_size == d->opened.st_size && fs_mtime_ns(&now) == fs_mtime_ns(&d->opened))
		return 0;
	return err_set(e, ERR_BUSY, "%s %s was written while it was read without locks; try again", d->kind->name,
		d->path);
}

// SQLite stops the statement if this is not 0.
static int is_late(void *ctx)
{
	const struct database *d = ctx;
	return clock_ms() >= d->ends;
}

void database_limit(struct database *d, unsigned ms)
{
	d->ends = clock_ms() + ms;
	sqlite3_progress_handler(d->db, ms ? LOOK_AT_CLOCK : 0, ms ? is_late : NULL, d);
}

void database_close(struct database *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->kind->statements; i++)
		sqlite3_finalize(d->slot[i].stmt);
	sqlite3_close(d->db);
	free(d->slot);
	free(d->real_path);
	free(d->path);
	free(d);
}

void database_cleanup(struct database **d)
{
	database_close(*d);
	*d = NULL;
}

const char *database_path(const struct database *d)
{
	return d->path;
}

bool database_has_failed(const struct database *d)
{
	return d->has_failed;
}
