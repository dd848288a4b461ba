// SPDX-License-Identifier: Apache-2.0
#include "builder/probe/cpu-check.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/base/limits.h"
#include "tests/unit/support/zipmake.h"

static char folder[32];

struct unpacked {
	struct strset paths;
	struct err e;
	int result, dir;
};

// Into a fresh folder below the test's.
static void unpack(const struct zipmake_member *members, size_t count, struct unpacked *out)
{
	static int number;
	char wheel[80], target[64];
	struct zipmake z;
	*out = (struct unpacked){.e = ERR_INIT};
	snprintf(target, sizeof(target), "%s/%d", folder, number++);
	snprintf(wheel, sizeof(wheel), "%s.whl", target);
	zipmake_init(&z);
	for (size_t i = 0; i < count; i++)
		zipmake_add(&z, &members[i]);
	zipmake_end(&z, "");
	FILE *f = fopen(wheel, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(z.bytes.data, 1, z.bytes.len, f), z.bytes.len);
	fclose(f);
	zipmake_release(&z);
	assert_int_equal(mkdir(target, 0700), 0);
	out->dir = open(target, O_RDONLY | O_DIRECTORY);
	out->result = wheel_unpack(wheel, out->dir, &out->paths, &out->e);
}

static void release(struct unpacked *u)
{
	strset_release(&u->paths);
	close(u->dir);
}

static void test_what_an_installer_puts_there(void **state UNUSED)
{
	static const struct zipmake_member members[] = {
		{.name = "b/c/d.py", .content = "one"},
		{.name = "a.py", .content = "two", .unix_mode = 0100777},
		{.name = "link.py", .content = "/etc/passwd", .unix_mode = 0120777},
		{.name = "x-1.data/platlib/b/e.py", .content = "three"},
		{.name = "x-1.data/scripts/run", .content = "four"},
		{.name = "folder/", .content = ""},
		{.name = "empty.py", .content = ""},
	};
	static const char *const paths[] = {"a.py", "b/c/d.py", "b/e.py", "empty.py", "link.py"};
	struct unpacked u;
	struct stat st;
	unpack(members, ARRAY_SIZE(members), &u);
	if (u.result < 0)
		fail_msg("%s", u.e.msg);
	assert_int_equal(u.paths.count, ARRAY_SIZE(paths));
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		assert_string_equal(u.paths.item[i], paths[i]);
		assert_int_equal(fstatat(u.dir, paths[i], &st, AT_SYMLINK_NOFOLLOW), 0);
		assert_int_equal(st.st_mode, 0100600); // a link is a file, and nothing is a program
	}
	assert_int_equal(fstatat(u.dir, "b/c/d.py", &st, 0), 0);
	assert_int_equal(st.st_size, 3);
	release(&u);
}

static void test_hostile_archives(void **state UNUSED)
{
	static const struct {
		struct zipmake_member members[2];
		size_t count;
	} samples[] = {
		{{{.name = "../outside.py", .content = "x"}}, 1},
		{{{.name = "/tmp/wheelcache-outside.py", .content = "x"}}, 1},
		{{{.name = "a/../../outside.py", .content = "x"}}, 1},
		{{{.name = "x-1.data/purelib/../outside.py", .content = "x"}}, 1},
		{{{.name = "x-1.data/purelib//tmp/wheelcache-outside.py", .content = "x"}}, 1},
		{{{.name = "a/./b.py", .content = "x"}}, 1},
		{{{.name = "a//b.py", .content = "x"}}, 1},
		{{{.name = "a\\..\\..\\b.py", .content = "x"}}, 1},
		{{{.name = "a.py", .content = "x"}, {.name = "x-1.data/purelib/a.py", .content = "x"}}, 2},
		{{{.name = "a", .content = "x"}, {.name = "a/b.py", .content = "x"}}, 2},
	};
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		struct unpacked u;
		unpack(samples[i].members, samples[i].count, &u);
		if (u.result == 0)
			fail_msg("%s", samples[i].members[0].name);
		release(&u);
	}
	CLEANUP(mem_free) char *outside = xasprintf("%s/outside.py", folder);
	assert_int_equal(access(outside, F_OK), -1);
	assert_int_equal(access("/tmp/wheelcache-outside.py", F_OK), -1);
}

static void test_what_is_no_wheel(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(strset_release) struct strset paths = {0};
	assert_int_equal(wheel_unpack("/nowhere.whl", AT_FDCWD, &paths, &e), -1);
	assert_int_equal(e.kind, ERR_NOT_FOUND);
	assert_int_equal(wheel_unpack("/proc/self/exe", AT_FDCWD, &paths, &e), -1);
	assert_int_equal(e.kind, ERR_INVALID);
}

static int make_folder(void **state UNUSED)
{
	snprintf(folder, sizeof(folder), "/tmp/unpack-XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state UNUSED)
{
	char command[64];
	snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_an_installer_puts_there),
		cmocka_unit_test(test_hostile_archives),
		cmocka_unit_test(test_what_is_no_wheel),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
