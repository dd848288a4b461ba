// SPDX-License-Identifier: Apache-2.0
#include "builder/step/build-facts.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define PATH "/tmp/wheelcache-report-XXXXXX"
enum { MOST = 1 << 20 };

static char *make_path(void)
{
	char folder[] = PATH;
	assert_non_null(mkdtemp(folder));
	return xasprintf("%s/pipe", folder);
}

static void remove_folder(char *path)
{
	assert_int_equal(access(path, F_OK), -1); // a program that opened it now would wait forever
	*strrchr(path, '/') = '\0';
	assert_int_equal(rmdir(path), 0);
}

static void write_report(const char *path, char c, size_t len)
{
	CLEANUP(mem_free) char *text = xmalloc(len);
	memset(text, c, len);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

// More than the kernel keeps, by several programs.
static void test_all_reports_are_kept(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct report_pipe *p = NULL;
	CLEANUP(mem_free) char *path = make_path();
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, MOST);
	assert_int_equal(report_pipe_open(path, MOST, &p, &e), 0);
	for (char c = 'a'; c <= 'd'; c++)
		write_report(path, c, 200000);
	report_pipe_close(p, &out);
	assert_int_equal(out.len, 4 * 200000);
	assert_int_equal(out.data[0], 'a');
	assert_int_equal(out.data[out.len - 1], 'd');
	remove_folder(path);
}

// Exceeds LIMIT_BUILD_REPORT.
static void test_size_is_limited(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct report_pipe *p = NULL;
	CLEANUP(mem_free) char *path = make_path();
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, MOST);
	assert_int_equal(report_pipe_open(path, 100000, &p, &e), 0);
	write_report(path, 'a', MOST); // does not wait either
	report_pipe_close(p, &out);
	assert_true(out.len <= 100000);
	remove_folder(path);
}

static void test_nothing_is_written(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct report_pipe *p = NULL;
	CLEANUP(mem_free) char *path = make_path();
	assert_int_equal(report_pipe_open(path, MOST, &p, &e), 0);
	struct report_pipe *second = NULL;
	assert_int_equal(report_pipe_open(path, MOST, &second, &e), -1); // taken, and it stays
	assert_int_equal(e.kind, ERR_IO);
	assert_int_equal(access(path, W_OK), 0);
	report_pipe_close(NULL, NULL);
	report_pipe_close(p, NULL);
	remove_folder(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_reports_are_kept),
		cmocka_unit_test(test_size_is_limited),
		cmocka_unit_test(test_nothing_is_written),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
