// SPDX-License-Identifier: Apache-2.0
// Request bodies over a socket: which the server accepts, which it refuses and how.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/limits.h"
#include "tests/unit/support/sink.h"

static void test_sizes(void **state)
{
	static const size_t sizes[] = {0, 1, 4095, 8192, 100000, LIMIT_BODY_BUFFER - 2, LIMIT_BODY_BUFFER - 1,
		LIMIT_BODY_BUFFER, LIMIT_BODY_BUFFER + 1, 3 * MEGABYTE + 7};
	CLEANUP(mem_close) int fd = dial(*state);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) { // all on one connection
		begin_sized(fd, "/count/", sizes[i], "");
		assert_true(try_send(fd, some_bytes(sizes[i])));
		assert_taken(fd, sizes[i]);
	}
}

static void send_chunks(int fd, struct str bytes, size_t most)
{
	for (size_t len; bytes.len; bytes = str_slice(bytes, len, bytes.len)) {
		len = bytes.len < most ? bytes.len : most;
		char size[32];
		snprintf(size, sizeof(size), "%zx\r\n", len);
		send_text(fd, size);
		assert_true(try_send(fd, str_slice(bytes, 0, len)));
		send_text(fd, "\r\n");
	}
	send_text(fd, "0\r\n\r\n");
}

