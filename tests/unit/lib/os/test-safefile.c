// SPDX-License-Identifier: Apache-2.0
#include "lib/os/safefile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/os/fs.h"

enum { FOREVER = 60 }; // seconds

static char top[] = "/tmp/test-safefile-XXXXXX";

static int make_top(void **state UNUSED)
{
	alarm(FOREVER); // ends a test that waits for a pipe
	return mkdtemp(top) ? 0 : -1;
}

static int remove_top(void **state UNUSED)
{
	CLEANUP(mem_free) char *command = xasprintf("rm -r %s", top);
	return system(command);
}

static char *path_of(const char *name)
{
	return xasprintf("%s/%s", top, name);
}

static void write_file(const char *name, const char *text)
{
	CLEANUP(mem_free) char *path = path_of(name);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void expect_text(const char *name, const char *text)
{
	struct err e = ERR_INIT;
	CLEANUP(mem_free) char *path = path_of(name);
	CLEANUP(buf_release) struct buf found;
	buf_init(&found, 1000);
	assert_int_equal(fs_read_file(path, &found, &e), 0);
	assert_string_equal(found.data, text);
}

static void link_to(const char *target, const char *name)
{
	CLEANUP(mem_free) char *path = path_of(name);
	assert_int_equal(symlink(target, path), 0);
}

static void make_folder(const char *name, mode_t mode)
{
	CLEANUP(mem_free) char *path = path_of(name);
	assert_int_equal(mkdir(path, 0700) + chmod(path, mode), 0);
}

static void expect_refused(const char *name, int flags, const char *words)
{
	struct err e = ERR_INIT;
	CLEANUP(mem_free) char *path = path_of(name);
	assert_int_equal(safefile_open(path, flags, &e), -1);
	assert_int_equal(e.kind, ERR_IO);
	if (!strstr(e.msg, words) || !strstr(e.msg, path))
		fail_msg("%s", e.msg);
}

static void expect_opened(const char *name, int flags)
{
	struct err e = ERR_INIT;
	CLEANUP(mem_free) char *path = path_of(name);
	CLEANUP(mem_close) int fd = safefile_open(path, flags, &e);
	if (fd < 0)
		fail_msg("%s", e.msg);
}

static void links_that_others_may_have_made_are_refused(void **state UNUSED)
{
	static const int flags[] = {
		O_RDONLY, O_WRONLY, O_RDWR, O_RDWR | O_CREAT, O_WRONLY | O_APPEND | O_CREAT | O_TRUNC};
	make_folder("open", 0777);
	make_folder("inner", 0700);
	write_file("victim", "text");
	link_to("../victim", "open/link");
	link_to("../nothing", "open/dangling");
	link_to("../inner", "open/folder");
	CLEANUP(mem_free) char *pipe = path_of("open/pipe");
	CLEANUP(mem_free) char *hard = path_of("open/hard");
	CLEANUP(mem_free) char *victim = path_of("victim");
	assert_int_equal(mkfifo(pipe, 0600) + link(victim, hard), 0);
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		expect_refused("open/link", flags[i], "symbolic link");
		expect_refused("open/dangling", flags[i], "symbolic link");
		expect_refused("open/folder/file", flags[i], "symbolic link");
		expect_refused("open/pipe", flags[i], "no regular file");
		expect_refused("open/hard", flags[i], "it has 2 names");
		expect_refused("inner", flags[i], "no regular file");
	}
	expect_text("victim", "text");
	assert_int_equal(unlink(hard), 0);
}

static void our_own_links_are_followed(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(mem_free) char *inner = path_of("own/inner");
	make_folder("own", 0755);
	make_folder("own/inner", 0700);
	link_to("inner", "own/relative");
	link_to(inner, "own/absolute");
	link_to("../own/absolute/file", "own/twice");
	write_file("own/inner/file", "text");
	expect_opened("own/relative/file", O_RDONLY);
	expect_opened("own/absolute/file", O_RDONLY);
	expect_opened("own//twice", O_RDONLY);
	expect_opened("own/./inner/../inner/file", O_RDWR);
	link_to("b", "own/a");
	link_to("a", "own/b");
	CLEANUP(mem_free) char *loop = path_of("own/a");
	assert_int_equal(safefile_open(loop, O_RDONLY, &e), -1);
	CLEANUP(mem_free) char *missing = path_of("own/none");
	assert_int_equal(safefile_open(missing, O_RDWR, &e), -1);
	assert_int_equal(e.kind, ERR_NOT_FOUND);
	assert_int_equal(safefile_open("/", O_RDONLY, &e), -1);
}

static void give_to(const char *name, uid_t owner)
{
	CLEANUP(mem_free) char *path = path_of(name);
	assert_int_equal(lchown(path, owner, owner), 0);
}

