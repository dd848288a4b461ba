// SPDX-License-Identifier: Apache-2.0
#include "builder/run/run-log.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { LIMIT = 8192, LINE = 10, MANY = 100000 };

static char path[32];

static struct run_log *open_log(uint64_t limit)
{
	struct err e = ERR_INIT;
	struct run_log *l = NULL;
	assert_int_equal(run_log_open(path, limit, &l, &e), 0);
	return l;
}

static char *text_of(const struct run_log *l)
{
	struct err e = ERR_INIT;
	struct buf b;
	buf_init(&b, 4 * LIMIT);
	assert_int_equal(run_log_text(l, &b, &e), 0);
	return buf_steal(&b);
}

static uint64_t size_of_file(void)
{
	struct stat st;
	assert_int_equal(stat(path, &st), 0);
	return (uint64_t)st.st_size;
}

static void test_what_fits_stays(void **state UNUSED)
{
	CLEANUP(run_log_cleanup) struct run_log *l = open_log(LIMIT);
	CLEANUP(mem_free) char *empty = text_of(l);
	assert_string_equal(empty, "");
	run_log_line(l, "--- %s: %d", "build", 1);
	run_log_add(l, STR("hello"));
	CLEANUP(mem_free) char *text = text_of(l);
	assert_string_equal(text, "--- build: 1\nhello");
}

// Every line that is there is whole, and what is left out adds up.
static void assert_sound(const char *text, unsigned last)
{
	unsigned first_part = 0;
	unsigned long dropped;
	char line[LINE + 1];
	for (;; first_part++, text += LINE) {
		snprintf(line, sizeof(line), "%09u\n", first_part);
		if (strncmp(text, line, LINE) != 0)
			break;
	}
	assert_int_equal(sscanf(text, "\n--- %lu bytes are left out here ---", &dropped), 1);
	assert_int_equal(dropped % LINE, 0);
	text = strchr(text + 1, '\n') + 1;
	for (unsigned i = first_part + (unsigned)(dropped / LINE); i <= last; i++, text += LINE) {
		snprintf(line, sizeof(line), "%09u\n", i);
		assert_memory_equal(text, line, LINE);
	}
	assert_string_equal(text, "");
}

static void test_beginning_and_end_are_kept(void **state UNUSED)
{
	CLEANUP(run_log_cleanup) struct run_log *l = open_log(LIMIT);
	for (unsigned i = 0; i < MANY; i++) {
		run_log_line(l, "%09u", i);
		if (i % 100 == 0 || i + 1 == MANY)
			assert_true(size_of_file() <= LIMIT);
		if (i == MANY / 2) {
			CLEANUP(mem_free) char *meanwhile = text_of(l);
			assert_sound(meanwhile, i);
		}
	}
	CLEANUP(mem_free) char *text = text_of(l);
	assert_sound(text, MANY - 1);
	assert_true(strlen(text) > LIMIT / 2 + LIMIT / 8);
}

static void test_one_long_line(void **state UNUSED)
{
	CLEANUP(run_log_cleanup) struct run_log *l = open_log(1); // too small a limit becomes 4096
	CLEANUP(mem_free) char *long_line = xmalloc(MANY);
	memset(long_line, 'x', MANY);
	run_log_add(l, STR("begin "));
	run_log_add(l, (struct str){long_line, MANY});
	run_log_add(l, STR(" end"));
	CLEANUP(mem_free) char *text = text_of(l);
	assert_true(strlen(text) <= 4096 && strlen(text) > 2048);
	assert_memory_equal(text, "begin xxx", 9);
	assert_non_null(strstr(text, "xx end"));
	assert_non_null(strstr(text, "bytes are left out here"));
}

static void test_full_disk(void **state UNUSED)
{
	const struct rlimit small = {100, RLIM_INFINITY};
	struct rlimit before;
	CLEANUP(run_log_cleanup) struct run_log *l = open_log(LIMIT);
	getrlimit(RLIMIT_FSIZE, &before);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	run_log_add(l, STR("begin\n"));
	for (int i = 0; i < 20; i++)
		run_log_add(l, STR("0123456789"));
	CLEANUP(mem_free) char *meanwhile = text_of(l);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_memory_equal(meanwhile, "begin\n", 6);
	assert_non_null(strstr(meanwhile, " bytes are lost here: the disk took no more ---\n"));
	run_log_add(l, STR("end"));
	CLEANUP(mem_free) char *text = text_of(l);
	assert_non_null(strstr(text, " bytes are lost here: the disk took no more ---\nend"));
}

static void test_no_link_is_followed(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct run_log *l = NULL;
	unlink(path);
	assert_int_equal(symlink("/dev/null", path), 0);
	assert_int_equal(run_log_open(path, LIMIT, &l, &e), -1);
	assert_int_equal(e.kind, ERR_IO);
}

static int make_path(void **state UNUSED)
{
	snprintf(path, sizeof(path), "/tmp/run-log-XXXXXX");
	int fd = mkstemp(path);
	return fd < 0 ? -1 : close(fd);
}

static int remove_path(void **state UNUSED)
{
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_fits_stays),
		cmocka_unit_test(test_beginning_and_end_are_kept),
		cmocka_unit_test(test_one_long_line),
		cmocka_unit_test(test_full_disk),
		cmocka_unit_test(test_no_link_is_followed),
	};
	return cmocka_run_group_tests(tests, make_path, remove_path);
}
