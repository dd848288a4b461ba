// SPDX-License-Identifier: Apache-2.0
// Of two writers of a name one succeeds, whatever their bytes, and whatever NFS says of the link. Of several that
// change a file at once each counts.
#include "lib/place/record.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/base/decimal.h"

static char folder[] = "/tmp/wheelcache-record-XXXXXX";
static int top = -1;
static struct place_folder *open_folder;
static bool loses_answers; // of links that were made

// The program's link() is this one, not that of libc.
int linkat(int from_dir, const char *from, int to_dir, const char *to, int flags)
{
	if (syscall(SYS_linkat, from_dir, from, to_dir, to, flags) < 0)
		return -1;
	if (!loses_answers)
		return 0;
	errno = EEXIST;
	return -1;
}

static int make_folder(void **state UNUSED)
{
	if (!mkdtemp(folder))
		return -1;
	top = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct err e = ERR_INIT;
	open_folder = record_folder(folder, "", false, &e);
	return open_folder ? 0 : -1;
}

static int remove_folder(void **state UNUSED)
{
	unlinkat(top, ".wheelcache-lock", 0);
	close(top);
	place_folder_close(&open_folder);
	return rmdir(folder); // no temporary file is left
}

static int end_test(void **state UNUSED)
{
	loses_answers = false;
	return unlinkat(top, "one", 0);
}

static void assert_created(const char *text, enum err_kind kind)
{
	struct err e = ERR_INIT;
	assert_int_equal(record_create(open_folder, "one", str_from(text), &e), kind == ERR_NONE ? 0 : -1);
	assert_int_equal(e.kind, kind);
}

static void assert_has(const char *text)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf found;
	buf_init(&found, 100);
	assert_int_equal(record_read(open_folder, "one", 100, &found, &e), 0);
	assert_string_equal(found.data, text);
}

// Two promotions by one token in one second are the same bytes.
static void one_writer_has_the_name(void **state UNUSED)
{
	assert_created("a", ERR_NONE);
	assert_created("b", ERR_CONFLICT);
	assert_created("a", ERR_CONFLICT);
	assert_has("a");
}

static void name_that_is_no_file_is_taken(void **state UNUSED)
{
	assert_int_equal(symlinkat("nowhere", top, "one"), 0);
	assert_created("a", ERR_CONFLICT);
}

static void link_whose_answer_is_lost_is_made(void **state UNUSED)
{
	loses_answers = true;
	assert_created("a", ERR_NONE);
	assert_created("a", ERR_CONFLICT);
	assert_has("a");
}

// --- a file that several change ---

enum { MOST = 1000, PROCESSES = 4, ROUNDS = 25 };

static char *path_of_one(void)
{
	return xasprintf("%s/one", folder);
}

static int raise_number(void *ctx UNUSED, struct str before, struct place_write *now, struct err *e)
{
	uint64_t number = 0;
	decimal_cut(&before, MOST, &number);
	CLEANUP(mem_free) char *next = xasprintf("%d", (int)number + 1);
	return place_write_add(now, str_from(next), e) < 0 ? -1 : 1;
}

static void raise_often(void)
{
	CLEANUP(mem_free) char *path = path_of_one();
	for (int i = 0; i < ROUNDS; i++) {
		struct err e = ERR_INIT;
		if (record_change(path, false, MOST, raise_number, NULL, &e) < 0)
			_exit(1);
	}
	struct err e = ERR_INIT;
	_exit(place_write_begin(open_folder, "one", &e) ? 0 : 1); // as one that is killed
}

static int count_unfinished(void *ctx, const char *name UNUSED, enum place_kind kind, struct err *e UNUSED)
{
	*(int *)ctx += kind == PLACE_LEFTOVER;
	return 0;
}

static int unfinished(void)
{
	int count = 0;
	struct err e = ERR_INIT;
	assert_int_equal(place_list(open_folder, count_unfinished, &count, &e), 0);
	return count;
}

static void changes_of_several_processes_all_count(void **state UNUSED)
{
	pid_t child[PROCESSES];
	for (int i = 0; i < PROCESSES; i++) {
		child[i] = fork();
		assert_true(child[i] >= 0);
		if (!child[i])
			raise_often();
	}
	for (int i = 0; i < PROCESSES; i++) {
		int status;
		assert_int_equal(waitpid(child[i], &status, 0), child[i]);
		assert_int_equal(status, 0);
	}
	CLEANUP(mem_free) char *sum = xasprintf("%d", PROCESSES * ROUNDS);
	CLEANUP(mem_free) char *path = path_of_one();
	struct err e = ERR_INIT;
	assert_has(sum);
	assert_in_range(unfinished(), 1, PROCESSES);
	assert_int_equal(record_change(path, false, MOST, raise_number, NULL, &e), 0);
	assert_int_equal(unfinished(), 0);
}

