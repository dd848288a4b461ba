// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/mem.h"
#include "server/http/listen.h"

enum { PASSED = 3 };

static void set_variables(const char *process, const char *count)
{
	char own[16];
	snprintf(own, sizeof(own), "%d", (int)getpid());
	setenv("LISTEN_PID", process ? process : own, 1);
	setenv("LISTEN_FDS", count, 1);
	setenv("LISTEN_FDNAMES", "wheelcache.socket", 1);
}

// Makes a socket and has it as the descriptor that is passed.
static char *open_passed(bool listens)
{
	struct err e = ERR_INIT;
	char *url = NULL;
	CLEANUP(mem_close) int fd = listen_open("127.0.0.1:0", &url, &e);
	assert_true(fd >= 0);
	if (listens)
		assert_int_equal(listen_begin(fd, url, &e), 0);
	assert_int_equal(fd == PASSED ? fd : dup2(fd, PASSED), PASSED);
	if (fd == PASSED)
		mem_steal_fd(&fd);
	return url;
}

static void test_passed_socket_is_taken(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(mem_free) char *expected = open_passed(true);
	CLEANUP(mem_free) char *url = NULL;
	CLEANUP(mem_close) int fd = -1;
	fcntl(PASSED, F_SETFL, fcntl(PASSED, F_GETFL) & ~O_NONBLOCK);
	set_variables(NULL, "1");
	assert_int_equal(passed_socket_take(&fd, &url, &e), 0);
	assert_int_equal(fd, PASSED);
	assert_string_equal(url, expected);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
	assert_null(getenv("LISTEN_PID"));
	assert_null(getenv("LISTEN_FDS"));
	assert_null(getenv("LISTEN_FDNAMES"));
}

static void test_variables_of_another_process_are_removed(void **state UNUSED)
{
	static const char *const table[][2] = {
		{"1", "1"}, {"", "1"}, {"x", "1"}, {NULL, ""}, {NULL, "0"}, {NULL, "-1"}};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct err e = ERR_INIT;
		char *url = NULL;
		int fd = 0;
		set_variables(table[i][0], table[i][1]);
		assert_int_equal(passed_socket_take(&fd, &url, &e), 0);
		assert_int_equal(fd, -1);
		assert_null(url);
		assert_null(getenv("LISTEN_FDS"));
	}
}

static void test_what_does_not_listen_is_refused(void **state UNUSED)
{
	for (int listens = 0; listens < 2; listens++) {
		struct err e = ERR_INIT;
		free(open_passed(listens));
		char *url = NULL;
		int fd = 0;
		set_variables(NULL, listens ? "2" : "1");
		assert_int_equal(passed_socket_take(&fd, &url, &e), -1);
		assert_int_equal(e.kind, ERR_USAGE);
		assert_int_equal(fd, -1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_passed_socket_is_taken),
		cmocka_unit_test(test_variables_of_another_process_are_removed),
		cmocka_unit_test(test_what_does_not_listen_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