// Chunks that another parser might take for a request.
static void test_chunks(void **state)
{
	static const size_t most[] = {1, 7, 4000, 70000, MEGABYTE};
	for (size_t i = 0; i < ARRAY_SIZE(most); i++) {
		CLEANUP(mem_close) int fd = dial(*state);
		size_t len = most[i] * 300 < 2 * MEGABYTE ? most[i] * 300 : 2 * MEGABYTE;
		begin_post(fd, "/count/", "Transfer-Encoding: chunked\r\n");
		send_chunks(fd, some_bytes(len), most[i]);
		try_send(fd, STR("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
		CLEANUP(mem_free) char *want = answer_to(len);
		const char *answer = read_until(fd, NULL);
		assert_holds(answer, want);
		assert_holds(answer, "Connection: close");
		assert_null(strstr(answer, "smuggled"));
	}
}

// A client that sends everything before it reads gets the answer: the connection must not be reset.
static void test_refused_before_the_body(void **state)
{
	struct fixture *f = *state;
	static const size_t sizes[] = {1, 100000, 20 * MEGABYTE};
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		CLEANUP(mem_close) int fd = dial(f);
		begin_sized(fd, "/refuse/", sizes[i], "Authorization: me\r\n");
		assert_true(try_send(fd, some_bytes(sizes[i])));
		try_send(fd, STR("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
		const char *answer = read_until(fd, NULL);
		assert_holds(answer, "HTTP/1.1 403 ");
		assert_holds(answer, "not for me\n");
		assert_null(strstr(answer, "smuggled"));
	}
	assert_int_equal(atomic_load(&f->begun), 0);
}

static void test_expect(void **state)
{
	CLEANUP(mem_close) int fd = dial(*state);
	begin_sized(fd, "/count/", 5000, "Expect: 100-Continue\r\n");
	assert_holds(read_until(fd, "\r\n\r\n"), "HTTP/1.1 100 ");
	assert_true(try_send(fd, some_bytes(5000)));
	assert_taken(fd, 5000);
	begin_sized(fd, "/refuse/", 5000, "Expect: 100-continue\r\n");
	const char *answer = read_until(fd, NULL);
	assert_int_equal(strncmp(answer, "HTTP/1.1 403 ", 13), 0);
}

static void test_answer_in_the_middle(void **state)
{
	struct fixture *f = *state;
	CLEANUP(mem_close) int fd = dial(f);
	for (unsigned i = 1; i <= 3; i++) { // the server reads the whole body and keeps the connection
		begin_sized(fd, "/early/", 5 * MEGABYTE, "");
		assert_true(try_send(fd, some_bytes(5 * MEGABYTE)));
		assert_holds(read_until(fd, "enough\n"), "HTTP/1.1 422 ");
		assert_int_equal(atomic_load(&f->freed), i);
	}
	assert_int_equal(atomic_load(&f->ended), 0);
}

static void test_client_goes_away(void **state)
{
	struct fixture *f = *state;
	static const size_t sent[] = {0, 1, 5000, LIMIT_BODY_BUFFER - 1, 2 * MEGABYTE};
	for (unsigned i = 0; i < 2 * ARRAY_SIZE(sent); i++) {
		int fd = dial(f);
		struct linger reset = {.l_onoff = 1};
		if (i % 2)
			setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
		begin_sized(fd, "/count/", 3 * MEGABYTE, "");
		assert_true(try_send(fd, some_bytes(sent[i / 2])));
		assert_true(comes_true(&f->begun, i + 1));
		close(fd);
		assert_true(comes_true(&f->freed, i + 1));
	}
	assert_int_equal(atomic_load(&f->ended), 0);
}

// A handler that hangs delays only its worker pool.
static void test_hanging_pool(void **state)
{
	struct fixture *f = *state;
	int hanging[8];
	for (size_t i = 0; i < ARRAY_SIZE(hanging); i++) {
		hanging[i] = dial(f);
		begin_sized(hanging[i], "/late/", 0, "");
	}
	while (!atomic_load(&f->at_gate))
		nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
	CLEANUP(mem_close) int fd = dial(f);
	begin_sized(fd, "/count/", MEGABYTE, "");
	assert_true(try_send(fd, some_bytes(MEGABYTE)));
	assert_taken(fd, MEGABYTE);
	send_text(fd, "GET /work HTTP/1.1\r\nHost: x\r\n\r\n");
	assert_holds(read_until(fd, "worked\n"), "HTTP/1.1 200 ");
	open_gate(f);
	for (size_t i = 0; i < ARRAY_SIZE(hanging); i++) {
		assert_taken(hanging[i], 0);
		close(hanging[i]);
	}
}

// Bodies whose end parsers may see at different places. No handler gets a byte, and the bytes that follow are no
// request.
static void test_odd_bodies(void **state)
{
	static const char *const headers[][2] = {
		{"", "HTTP/1.1 411 "},
		{"Content-Length: 5\r\nContent-Length: 5\r\n", "HTTP/1.1 400 "},
		{"Content-Length: 0\r\nContent-Length: 5\r\n", "HTTP/1.1 400 "},
		{"Content-Length: 5, 5\r\n", "HTTP/1.1 400 "},
		{"Content-Length: +5\r\n", "HTTP/1.1 400 "},
		{"Content-Length: -5\r\n", "HTTP/1.1 400 "},
		{"Content-Length: 0x5\r\n", "HTTP/1.1 400 "},
		{"Content-Length:\r\n", "HTTP/1.1 400 "},
		{"Content-Length: 99999999999999999999999\r\n", "HTTP/1.1 413 "},
		{"Content-Length : 5\r\n", "HTTP/1.1 400 "},
		{"Content-Length:\r\n 5\r\n", "HTTP/1.1 400 "},
		{"X: y\r\n Content-Length: 5\r\n", "HTTP/1.1 400 "},
		{"Content-Length: 5\r\nX: y\r\n Content-Length: 0\r\n", "HTTP/1.1 400 "},
		{"Content-Length: 5\r\n 0\r\n", "HTTP/1.1 400 "},
		{"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "HTTP/1.1 400 "},
		{"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "HTTP/1.1 400 "},
		{"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "HTTP/1.1 400 "},
		{"Transfer-Encoding: gzip, chunked\r\n", "HTTP/1.1 400 "},
		{"Transfer-Encoding: identity\r\n", "HTTP/1.1 400 "},
		{"Transfer-Encoding: xchunked\r\n", "HTTP/1.1 400 "},
		{"Transfer-Encoding:\r\n chunked\r\n", "HTTP/1.1 400 "},
		{"Content-Length: 5\r\nExpect: wonder\r\n", "HTTP/1.1 417 "},
		{"Content-Length: 5\r\nExpect: 100-continue\r\nExpect: 100-continue\r\n", "HTTP/1.1 417 "},
		{"Content-Length: 5\r\nHost: y\r\n", "HTTP/1.1 400 "},
	};
	struct fixture *f = *state;
	for (size_t i = 0; i < ARRAY_SIZE(headers); i++) {
		CLEANUP(mem_close) int fd = dial(f);
		begin_post(fd, "/count/", headers[i][0]);
		try_send(fd, STR("0\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n"));
		const char *answer = read_until(fd, NULL);
		if (strncmp(answer, headers[i][1], 13) != 0 || strstr(answer, "smuggled") || strstr(answer, "took"))
			fail_msg("%s: %s", headers[i][0], answer);
	}
	assert_int_equal(atomic_load(&f->ended), 0);
}

// A good header with bad chunks.
static void test_odd_chunks(void **state)
{
	static const char *const chunks[] = {"x\r\n", "-1\r\n", "5;\r\nabcdef\r\n", "ffffffffffffffffff\r\n",
		"5 \r\nabcde\r\n", "\r\n", "0x5\r\nabcde\r\n", "5\r\nabcde0\r\n\r\n", "5\r\nabcdeX\r\n"};
	for (size_t i = 0; i < ARRAY_SIZE(chunks); i++) {
		CLEANUP(mem_close) int fd = dial(*state);
		begin_post(fd, "/count/", "Transfer-Encoding: chunked\r\n");
		try_send(fd, str_from(chunks[i]));
		try_send(fd, STR("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
		const char *answer = read_until(fd, NULL);
		if ((*answer && strncmp(answer, "HTTP/1.1 4", 10) != 0) || strstr(answer, "smuggled"))
			fail_msg("%s: %s", chunks[i], answer);
	}
}

static void test_other_methods(void **state)
{
	static const char *const methods[] = {"PUT", "DELETE", "BREW"};
	for (size_t i = 0; i < ARRAY_SIZE(methods); i++) {
		CLEANUP(mem_close) int fd = dial(*state);
		CLEANUP(mem_free)
		char *request = xasprintf("%s /count/ HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"
					  "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
			methods[i]);
		send_text(fd, request);
		const char *answer = read_until(fd, NULL);
		assert_null(strstr(answer, "smuggled"));
		assert_holds(answer, "HTTP/1.1 403 ");
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, sink_setup, sink_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_sizes),
		TEST(test_chunks),
		TEST(test_refused_before_the_body),
		TEST(test_expect),
		TEST(test_answer_in_the_middle),
		TEST(test_client_goes_away),
		TEST(test_hanging_pool),
		TEST(test_odd_bodies),
		TEST(test_odd_chunks),
		TEST(test_other_methods),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
