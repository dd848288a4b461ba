// SPDX-License-Identifier: Apache-2.0
#include "lib/place/folder-watch.h"

#include <fcntl.h>
#include <poll.h>
#include <linux/magic.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/base/buf.h"
#include "lib/base/mem.h"
#include "lib/os/fs.h"

enum { PATIENCE_MS = 60000, MORE_THAN_A_QUEUE = 40000 };

#define TOP_PATH "/tmp/wheelcache-folder-watch-XXXXXX"
static char top_path[] = TOP_PATH;
static int top = -1;

struct seen {
	struct folder_watch *watch;
	struct buf text; // "kind:folder/name " for each event
	size_t overflows;
};

static void note(void *ctx, const struct folder_event *ev)
{
	static const char kind[] = "cmflo";
	struct seen *s = ctx;
	s->overflows += ev->kind == FOLDER_EVENT_OVERFLOW;
	if (s->text.len < 10000)
		buf_printf(&s->text, "%c:%s/%s ", kind[ev->kind], ev->folder, ev->name);
}

static int start(void **state)
{
	struct err e = ERR_INIT;
	struct seen *s = xcalloc(1, sizeof(*s));
	memcpy(top_path, TOP_PATH, sizeof(top_path));
	s->watch = folder_watch_new(100, &e);
	buf_init(&s->text, 1 << 20);
	*state = s;
	if (!s->watch || !mkdtemp(top_path))
		return -1;
	top = open(top_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return top < 0 ? -1 : 0;
}

static int stop(void **state)
{
	struct seen *s = *state;
	struct err e = ERR_INIT;
	folder_watch_free(s->watch);
	buf_release(&s->text);
	free(s);
	close(top);
	return tree_remove(AT_FDCWD, top_path, &e);
}

static void make_folder(const char *path)
{
	assert_int_equal(mkdirat(top, path, 0700), 0);
}

static void make_file(const char *path)
{
	int fd = openat(top, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close(fd);
}

static enum folder_watched add_as(struct seen *s, const char *path, const char *name)
{
	CLEANUP(mem_close) int fd = openat(top, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(fd >= 0);
	return folder_watch_add(s->watch, name, fd);
}

static void add(struct seen *s, const char *path)
{
	assert_int_equal(add_as(s, path, path), FOLDER_IS_WATCHED);
}

static void move(const char *from, const char *to)
{
	assert_int_equal(renameat(top, from, top, to), 0);
}

// Compares what has come since the last call: the kernel queues an event before the call that causes it returns.
static void assert_told(struct seen *s, const char *expected)
{
	while (folder_watch_read(s->watch, note, s))
		;
	assert_string_equal(s->text.len ? s->text.data : "", expected);
	buf_clear(&s->text);
}

static size_t watched(struct seen *s)
{
	struct folder_watch_counts counts;
	folder_watch_count(s->watch, &counts);
	return counts.watched;
}

static void test_files_that_come_change_and_leave_are_told(void **state)
{
	struct seen *s = *state;
	make_folder("p");
	make_folder("p/q");
	add(s, "p");
	add(s, "p/q");
	assert_told(s, "");
	make_file("p/a");
	assert_told(s, "m:p/a c:p/a ");
	move("p/a", "p/q/b");
	assert_told(s, "c:p/a c:p/q/b ");
	assert_int_equal(linkat(top, "p/q/b", top, "p/c", 0), 0);
	assert_told(s, "m:p/c ");
	assert_int_equal(unlinkat(top, "p/c", 0), 0);
	assert_told(s, "c:p/c ");
}

static void test_a_file_is_not_told_while_it_is_written(void **state)
{
	struct seen *s = *state;
	make_folder("p");
	add(s, "p");
	CLEANUP(mem_close) int fd = openat(top, "p/a", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_told(s, "m:p/a ");
	for (int i = 0; i < 10; i++)
		assert_int_equal(write(fd, "text", 4), 4);
	assert_told(s, "");
	mem_close(&fd);
	assert_told(s, "c:p/a ");
}

static void test_names_that_begin_with_a_dot_are_not_told(void **state)
{
	struct seen *s = *state;
	make_folder("p");
	add(s, "p");
	make_file("p/.hidden");
	assert_told(s, "");
	move("p/.hidden", "p/shown");
	assert_told(s, "c:p/shown ");
}

static void test_the_descriptor_becomes_readable(void **state)
{
	struct seen *s = *state;
	make_folder("p");
	add(s, "p");
	struct pollfd fd = {.fd = folder_watch_fd(s->watch), .events = POLLIN};
	assert_int_equal(poll(&fd, 1, 0), 0);
	make_file("p/a");
	assert_int_equal(poll(&fd, 1, PATIENCE_MS), 1);
}

static void test_a_folder_that_is_gone_is_told_and_forgotten(void **state)
{
	struct seen *s = *state;
	make_folder("p");
	make_folder("p/q");
	make_folder("p/q/r");
	add(s, "p");
	add(s, "p/q");
	add(s, "p/q/r");
	assert_int_equal(watched(s), 3);
	assert_true(folder_watch_has(s->watch, "p/q/r"));
	move("p/q", "elsewhere");
	assert_told(s, "f:p/q ");
	assert_int_equal(watched(s), 1);
	assert_true(folder_watch_has(s->watch, "p"));
	assert_false(folder_watch_has(s->watch, "p/q/r"));
	make_file("elsewhere/a");
	assert_told(s, "");
	move("elsewhere", "p/back");
	assert_told(s, "f:p/back ");
	add(s, "p/back");
	make_file("p/back/b");
	assert_told(s, "m:p/back/b c:p/back/b ");
}

static void test_a_folder_that_is_removed_is_told_by_itself_and_by_its_parent(void **state)
{
	struct seen *s = *state;
	make_folder("p");
	make_folder("p/q");
	add(s, "p");
	add(s, "p/q");
	assert_int_equal(unlinkat(top, "p/q", AT_REMOVEDIR), 0);
	assert_told(s, "l:p/q/ f:p/q ");
	make_folder("p/q");
	assert_told(s, "f:p/q ");
	assert_int_equal(watched(s), 1);
}

static void test_a_folder_at_the_top_tells_when_it_is_moved(void **state)
{
	struct seen *s = *state;
	make_folder("p");
	add(s, "p");
	move("p", "other");
	assert_told(s, "l:p/ ");
	make_folder("p");
	add(s, "p");
	make_file("other/a");
	assert_told(s, ""); // what is under the path now is watched, and no longer what was
	make_file("p/b");
	assert_told(s, "m:p/b c:p/b ");
}

static void test_one_folder_under_two_paths_tells_both(void **state)
{
	struct seen *s = *state;
	make_folder("p");
	make_folder("p/q");
	add(s, "p");
	add(s, "p/q");
	assert_int_equal(add_as(s, "p/q", "p/link"), FOLDER_IS_WATCHED);
	assert_int_equal(symlinkat("q", top, "p/link"), 0);
	assert_told(s, "m:p/link ");
	make_file("p/q/a");
	while (folder_watch_read(s->watch, note, s))
		;
	assert_non_null(strstr(s->text.data, "c:p/q/a "));
	assert_non_null(strstr(s->text.data, "c:p/link/a "));
	buf_clear(&s->text);
	assert_int_equal(unlinkat(top, "p/link", 0), 0);
	assert_told(s, "f:p/link ");
	make_file("p/q/b");
	assert_told(s, "m:p/q/b c:p/q/b ");
}

// The node of a link that leads up is below the node that has its number.
static void test_a_link_to_a_folder_above_it_leaves(void **state)
{
	struct seen *s = *state;
	make_folder("p");
	make_folder("p/q");
	add(s, "p");
	add(s, "p/q");
	assert_int_equal(add_as(s, "p", "p/q/q"), FOLDER_IS_WATCHED);
	assert_int_equal(add_as(s, "p/q", "p/q/q/q"), FOLDER_IS_WATCHED);
	move("p/q", "away");
	while (folder_watch_read(s->watch, note, s))
		;
	assert_int_equal(watched(s), 1);
}

static void test_what_a_round_does_not_visit_is_forgotten(void **state)
{
	struct seen *s = *state;
	make_folder("p");
	make_folder("p/q");
	make_folder("p/r");
	folder_watch_begin_round(s->watch);
	add(s, "p");
	add(s, "p/q");
	add(s, "p/r");
	folder_watch_end_round(s->watch);
	assert_int_equal(watched(s), 3);
	folder_watch_begin_round(s->watch);
	add(s, "p/r"); // and with it p
	folder_watch_end_round(s->watch);
	assert_int_equal(watched(s), 2);
	make_file("p/q/a");
	assert_told(s, "");
	make_file("p/r/a");
	assert_told(s, "m:p/r/a c:p/r/a ");
}

// Exceeds LIMIT_WATCHED_FOLDERS.
static void test_more_folders_than_allowed_are_refused_and_counted(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct folder_watch_counts counts;
	struct folder_watch *w = folder_watch_new(2, &e);
	assert_non_null(w);
	folder_watch_begin_round(w);
	assert_int_equal(folder_watch_add(w, "a", top), FOLDER_IS_WATCHED);
	assert_int_equal(folder_watch_add(w, "b", top), FOLDER_IS_WATCHED);
	assert_int_equal(folder_watch_add(w, "c", top), FOLDER_WATCH_IS_FULL);
	assert_int_equal(folder_watch_add(w, "b/d", top), FOLDER_WATCH_IS_FULL);
	assert_int_equal(folder_watch_add(w, "a", top), FOLDER_IS_WATCHED);
	folder_watch_end_round(w);
	folder_watch_count(w, &counts);
	assert_int_equal(counts.watched, 2);
	assert_int_equal(counts.refused, 2);
	folder_watch_begin_round(w);
	assert_int_equal(folder_watch_add(w, "c", top), FOLDER_WATCH_IS_FULL); // a and b are known until its end
	folder_watch_end_round(w);
	assert_int_equal(folder_watch_add(w, "c", top), FOLDER_IS_WATCHED);
	folder_watch_free(w);
}

static void test_what_is_no_folder_cannot_be_watched(void **state)
{
	struct seen *s = *state;
	make_file("a");
	CLEANUP(mem_close) int fd = openat(top, "a", O_RDONLY | O_CLOEXEC);
	assert_int_equal(folder_watch_add(s->watch, "a", fd), FOLDER_WATCH_FAILED);
	assert_int_equal(watched(s), 0);
}

static void test_events_that_the_kernel_drops_are_told_as_an_overflow(void **state)
{
	struct seen *s = *state;
	struct folder_watch_counts counts;
	make_folder("p");
	add(s, "p");
	make_file("a");
	for (int i = 0; i < MORE_THAN_A_QUEUE;
		i++) // each name differs from the one before, or the kernel would join them
		move(i % 2 ? "p/a" : "a", i % 2 ? "a" : "p/a");
	for (int i = 0; i < MORE_THAN_A_QUEUE && !s->overflows; i++)
		folder_watch_read(s->watch, note, s);
	assert_int_equal(s->overflows, 1);
	folder_watch_count(s->watch, &counts);
	assert_int_equal(counts.overflows, 1);
	while (folder_watch_read(s->watch, note, s))
		;
	buf_clear(&s->text);
	make_file("p/b");
	assert_told(s, "m:p/b c:p/b ");
}

static void test_network_file_systems_tell_nothing(void **state UNUSED)
{
	assert_string_equal(silent_fs_of_type(AFS_SUPER_MAGIC), "AFS");
	assert_string_equal(silent_fs_of_type(AFS_FS_MAGIC), "AFS");
	assert_string_equal(silent_fs_of_type(NFS_SUPER_MAGIC), "NFS");
	assert_string_equal(silent_fs_of_type(V9FS_MAGIC), "9p");
	assert_string_equal(silent_fs_of_type(0xffffffff00000000 | SMB2_SUPER_MAGIC), "SMB"); // of a signed f_type
}

static void test_local_file_systems_tell(void **state UNUSED)
{
	static const unsigned long types[] = {
		EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC, TMPFS_MAGIC, OVERLAYFS_SUPER_MAGIC};
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		assert_null(silent_fs_of_type(types[i]));
}

static void test_an_open_file_is_asked_for_its_file_system(void **state UNUSED)
{
	CLEANUP(mem_close) int fd = open("/proc", O_RDONLY | O_CLOEXEC);
	assert_null(silent_fs_name(fd));
	assert_null(silent_fs_name(-1));
}

int main(void)
{
#define WATCH_TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
	const struct CMUnitTest tests[] = {
		WATCH_TEST(test_files_that_come_change_and_leave_are_told),
		WATCH_TEST(test_a_file_is_not_told_while_it_is_written),
		WATCH_TEST(test_names_that_begin_with_a_dot_are_not_told),
		WATCH_TEST(test_the_descriptor_becomes_readable),
		WATCH_TEST(test_a_folder_that_is_gone_is_told_and_forgotten),
		WATCH_TEST(test_a_folder_that_is_removed_is_told_by_itself_and_by_its_parent),
		WATCH_TEST(test_a_folder_at_the_top_tells_when_it_is_moved),
		WATCH_TEST(test_one_folder_under_two_paths_tells_both),
		WATCH_TEST(test_a_link_to_a_folder_above_it_leaves),
		WATCH_TEST(test_what_a_round_does_not_visit_is_forgotten),
		WATCH_TEST(test_more_folders_than_allowed_are_refused_and_counted),
		WATCH_TEST(test_what_is_no_folder_cannot_be_watched),
		WATCH_TEST(test_events_that_the_kernel_drops_are_told_as_an_overflow),
		cmocka_unit_test(test_network_file_systems_tell_nothing),
		cmocka_unit_test(test_local_file_systems_tell),
		cmocka_unit_test(test_an_open_file_is_asked_for_its_file_system),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
