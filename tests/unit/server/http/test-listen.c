// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/http/listen.h"

static void test_bad_addresses(void **state UNUSED)
{
	static const char *const table[] = {"", "80", "127.0.0.1", "127.0.0.1:", ":80", "::1:80", "[::1]",
		"127.0.0.1:x", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:99999999999", "unix:"};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct err e = ERR_INIT;
		char *url = NULL;
		if (listen_open(table[i], &url, &e) >= 0 || e.kind != ERR_USAGE)
			fail_msg("%s: %s", table[i], e.msg);
	}
}

static void test_any_port(void **state UNUSED)
{
	static const char *const table[][2] = {{"127.0.0.1:0", "http://127.0.0.1:"}, {"[::1]:0", "http://[::1]:"}};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct err e = ERR_INIT;
		CLEANUP(mem_free) char *url = NULL;
		CLEANUP(mem_close) int fd = listen_open(table[i][0], &url, &e);
		if (fd < 0 && strstr(e.msg, strerror(EADDRNOTAVAIL)))
			continue; // a machine without IPv6
		assert_true(fd >= 0);
		assert_int_equal(strncmp(url, table[i][1], strlen(table[i][1])), 0);
		assert_true(strtol(url + strlen(table[i][1]), NULL, 10) > 0);
	}
}

static void test_port_in_use(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(mem_free) char *url = NULL, *continuation = NULL;
	CLEANUP(mem_close) int fd = listen_open("127.0.0.1:0", &url, &e);
	CLEANUP(mem_free) char *address = xstrndup(url + 7, strlen(url) - 8);
	assert_true(fd >= 0);
	assert_int_equal(listen_begin(fd, url, &e), 0);
	assert_int_equal(listen_open(address, &continuation, &e), -1);
	assert_int_equal(e.kind, ERR_NET);
	assert_non_null(strstr(e.msg, address));
}

static void test_unix_socket(void **state UNUSED)
{
	char folder[] = "/tmp/test-listen-XXXXXX";
	assert_non_null(mkdtemp(folder));
	CLEANUP(mem_free) char *address = xasprintf("unix:%s/socket", folder);
	CLEANUP(mem_free) char *first = NULL, *second = NULL, *third = NULL;
	struct err e = ERR_INIT;
	int fd = listen_open(address, &first, &e);
	assert_true(fd >= 0);
	assert_string_equal(first, address);
	assert_int_equal(listen_begin(fd, first, &e), 0);
	assert_int_equal(listen_open(address, &second, &e), -1); // a server answers there
	close(fd);
	fd = listen_open(address, &third, &e); // replaces a dead socket
	assert_true(fd >= 0);
	close(fd);
	unlink(address + 5);
	rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad_addresses),
		cmocka_unit_test(test_any_port),
		cmocka_unit_test(test_port_in_use),
		cmocka_unit_test(test_unix_socket),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
