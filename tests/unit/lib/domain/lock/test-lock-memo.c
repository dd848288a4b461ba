// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/lock/lock-memo.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/base/limits.h"

#define LONG_AGO 1700000000

static char folder[] = "/tmp/lock-memo-XXXXXX";

static const char *path_of(const char *name)
{
	static char path[100];
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

// second: of its time, so that it is another one.
static const char *write_lock(const char *name, const char *text, long second)
{
	const char *path = path_of(name);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
	const struct timespec times[2] = {{.tv_sec = second}, {.tv_sec = second}};
	if (second)
		assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
	return path;
}

static const struct lock_memo *must_read(const char *path)
{
	struct err e = ERR_INIT;
	const struct lock_memo *m = lock_memo_read(path, &e);
	if (!m)
		fail_msg("%s", e.msg);
	return m;
}

static void unchanged_file_is_read_once(void **state UNUSED)
{
	const char *path = write_lock("a", "six==1.0\n", LONG_AGO);
	const struct lock_memo *one = must_read(path), *same = must_read(path);
	assert_ptr_equal(one, same);
	assert_int_equal(one->bytes, strlen("six==1.0\n"));
	write_lock("a", "six==2.0\n", LONG_AGO); // of the same size and time, but it was written
	const struct lock_memo *other = must_read(path);
	assert_ptr_not_equal(one, other);
	assert_string_equal(other->lock.package[0].version, "2.0");
	assert_string_equal(one->lock.package[0].version, "1.0"); // as long as it is held
	assert_memory_not_equal(one->sha256, other->sha256, SHA256_SIZE);
	lock_memo_unref(one);
	lock_memo_unref(same);
	lock_memo_unref(other);
}

static void file_that_just_changed_is_read_again(void **state UNUSED)
{
	const char *path = write_lock("b", "six==1.0\n", 0);
	const struct lock_memo *one = must_read(path), *again = must_read(path);
	assert_ptr_not_equal(one, again);
	lock_memo_unref(one);
	lock_memo_unref(again);
}

static void broken_and_missing_files_are_errors_each_time(void **state UNUSED)
{
	struct err e = ERR_INIT;
	const char *path = write_lock("c", "version = 9\nrequires-python = '>=3.9'\n", LONG_AGO);
	for (int i = 0; i < 2; i++) {
		assert_null(lock_memo_read(path, &e));
		assert_int_equal(e.kind, ERR_INVALID);
	}
	write_lock("c", "six==1.0\n", LONG_AGO);
	lock_memo_unref(must_read(path));
	assert_int_equal(unlink(path), 0);
	assert_null(lock_memo_read(path, &e));
	assert_int_equal(e.kind, ERR_NOT_FOUND);
	lock_memo_unref(NULL);
}

// Exceeds LIMIT_LOCKS_KEPT: such a lock is read each time, and those before it have left.
static void large_locks_do_not_stay(void **state UNUSED)
{
	enum { HASHES = LIMIT_LOCKS_KEPT / sizeof(struct lock_file) };
	const struct lock_memo *small = must_read(write_lock("d", "six==1.0\n", LONG_AGO));
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_LOCK);
	for (unsigned i = 0; i < HASHES / 2; i++) { // and the text has as much
		if (i % 1000 == 0)
			buf_printf(&text, "\np%u==1.0", i);
		buf_printf(&text, " --hash=sha256:%064x", i);
	}
	buf_putc(&text, '\n');
	const char *path = write_lock("e", text.data, LONG_AGO);
	const struct lock_memo *one = must_read(path);
	const struct lock_memo *again = must_read(path);
	assert_int_equal(one->lock.files, HASHES / 2);
	assert_ptr_not_equal(one, again);
	lock_memo_unref(one);
	lock_memo_unref(again);
	const struct lock_memo *small_again = must_read(path_of("d"));
	assert_ptr_not_equal(small, small_again);
	lock_memo_unref(small);
	lock_memo_unref(small_again);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unchanged_file_is_read_once),
		cmocka_unit_test(file_that_just_changed_is_read_again),
		cmocka_unit_test(broken_and_missing_files_are_errors_each_time),
		cmocka_unit_test(large_locks_do_not_stay),
	};
	return mkdtemp(folder) ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
