// SPDX-License-Identifier: Apache-2.0
#include "lib/os/fs.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { LEVELS = 3000, PART = 100 };

static char top_path[] = "/tmp/wheelcache-tree-XXXXXX";
static int top = -1;

static int make_top(void **state UNUSED)
{
	if (!mkdtemp(top_path))
		return -1;
	top = open(top_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return top < 0 ? -1 : 0;
}

static int remove_top(void **state UNUSED)
{
	close(top);
	return rmdir(top_path); // nothing of the tests is left
}

static void make_file(int dirfd, const char *name)
{
	int fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close(fd);
}

static int make_folder(int dirfd, const char *name)
{
	assert_int_equal(mkdirat(dirfd, name, 0700), 0);
	int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

static void assert_removed(const char *name)
{
	struct err e = ERR_INIT;
	if (tree_remove(top, name, &e) < 0)
		fail_msg("%s", e.msg);
	assert_int_equal(faccessat(top, name, F_OK, AT_SYMLINK_NOFOLLOW), -1);
}

static void test_nothing_and_single_files(void **state UNUSED)
{
	assert_removed("nothing");
	make_file(top, "file");
	assert_removed("file");
	assert_int_equal(symlinkat("/", top, "link"), 0);
	assert_removed("link");
}

static void test_links_are_not_followed(void **state UNUSED)
{
	close(make_folder(top, "kept"));
	int fd = make_folder(top, "tree");
	make_file(top, "kept/file");
	assert_int_equal(symlinkat("../kept", fd, "link"), 0);
	assert_int_equal(symlinkat("nowhere", fd, "dangling"), 0);
	assert_int_equal(mkfifoat(fd, "pipe", 0600), 0);
	close(fd);
	assert_removed("tree");
	assert_int_equal(faccessat(top, "kept/file", F_OK, 0), 0);
	assert_removed("kept");
}

static void test_modes_do_not_prevent_it(void **state UNUSED)
{
	int fd = make_folder(top, "tree"), below = make_folder(fd, "below");
	make_file(below, "file");
	assert_int_equal(fchmod(below, 0), 0);
	assert_int_equal(fchmod(fd, 0500), 0);
	close(below);
	close(fd);
	assert_removed("tree");
}

// More levels than a process can have open files, and longer than PATH_MAX; a name of ours is taken.
static void test_depth_does_not_prevent_it(void **state UNUSED)
{
	int fd = make_folder(top, "tree");
	make_file(fd, ".deep-0");
	close(make_folder(fd, ".deep-1"));
	for (int i = 0; i < LEVELS; i++) {
		make_file(fd, "file");
		int next = make_folder(fd, i % PART ? "folder" : ".deep-2");
		close(fd);
		fd = next;
	}
	close(fd);
	assert_removed("tree");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_and_single_files),
		cmocka_unit_test(test_links_are_not_followed),
		cmocka_unit_test(test_modes_do_not_prevent_it),
		cmocka_unit_test(test_depth_does_not_prevent_it),
	};
	return cmocka_run_group_tests(tests, make_top, remove_top);
}