// Others change the file so many times while this one has read it.
static int be_beaten(void *ctx, struct str before, struct place_write *now, struct err *e)
{
	int *times = ctx;
	CLEANUP(mem_free) char *path = path_of_one();
	if (*times && ((*times)--, record_change(path, false, MOST, raise_number, NULL, e) < 0))
		return -1;
	return place_write_add(now, before, e) < 0 || place_write_add(now, STR("!"), e) < 0 ? -1 : 1;
}

static void who_is_beaten_begins_again(void **state UNUSED)
{
	int times = 3;
	struct err e = ERR_INIT;
	CLEANUP(mem_free) char *path = path_of_one();
	assert_int_equal(record_change(path, false, MOST, be_beaten, &times, &e), 0);
	assert_has("3!");
	times = 1 << 20;
	assert_int_equal(record_change(path, false, MOST, be_beaten, &times, &e), -1);
	assert_int_equal(e.kind, ERR_BUSY);
}

static int leave_it(void *ctx UNUSED, struct str before UNUSED, struct place_write *now UNUSED, struct err *e UNUSED)
{
	return 0;
}

static int write_much(void *ctx UNUSED, struct str before UNUSED, struct place_write *now, struct err *e)
{
	char much[MOST + 1] = "";
	return place_write_add(now, (struct str){much, sizeof(much)}, e) < 0 ? -1 : 1;
}

static void what_is_left_or_too_large_stays(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct place_version first, now;
	CLEANUP(mem_free) char *path = path_of_one();
	assert_int_equal(record_version(path, &first, &e), 0);
	assert_int_equal(first.id, 0);
	assert_int_equal(record_change(path, true, MOST, leave_it, NULL, &e), 0);
	assert_int_equal(record_version(path, &now, &e), 0);
	assert_int_equal(now.id, 0);
	assert_int_equal(record_change(path, true, MOST, raise_number, NULL, &e), 0);
	assert_int_equal(record_version(path, &first, &e), 0);
	assert_int_equal(record_change(path, true, MOST, leave_it, NULL, &e), 0);
	assert_int_equal(record_change(path, true, MOST, write_much, NULL, &e), -1);
	assert_int_equal(e.kind, ERR_LIMIT);
	assert_int_equal(record_version(path, &now, &e), 0);
	assert_int_equal(place_version_match(&first, &now), PLACE_SAME);
	assert_has("1");
	assert_int_equal(record_change(path, true, 0, raise_number, NULL, &e), -1);
	assert_int_equal(e.kind, ERR_LIMIT);
}

// Any account that may list the folder can do that.
static void a_stranger_with_the_lock_of_the_folder_stops_no_change(void **state UNUSED)
{
	struct stat lock;
	struct err e = ERR_INIT;
	CLEANUP(mem_free) char *path = path_of_one();
	assert_int_equal(fchmod(top, 0755), 0);
	CLEANUP(mem_close) int stranger = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(flock(stranger, LOCK_EX), 0);
	assert_int_equal(record_change(path, false, MOST, raise_number, NULL, &e), 0);
	assert_has("1");
	assert_int_equal(fstatat(top, ".wheelcache-lock", &lock, AT_SYMLINK_NOFOLLOW), 0);
	assert_int_equal(lock.st_mode, S_IFREG | 0600);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		// The first, so that each process has names of its own for unfinished files.
		cmocka_unit_test_teardown(changes_of_several_processes_all_count, end_test),
		cmocka_unit_test_teardown(one_writer_has_the_name, end_test),
		cmocka_unit_test_teardown(name_that_is_no_file_is_taken, end_test),
		cmocka_unit_test_teardown(link_whose_answer_is_lost_is_made, end_test),
		cmocka_unit_test_teardown(who_is_beaten_begins_again, end_test),
		cmocka_unit_test_teardown(what_is_left_or_too_large_stays, end_test),
		cmocka_unit_test_teardown(a_stranger_with_the_lock_of_the_folder_stops_no_change, end_test),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
