// SPDX-License-Identifier: Apache-2.0
// Of two writers of a name one succeeds, whatever their bytes, and whatever NFS says of the link.
#include "lib/place/record.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(one_writer_has_the_name, end_test),
		cmocka_unit_test_teardown(name_that_is_no_file_is_taken, end_test),
		cmocka_unit_test_teardown(link_whose_answer_is_lost_is_made, end_test),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