// A mounted Kubernetes secret is a sticky folder of root that all may write, with links of root. An operator may move
// the state to another disk with a link in /tmp, or in a folder that belongs to a team.
static void trust_in_links_depends_on_the_owners(void **state UNUSED)
{
	enum { US = 65534, OTHER = 65533 };
	static const struct {
		mode_t mode;
		uid_t folder, link;
		bool is_for_root, is_for_us;
	} row[] = {
		{01777, 0, 0, true, true},
		{01777, 0, US, false, true},
		{01777, 0, OTHER, false, false},
		{01777, OTHER, OTHER, false, true},
		{01777, US, OTHER, false, false},
		{0777, 0, 0, false, false},
		{0777, US, US, false, false},
		{0775, 0, 0, true, true},
		{02775, OTHER, OTHER, false, true},
		{02775, OTHER, US, false, true},
		{02775, OTHER, 65532, false, false},
		{0775, US, US, false, true},
		{0755, US, US, false, true},
	};
	if (geteuid() != 0)
		skip();
	assert_int_equal(chmod(top, 0755), 0);
	make_folder("target", 0755);
	write_file("target/file", "text");
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		CLEANUP(mem_free) char *folder = xasprintf("links%zu", i);
		CLEANUP(mem_free) char *link = xasprintf("%s/link", folder);
		CLEANUP(mem_free) char *file = xasprintf("%s/file", link);
		CLEANUP(mem_free) char *path = path_of(folder);
		make_folder(folder, row[i].mode);
		link_to("../target", link);
		give_to(link, row[i].link);
		give_to(folder, row[i].folder);
		assert_int_equal(chmod(path, row[i].mode), 0);
		row[i].is_for_root ? expect_opened(file, O_RDONLY) : expect_refused(file, O_RDONLY, "symbolic link");
		assert_int_equal(seteuid(US), 0);
		row[i].is_for_us ? expect_opened(file, O_RDONLY) : expect_refused(file, O_RDONLY, "symbolic link");
		assert_int_equal(seteuid(0), 0);
	}
}

static mode_t mode_of(const char *name)
{
	struct stat st;
	CLEANUP(mem_free) char *path = path_of(name);
	assert_int_equal(stat(path, &st), 0);
	return st.st_mode & 07777;
}

static void new_files_are_private(void **state UNUSED)
{
	struct err e = ERR_INIT;
	mode_t before = umask(0);
	expect_opened("made/deeper/file", O_RDWR | O_CREAT);
	CLEANUP(mem_free) char *path = path_of("made/folder");
	CLEANUP(mem_close) int fd = safefile_folder(path, true, &e);
	umask(before);
	assert_true(fd >= 0);
	assert_int_equal(mode_of("made/deeper/file"), 0640);
	assert_int_equal(mode_of("made/folder"), 0750);
}

static void a_file_is_truncated_only_with_O_TRUNC(void **state UNUSED)
{
	write_file("full", "text");
	expect_opened("full", O_RDWR | O_CREAT);
	expect_text("full", "text");
	expect_opened("full", O_RDWR | O_TRUNC);
	expect_text("full", "");
}

static void a_lock_names_its_one_holder(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(mem_free) char *path = path_of("a/b/lock");
	int held = safefile_lock(path, false, "me, 42", &e);
	assert_true(held >= 0);
	assert_int_equal(safefile_lock(path, false, "you", &e), -1);
	assert_int_equal(e.kind, ERR_BUSY);
	assert_string_equal(e.msg, "me, 42");
	close(held);
	held = safefile_lock(path, false, "you", &e);
	assert_true(held >= 0);
	close(held);
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, 2);
	assert_int_equal(safefile_read(path, &text, &e), -1);
	assert_int_equal(e.kind, ERR_LIMIT);
}

// As root: a file that another account than the folder's owner has put there.
static void root_checks_the_owner(void **state UNUSED)
{
	enum { OWNER = 65534, OTHER = 65533 };
	struct stat st;
	if (geteuid() != 0)
		skip();
	CLEANUP(mem_free) char *folder = path_of("theirs");
	CLEANUP(mem_free) char *file = path_of("theirs/file");
	CLEANUP(mem_free) char *made = path_of("theirs/made");
	make_folder("theirs", 0755);
	write_file("theirs/file", "");
	assert_int_equal(chown(folder, OWNER, OWNER) + chown(file, OTHER, OTHER), 0);
	expect_refused("theirs/file", O_RDWR, "it belongs to user 65533");
	assert_int_equal(chown(file, OWNER, OWNER), 0);
	expect_opened("theirs/file", O_RDWR);
	assert_int_equal(chown(file, 0, 0), 0);
	expect_opened("theirs/file", O_RDWR | O_CREAT);
	assert_int_equal(stat(file, &st), 0);
	assert_int_equal(st.st_uid, 0); // unchanged
	expect_opened("theirs/made", O_RDWR | O_CREAT);
	assert_int_equal(stat(made, &st), 0);
	assert_int_equal(st.st_uid, OWNER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(links_that_others_may_have_made_are_refused),
		cmocka_unit_test(our_own_links_are_followed),
		cmocka_unit_test(trust_in_links_depends_on_the_owners),
		cmocka_unit_test(new_files_are_private),
		cmocka_unit_test(a_file_is_truncated_only_with_O_TRUNC),
		cmocka_unit_test(a_lock_names_its_one_holder),
		cmocka_unit_test(root_checks_the_owner),
	};
	return cmocka_run_group_tests(tests, make_top, remove_top);
}
