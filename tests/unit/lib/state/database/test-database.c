// SPDX-License-Identifier: Apache-2.0
#include "lib/state/database/database.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/state/database/query.h"

enum { ADD, SUM, FOREVER, LOCK, UNLOCK, STATEMENTS };

static const char *const step[] = {"CREATE TABLE n (value INTEGER, name TEXT, bytes BLOB)", "CREATE TABLE second (x)"};
static const char *const statement[STATEMENTS] = {
	[ADD] = "INSERT INTO n VALUES (?1, ?2, ?3)",
	[SUM] = "SELECT sum(value), max(name), max(bytes) FROM n",
	[FOREVER] = "WITH RECURSIVE c (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c) SELECT count(*) FROM c",
	[LOCK] = "BEGIN IMMEDIATE",
	[UNLOCK] = "COMMIT",
};
static const struct database_kind first = {.name = "test file",
	.advice = "throw it away",
	.older = "a test",
	.application_id = 77,
	.schema_step = step,
	.schema_steps = 1,
	.connection = "PRAGMA synchronous = OFF",
	.statement = statement,
	.statements = STATEMENTS};

static char folder[] = "test-database.XXXXXX";
static char path[64];

static bool is_broken; // "-wal" cannot be opened for writing

// SQLite's open() is this one, not that of libc.
int open64(const char *name, int flags, ...)
{
	va_list rest;
	va_start(rest, flags);
	mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
	va_end(rest);
	if (!is_broken || !(flags & O_RDWR) || !str_ends(str_from(name), STR("-wal")))
		return (int)syscall(SYS_openat, AT_FDCWD, name, flags, mode);
	errno = EIO;
	return -1;
}

static int make_folder(void **state UNUSED)
{
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/new/file", folder);
	return 0;
}

static int remove_file(void **state UNUSED)
{
	static const char *const ending[] = {"", "-wal", "-shm"};
	for (size_t i = 0; i < ARRAY_SIZE(ending); i++) {
		char name[80];
		snprintf(name, sizeof(name), "%s%s", path, ending[i]);
		unlink(name);
	}
	return 0;
}

static int remove_folder(void **state)
{
	char name[64];
	remove_file(state);
	snprintf(name, sizeof(name), "%s/new", folder);
	rmdir(name);
	return rmdir(folder);
}

static struct database *open_file(const struct database_kind *kind)
{
	struct err e = ERR_INIT;
	struct database *d = NULL;
	if (database_open(kind, path, &d, &e) < 0)
		fail_msg("%s", e.msg);
	return d;
}

static void add_row(struct database *d, int64_t value, const char *name, const char *bytes)
{
	struct err e = ERR_INIT;
	CLEANUP(query_end) struct query *q = query_begin(d, ADD, &e);
	assert_non_null(q);
	query_bind_int(q, 1, value);
	query_bind_text(q, 2, name);
	query_bind_bytes(q, 3, bytes, bytes ? strlen(bytes) : 0);
	assert_int_equal(query_run(q, &e), 0);
}

static int64_t sum_of(struct database *d)
{
	struct err e = ERR_INIT;
	CLEANUP(query_end) struct query *q = query_begin(d, SUM, &e);
	assert_non_null(q);
	assert_int_equal(query_step(q, &e), 1);
	int64_t sum = query_int(q, 0);
	assert_int_equal(query_step(q, &e), 0);
	return sum;
}

static void values_come_back(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(database_cleanup) struct database *d = open_file(&first);
	add_row(d, 3, NULL, NULL);
	add_row(d, 4, "name", "b");
	CLEANUP(query_end) struct query *q = query_begin(d, SUM, &e);
	assert_int_equal(query_step(q, &e), 1);
	assert_int_equal(query_int(q, 0), 7);
	assert_string_equal(query_text(q, 1), "name");
	assert_null(query_text_within(q, 1, 3));
	assert_true(str_eq(query_bytes(q, 2), STR("b")));
	assert_null(query_sha256(q, 2));
	assert_null(query_begin(d, SUM, &e)); // it is in use
	assert_int_equal(e.kind, ERR_DB);
}

