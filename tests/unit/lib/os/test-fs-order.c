// SPDX-License-Identifier: Apache-2.0
// A file has its bytes on the disk before it has its name: a machine that loses its power never has an empty wheel
// under a good name. The calls are counted here, because nothing else tells after the fact.
#include "lib/os/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

static char calls[64]; // in their order: s is a sync, n a name
static bool sync_fails;

static void note_call(char call)
{
	size_t len = strlen(calls);
	if (len + 1 < sizeof(calls))
		calls[len] = call;
}

// These three are what the program calls, in the place of the C library's.
int fsync(int fd)
{
	note_call('s');
	errno = EIO;
	return sync_fails ? -1 : (int)syscall(SYS_fsync, fd);
}

int renameat(int from, const char *old, int to, const char *new)
{
	note_call('n');
	return (int)syscall(SYS_renameat2, from, old, to, new, 0);
}

int linkat(int from, const char *old, int to, const char *new, int flags)
{
	note_call('n');
	return (int)syscall(SYS_linkat, from, old, to, new, flags);
}

// Writes a file and gives it its name. Returns what give_name returns.
static int write_named(int (*give_name)(struct fs_tmp *t, struct err *e), bool fails, struct err *e, bool *has_name)
{
	char folder[] = "/tmp/test-fs-order-XXXXXX";
	struct fs_tmp tmp;
	assert_non_null(mkdtemp(folder));
	CLEANUP(mem_close) int dir = fs_open_dir(folder, e);
	memset(calls, 0, sizeof(calls));
	assert_int_equal(fs_tmp_open(&tmp, dir, ".tmp", "file", e), 0);
	assert_int_equal(fs_tmp_write(&tmp, STR("bytes"), e), 0);
	sync_fails = fails;
	int result = give_name(&tmp, e);
	sync_fails = false;
	fs_tmp_release(&tmp);
	*has_name = unlinkat(dir, "file", 0) == 0;
	assert_int_equal(rmdir(folder), 0);
	return result;
}

static void test_bytes_are_synced_before_the_name(void **state UNUSED)
{
	struct err e = ERR_INIT;
	bool has_name;
	assert_int_equal(write_named(fs_tmp_publish, false, &e, &has_name), 0);
	assert_true(has_name);
	assert_string_equal(calls, "sn");
	assert_int_equal(write_named(fs_tmp_link, false, &e, &has_name), 0);
	assert_true(has_name);
	assert_string_equal(calls, "sn");
}

static void test_bytes_that_cannot_be_synced_get_no_name(void **state UNUSED)
{
	struct err e = ERR_INIT;
	bool has_name;
	assert_int_equal(write_named(fs_tmp_publish, true, &e, &has_name), -1);
	assert_false(has_name);
	assert_int_equal(write_named(fs_tmp_link, true, &e, &has_name), -1);
	assert_false(has_name);
	assert_int_equal(e.kind, ERR_IO);
	assert_string_equal(e.msg, "file: Input/output error");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bytes_are_synced_before_the_name),
		cmocka_unit_test(test_bytes_that_cannot_be_synced_get_no_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
