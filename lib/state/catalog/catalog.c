// SPDX-License-Identifier: Apache-2.0
// The connection: opening, schema steps, statements.
#include "lib/state/catalog/catalog.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sqlite3.h>

#include "lib/base/limits.h"
#include "lib/format/escape.h"
#include "lib/os/clock.h"
#include "lib/os/fs.h"
#include "lib/os/safefile.h"
#include "lib/state/catalog/changes.h"
#include "lib/state/catalog/query.h"

enum {
	BUSY_MS = 30000,
	BUSY_FIRST_MS = 1,
	BUSY_MOST_MS = 25,
	WAL_RETRY_MS = 10,
	LOOK_AT_CLOCK = 10000, // steps of SQLite's virtual machine: some tenths of a millisecond
};

struct query {
	struct catalog *catalog;
	sqlite3_stmt *stmt;
	bool in_use;
};

struct catalog {
	sqlite3 *db;
	char *path;
	char *real_path;         // without links, for SQLite
	struct changes *changes; // NULL: read-only, or it cannot be mapped
	int64_t version_seen;    // PRAGMA data_version, 0 before the first look
	uint32_t mark;           // the change count before the running statement began or was retried
	int64_t busy_since;      // clock_ms()
	int64_t ends;            // clock_ms() at which reads fail
	bool has_failed;         // the system has failed an operation
	bool is_unlocked;        // read without locks; opened tells whether another process wrote
	struct stat opened;
	struct query slot[STATEMENT_COUNT];
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

// The message of SQLite, that of the system if there is one, and what to do about a damaged catalog.
static int set_sqlite_error(struct catalog *c, int code, struct err *e)
{
	int reason = sqlite3_system_errno(c->db);
	bool is_system = kind_of(code) == ERR_IO && reason != 0;
	c->has_failed |= kind_of(code) == ERR_IO;
	bool is_damaged = (code & 0xff) == SQLITE_CORRUPT || (code & 0xff) == SQLITE_NOTADB;
	if (is_damaged)
		return err_set(e, ERR_DB, "catalog %s: %s; remove it, and the next scan makes it again", c->path,
			sqlite3_errmsg(c->db));
	if (is_system) {
		errno = reason;
		return err_errno(e, ERR_IO, "catalog %s: %s", c->path, sqlite3_errmsg(c->db));
	}
	return err_set(e, kind_of(code), "catalog %s: %s", c->path, sqlite3_errmsg(c->db));
}

struct query *query_begin(struct catalog *c, enum statement id, struct err *e)
{
	struct query *q = &c->slot[id];
	if (q->in_use) {
		err_set(e, ERR_DB, "catalog: statement %d is in use", (int)id);
		return NULL;
	}
	q->catalog = c;
	if (!q->stmt) {
		int code = sqlite3_prepare_v3(c->db, statement_sql[id], -1, SQLITE_PREPARE_PERSISTENT, &q->stmt, NULL);
		if (code != SQLITE_OK) {
			set_sqlite_error(c, code, e);
			return NULL;
		}
	}
	q->in_use = true;
	c->mark = changes_read(c->changes);
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
	check_bound(sqlite3_bind_int64(q->stmt, at, value));
}

void query_bind_text(struct query *q, int at, const char *text)
{
	check_bound(sqlite3_bind_text(q->stmt, at, text, -1, SQLITE_STATIC));
}

void query_bind_bytes(struct query *q, int at, const void *bytes, size_t len)
{
	check_bound(sqlite3_bind_blob64(q->stmt, at, bytes, len, SQLITE_STATIC));
}

int query_step(struct query *q, struct err *e)
{
	int code = sqlite3_step(q->stmt);
	if (code == SQLITE_ROW)
		return 1;
	return code == SQLITE_DONE ? 0 : set_sqlite_error(q->catalog, code, e);
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
	return sqlite3_last_insert_rowid(q->catalog->db);
}

static int run_script(struct catalog *c, const char *sql, struct err *e)
{
	int code = sqlite3_exec(c->db, sql, NULL, NULL, NULL);
	return code == SQLITE_OK ? 0 : set_sqlite_error(c, code, e);
}

// The number that a PRAGMA returns. sql is a constant.
static int pragma_get(struct catalog *c, const char *sql, int64_t *value, struct err *e)
{
	sqlite3_stmt *stmt = NULL;
	int code = sqlite3_prepare_v2(c->db, sql, -1, &stmt, NULL);
	if (code == SQLITE_OK)
		code = sqlite3_step(stmt);
	if (code == SQLITE_ROW)
		*value = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return code == SQLITE_ROW ? 0 : set_sqlite_error(c, code, e);
}

static int check_version(struct catalog *c, int64_t *version, struct err *e)
{
	int64_t application = 0, tables = 0;
	// The tables first: another process may be creating them, in one transaction with the application id.
	if (pragma_get(c, "SELECT count(*) FROM sqlite_schema", &tables, e) < 0 ||
		pragma_get(c, "PRAGMA application_id", &application, e) < 0 ||
		pragma_get(c, "PRAGMA user_version", version, e) < 0)
		return -1;
	if (tables && application != SCHEMA_APPLICATION_ID)
		return err_set(e, ERR_USAGE, "%s is a database, but not a catalog of wheelcache", c->path);
	if (*version > schema_steps)
		return err_set(e, ERR_USAGE,
			"catalog %s was made by a newer wheelcache (schema %lld, this one knows %d)", c->path,
			(long long)*version, schema_steps);
	return 0;
}

static void rollback_open(struct catalog **c)
{
	if (!sqlite3_get_autocommit((*c)->db))
		sqlite3_exec((*c)->db, "ROLLBACK", NULL, NULL, NULL);
}

// Runs one step in a transaction of its own, unless another process has run it meanwhile.
static int upgrade_once(struct catalog *c, bool *done, struct err *e)
{
	CLEANUP(rollback_open) struct catalog *open = c;
	int64_t version;
	if (run_script(open, "BEGIN IMMEDIATE", e) < 0 || check_version(c, &version, e) < 0)
		return -1;
	*done = version == schema_steps;
	if (*done)
		return 0;
	CLEANUP(mem_free)
	char *mark = xasprintf("PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT", SCHEMA_APPLICATION_ID,
		(int)version + 1);
	if (run_script(c, schema_step[version], e) < 0)
		return -1;
	return run_script(c, mark, e);
}

static int upgrade_schema(struct catalog *c, struct err *e)
{
	int64_t version;
	if (check_version(c, &version, e) < 0)
		return -1;
	for (bool done = version == schema_steps; !done;)
		if (upgrade_once(c, &done, e) < 0)
			return -1;
	return 0;
}

// The busy handler: waits until another connection's commit raises the change count, which is faster than SQLite's own
// sleeps. A lock may be released without a commit, so the handler also retries at intervals.
static int wait_for_lock(void *ctx, int tries)
{
	struct catalog *c = ctx;
	int64_t now = clock_ms();
	if (tries == 0)
		c->busy_since = now;
	if (now - c->busy_since >= BUSY_MS)
		return 0;
	changes_wait(c->changes, c->mark, tries < BUSY_MOST_MS ? BUSY_FIRST_MS + (unsigned)tries : BUSY_MOST_MS);
	c->mark = changes_read(c->changes);
	return 1;
}

static void wait_when_busy(struct catalog *c)
{
	sqlite3_busy_handler(c->db, wait_for_lock, c);
}

// If several processes create a catalog at once, this statement fails with SQLITE_BUSY without calling the busy handler
// in some cases. So this function retries it.
static int use_wal(struct catalog *c, struct err *e)
{
	int code = SQLITE_BUSY;
	sqlite3_busy_timeout(c->db, 0); // no handler
	for (int waited = 0; code == SQLITE_BUSY && waited < BUSY_MS; waited += WAL_RETRY_MS) {
		if (waited)
			sqlite3_sleep(WAL_RETRY_MS);
		code = sqlite3_exec(c->db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
	}
	wait_when_busy(c);
	return code == SQLITE_OK ? 0 : set_sqlite_error(c, code, e);
}

// Checks before it changes anything: a foreign or newer database stays as it is.
static int prepare_write(struct catalog *c, struct err *e)
{
	int64_t version;
	wait_when_busy(c);
	if (check_version(c, &version, e) < 0)
		return -1;
	if (use_wal(c, e) < 0 || run_script(c, schema_connection, e) < 0)
		return -1;
	return upgrade_schema(c, e);
}

// Checks access before SQLite does, whose "unable to open database file" has no reason. It does not open the file:
// closing it would drop the locks of this process's other connections (fcntl(2); "How To Corrupt An SQLite Database
// File").
static int make_file(int folder, const char *name, const char *path, struct err *e)
{
	if (safefile_make_at(folder, name) < 0 || faccessat(folder, name, R_OK | W_OK, AT_EACCESS) < 0)
		return err_errno(e, ERR_IO, "cannot write the catalog %s", path);
	return 0;
}

// Neither the catalog nor the files beside it may be links: SQLite would write to the target of another account's link.
static int check_files(int folder, const char *name, struct err *e)
{
	static const char *const ending[] = {"", "-wal", "-shm", "-journal"};
	for (size_t i = 0; i < ARRAY_SIZE(ending); i++) {
		CLEANUP(mem_free) char *one = xasprintf("%s%s", name, ending[i]);
		if (safefile_check_at(folder, one, e) < 0)
			return err_prefix(e, "catalog: ");
	}
	return 0;
}

// Sets real_path, which has no links: SQLITE_OPEN_NOFOLLOW requires that of the whole path.
static int find_folder(struct catalog *c, bool make, struct err *e)
{
	char link[64], path[LIMIT_PATH];
	CLEANUP(mem_free) char *name = NULL;
	CLEANUP(mem_close) int folder = safefile_parent(c->path, make, &name, e);
	if (folder < 0)
		return err_prefix(e, "catalog ");
	snprintf(link, sizeof(link), "/proc/self/fd/%d", folder);
	ssize_t len = readlink(link, path, sizeof(path) - 1);
	if (len < 0)
		return err_errno(e, ERR_IO, "catalog %s: %s", c->path, link);
	path[len] = '\0';
	c->real_path = xasprintf("%s/%s", path[1] ? path : "", name);
	if (check_files(folder, name, e) < 0)
		return -1;
	return make ? make_file(folder, name, c->path, e) : 0;
}

// name is the path or a URI of SQLite.
static int open_database(struct catalog *c, const char *name, int flags, struct err *e)
{
	int code = sqlite3_open_v2(name, &c->db, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW, NULL);
	return code == SQLITE_OK ? 0 : set_sqlite_error(c, code, e);
}

int catalog_open(const char *path, struct catalog **out, struct err *e)
{
	CLEANUP(catalog_cleanup) struct catalog *c = xcalloc(1, sizeof(*c));
	c->path = xstrdup(path);
	if (find_folder(c, true, e) < 0 || open_database(c, c->real_path, SQLITE_OPEN_READWRITE, e) < 0 ||
		prepare_write(c, e) < 0)
		return -1;
	c->changes = changes_open(path);
	*out = STEAL_PTR(c);
	return 0;
}

// The first read is that of the version; with it SQLite opens "-wal" and "-shm".
static int prepare_read(struct catalog *c, struct err *e)
{
	int64_t version;
	wait_when_busy(c);
	if (check_version(c, &version, e) < 0 || run_script(c, schema_connection, e) < 0)
		return -1;
	if (version == schema_steps)
		return 0;
	return err_set(e, ERR_USAGE,
		"catalog %s was made by an older wheelcache; wheelcache index brings it up to date", c->path);
}

// https://www.sqlite.org/uri.html: "immutable" uses neither other files nor locks.
static int reopen_unlocked(struct catalog *c, struct err *e)
{
	CLEANUP(buf_release) struct buf uri;
	buf_init(&uri, SIZE_MAX / 2);
	buf_puts(&uri, "file:");
	escape_url(&uri, str_from(c->real_path));
	buf_puts(&uri, "?immutable=1");
	sqlite3_close(c->db);
	c->db = NULL;
	c->is_unlocked = true;
	if (open_database(c, uri.data, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, e) < 0)
		return -1;
	return prepare_read(c, e);
}

static bool has_wal(const struct catalog *c)
{
	CLEANUP(mem_free) char *wal = xasprintf("%s-wal", c->path);
	return access(wal, F_OK) == 0;
}

int catalog_open_read(const char *path, struct catalog **out, struct err *e)
{
	struct err why = ERR_INIT;
	CLEANUP(catalog_cleanup) struct catalog *c = xcalloc(1, sizeof(*c));
	c->path = xstrdup(path);
	if (stat(path, &c->opened) < 0 || faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) < 0)
		return err_errno(e, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, "cannot read the catalog %s", path);
	if (find_folder(c, false, e) < 0 || open_database(c, c->real_path, SQLITE_OPEN_READONLY, e) < 0)
		return -1;
	bool is_bad = prepare_read(c, &why) < 0;
	if (is_bad && (why.kind != ERR_IO || has_wal(c))) {
		*e = why;
		return -1;
	}
	if (is_bad && reopen_unlocked(c, e) < 0)
		return -1;
	*out = STEAL_PTR(c);
	return 0;
}

int catalog_is_current(const struct catalog *c, struct err *e)
{
	struct stat now;
	if (!c->is_unlocked)
		return 0;
	if (stat(c->path, &now) == 0 && !has_wal(c) && now.st_ino == c->opened.st_ino &&
		now.st_size == c->opened.st_size && fs_mtime_ns(&now) == fs_mtime_ns(&c->opened))
		return 0;
	return err_set(e, ERR_BUSY, "catalog %s was written while it was read without locks; try again", c->path);
}

// SQLite stops the statement if this is not 0.
static int is_late(void *ctx)
{
	const struct catalog *c = ctx;
	return clock_ms() >= c->ends;
}

void catalog_limit(struct catalog *c, unsigned ms)
{
	c->ends = clock_ms() + ms;
	sqlite3_progress_handler(c->db, ms ? LOOK_AT_CLOCK : 0, ms ? is_late : NULL, c);
}

void catalog_close(struct catalog *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(c->slot); i++)
		sqlite3_finalize(c->slot[i].stmt);
	sqlite3_close(c->db);
	changes_close(c->changes);
	free(c->real_path);
	free(c->path);
	free(c);
}

void catalog_cleanup(struct catalog **c)
{
	catalog_close(*c);
	*c = NULL;
}

const char *catalog_path(const struct catalog *c)
{
	return c->path;
}

bool catalog_has_failed(const struct catalog *c)
{
	return c->has_failed;
}

void query_committed(struct catalog *c)
{
	if (!c->changes) // mapping it failed before
		c->changes = changes_open(c->path);
	changes_raise(c->changes);
}

bool catalog_was_written(struct catalog *c)
{
	struct err ignored = ERR_INIT;
	CLEANUP(query_end) struct query *q = query_begin(c, DATA_VERSION, &ignored);
	if (!q || query_step(q, &ignored) != 1)
		return true; // the next read reports the error
	int64_t before = c->version_seen;
	c->version_seen = query_int(q, 0);
	return c->version_seen != before;
}