static void older_file_is_upgraded_by_a_writer_alone(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct database_kind second = first;
	struct database *d = open_file(&first);
	add_row(d, 5, "", "");
	database_close(d);
	second.schema_steps = 2;
	assert_int_equal(database_open_read(&second, path, &d, &e), -1);
	assert_int_equal(e.kind, ERR_USAGE);
	assert_non_null(strstr(e.msg, "older wheelcache; a test brings it up to date"));
	d = open_file(&second);
	assert_int_equal(sum_of(d), 5);
	database_close(d);
	assert_int_equal(database_open(&first, path, &d, &e), -1);
	assert_non_null(strstr(e.msg, "newer wheelcache (schema 2, this one knows 1)"));
}

static void file_of_another_kind_is_refused(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct database_kind other = first;
	struct database *d = open_file(&first);
	database_close(d);
	other.application_id = 78;
	other.name = "foreign file";
	assert_int_equal(database_open(&other, path, &d, &e), -1);
	assert_int_equal(e.kind, ERR_USAGE);
	assert_non_null(strstr(e.msg, "is a database, but not a foreign file of wheelcache"));
}

static void read_has_a_time_limit(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(database_cleanup) struct database *d = open_file(&first);
	database_limit(d, 50);
	CLEANUP(query_end) struct query *q = query_begin(d, FOREVER, &e);
	assert_int_equal(query_step(q, &e), -1);
	assert_int_equal(e.kind, ERR_TIME);
}

static struct database *locker;

// Releases the lock at the third wait.
static void count_wait(void *ctx, unsigned ms)
{
	struct err e = ERR_INIT;
	unsigned *waits = ctx;
	assert_true(ms > 0);
	if (++*waits == 3)
		assert_int_equal(query_run_by(locker, UNLOCK, NULL, 0, &e), 0);
}

static void writer_waits_for_another_one(void **state UNUSED)
{
	struct err e = ERR_INIT;
	unsigned waits = 0;
	CLEANUP(database_cleanup) struct database *d = open_file(&first);
	locker = open_file(&first);
	database_set_wait(d, count_wait, &waits);
	assert_int_equal(query_run_by(locker, LOCK, NULL, 0, &e), 0);
	add_row(d, 1, "", "");
	assert_int_equal(waits, 3);
	assert_int_equal(sum_of(locker), 1);
	database_cleanup(&locker);
}

// A disk that failed for a moment must not leave a connection that only reads.
static void connection_that_cannot_write_is_not_opened(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct database *d = NULL;
	CLEANUP(database_cleanup) struct database *other = open_file(&first);
	add_row(other, 1, "", "");
	is_broken = true;
	assert_int_equal(database_open(&first, path, &d, &e), -1);
	is_broken = false;
	assert_int_equal(e.kind, ERR_IO);
	d = open_file(&first);
	add_row(d, 2, "", "");
	assert_int_equal(sum_of(d), 3);
	assert_int_equal(query_run_by(other, LOCK, NULL, 0, &e), 0);
	database_cleanup(&d);
	d = open_file(&first); // while another one writes
	assert_int_equal(query_run_by(other, UNLOCK, NULL, 0, &e), 0);
	add_row(d, 4, "", "");
	database_cleanup(&d);
}

static void missing_file_is_not_made_by_a_reader(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct database *d = NULL;
	assert_int_equal(database_open_read(&first, path, &d, &e), -1);
	assert_int_equal(e.kind, ERR_NOT_FOUND);
	assert_int_equal(access(path, F_OK), -1);
}

#define CASE(name) cmocka_unit_test_setup(name, remove_file)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(values_come_back),
		CASE(older_file_is_upgraded_by_a_writer_alone),
		CASE(file_of_another_kind_is_refused),
		CASE(read_has_a_time_limit),
		CASE(writer_waits_for_another_one),
		CASE(connection_that_cannot_write_is_not_opened),
		CASE(missing_file_is_not_made_by_a_reader),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
