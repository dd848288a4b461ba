// SPDX-License-Identifier: Apache-2.0
// Bodies of requests, over a socket: server/http with a receiver that counts and adds up what it is fed.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/buf.h"
#include "lib/base/clock.h"
#include "lib/base/limits.h"
#include "server/http.h"
#include "server/listen.h"

enum {
	TIMEOUT = 2,   // seconds, the server's
	PATIENCE = 30, // seconds, ours
	MEGABYTE = 1 << 20,
	ANSWER_MOST = 64 << 10,
	PARALLEL = 200,
};

// What receivers do is in the path: "/count/", "/refuse/", "/early/" (an answer at the first bytes), "/late/" (waits for
// the gate at its end).
struct sink {
	struct receiver base;
	struct fixture *f;
	char path[16];
	uint64_t bytes, sum;
};

struct fixture {
	struct http *http;
	struct sockaddr_in address;
	pthread_t loop; // who called receive last
	atomic_uint begun, ended, freed, fed_on_loop, at_gate;
	pthread_mutex_t lock;
	pthread_cond_t opened;
	bool is_open;
};

static uint64_t add_up(uint64_t sum, struct str bytes)
{
	for (size_t i = 0; i < bytes.len; i++)
		sum = sum * 31 + (unsigned char)bytes.ptr[i];
	return sum;
}

static struct reply *take(struct receiver *r, struct str bytes)
{
	struct sink *s = (struct sink *)r;
	if (pthread_equal(pthread_self(), s->f->loop))
		atomic_fetch_add(&s->f->fed_on_loop, 1);
	s->bytes += bytes.len;
	s->sum = add_up(s->sum, bytes);
	return strcmp(s->path, "/early/") == 0 ? reply_text(422, "enough") : NULL;
}

static void wait_at_gate(struct fixture *f)
{
	atomic_fetch_add(&f->at_gate, 1);
	pthread_mutex_lock(&f->lock);
	while (!f->is_open)
		pthread_cond_wait(&f->opened, &f->lock);
	pthread_mutex_unlock(&f->lock);
}

static struct reply *end(struct receiver *r)
{
	struct sink *s = (struct sink *)r;
	atomic_fetch_add(&s->f->ended, 1);
	if (strcmp(s->path, "/late/") == 0)
		wait_at_gate(s->f);
	return reply_text(200, "took %llu %016llx", (unsigned long long)s->bytes, (unsigned long long)s->sum);
}

static void sink_free(struct receiver *r)
{
	struct sink *s = (struct sink *)r;
	atomic_fetch_add(&s->f->freed, 1);
	free(s);
}

static const struct receiver_ops sink_ops = {take, end, sink_free};

static struct receiver *receive(void *ctx, const struct request *r, struct reply **refusal)
{
	struct fixture *f = ctx;
	f->loop = pthread_self();
	assert_string_equal(r->peer, "127.0.0.1");
	if (r->method != METHOD_POST || strcmp(r->path, "/refuse/") == 0) {
		*refusal = reply_text(403, "not for %s", r->header[HEADER_AUTHORIZATION] ? r->header[HEADER_AUTHORIZATION] : "you");
		return NULL;
	}
	struct sink *s = xcalloc(1, sizeof(*s));
	s->base.ops = &sink_ops;
	s->f = f;
	snprintf(s->path, sizeof(s->path), "%s", r->path);
	atomic_fetch_add(&f->begun, 1);
	return &s->base;
}

static struct reply *quick(void *ctx, const struct request *r)
{
	(void)ctx;
	return strcmp(r->path, "/work") == 0 ? NULL : reply_text(200, "smuggled");
}

static struct reply *work(void *ctx, const struct request *r)
{
	(void)ctx, (void)r;
	return reply_text(200, "worked");
}

static unsigned lane(void *ctx, const struct request *r)
{
	(void)ctx;
	return strcmp(r->path, "/late/") == 0; // what hangs there is not to hang the others
}

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	struct err e = ERR_INIT;
	CLEANUP(mem_free) char *url = NULL;
	struct http_options o = {.threads = 1, .connections = 1000, .timeout = TIMEOUT, .quick = quick, .work = work,
		.receive = receive, .lane = lane, .ctx = f};
	pthread_mutex_init(&f->lock, NULL);
	pthread_cond_init(&f->opened, NULL);
	o.socket = listen_open("127.0.0.1:0", &url, &e);
	o.url = url;
	socklen_t len = sizeof(f->address);
	getsockname(o.socket, (struct sockaddr *)&f->address, &len);
	f->http = http_start(&o, &e);
	*state = f;
	return f->http ? 0 : -1;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	http_stop(f->http, 0);
	bool all = atomic_load(&f->freed) == atomic_load(&f->begun) && !atomic_load(&f->fed_on_loop);
	pthread_cond_destroy(&f->opened);
	pthread_mutex_destroy(&f->lock);
	free(f);
	return all ? 0 : -1;
}

// --- a client ---

static int dial(const struct fixture *f)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct timeval patience = {.tv_sec = PATIENCE};
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	assert_int_equal(connect(fd, (const struct sockaddr *)&f->address, sizeof(f->address)), 0);
	return fd;
}

static bool try_send(int fd, struct str s)
{
	while (s.len) {
		ssize_t n = send(fd, s.ptr, s.len, MSG_NOSIGNAL);
		if (n < 0)
			return false;
		s = str_slice(s, (size_t)n, s.len);
	}
	return true;
}

static void send_text(int fd, const char *text)
{
	assert_true(try_send(fd, str_from(text)));
}

// Reads until the text is there, or the other side closes: what for is the caller's to check.
static const char *read_until(int fd, const char *text)
{
	static _Thread_local char answer[ANSWER_MOST];
	size_t len = 0;
	ssize_t n = 1;
	answer[0] = '\0';
	while (n > 0 && len < sizeof(answer) - 1 && !(text && strstr(answer, text))) {
		n = recv(fd, answer + len, sizeof(answer) - 1 - len, 0);
		len += n > 0 ? (size_t)n : 0;
		answer[len] = '\0';
	}
	return answer;
}

static void assert_holds(const char *answer, const char *text)
{
	if (!strstr(answer, text))
		fail_msg("\"%s\" is not in \"%s\"", text, answer);
}

static void begin_post(int fd, const char *path, const char *headers)
{
	CLEANUP(mem_free) char *head = xasprintf("POST %s HTTP/1.1\r\nHost: x\r\n%s\r\n", path, headers);
	send_text(fd, head);
}

static void begin_sized(int fd, const char *path, size_t size, const char *more)
{
	CLEANUP(mem_free) char *headers = xasprintf("Content-Length: %zu\r\n%s", size, more);
	begin_post(fd, path, headers);
}

// Bytes that differ at each place, and the answer to so many of them.
static struct str some_bytes(size_t len)
{
	static char *bytes;
	static size_t room;
	if (room < len) {
		bytes = xreallocarray(bytes, len, 1);
		for (; room < len; room++)
			bytes[room] = (char)(room * 2654435761u >> 13);
	}
	return (struct str){bytes, len};
}

static char *answer_to(size_t len)
{
	return xasprintf("took %zu %016llx\n", len, (unsigned long long)add_up(0, some_bytes(len)));
}

static bool comes_true(atomic_uint *value, unsigned wanted)
{
	int64_t end_ms = clock_ms() + PATIENCE * 1000;
	while (atomic_load(value) != wanted && clock_ms() < end_ms)
		nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
	return atomic_load(value) == wanted;
}

// --- tests ---

static void assert_taken(int fd, size_t len)
{
	CLEANUP(mem_free) char *want = answer_to(len);
	assert_holds(read_until(fd, want), want);
}

static void test_sizes(void **state)
{
	static const size_t sizes[] = {0, 1, 4095, 8192, 100000, LIMIT_BODY_BUFFER - 2, LIMIT_BODY_BUFFER - 1, LIMIT_BODY_BUFFER,
		LIMIT_BODY_BUFFER + 1, 3 * MEGABYTE + 7};
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

// What another reader of chunks might take for a request is not one here.
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

// The client who sends first and reads then must get the answer: nothing may reset his connection.
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
	for (unsigned i = 1; i <= 3; i++) { // the body is read to its end, so the connection goes on
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

// A receiver that hangs holds up only its lane.
static void test_hanging_lane(void **state)
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
	pthread_mutex_lock(&f->lock);
	f->is_open = true;
	pthread_cond_broadcast(&f->opened);
	pthread_mutex_unlock(&f->lock);
	for (size_t i = 0; i < ARRAY_SIZE(hanging); i++) {
		assert_taken(hanging[i], 0);
		close(hanging[i]);
	}
}

// None of these is a body whose end everybody sees at the same place. Nothing is fed to a receiver, and what follows is
// no request.
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

// Once the header is good, the chunks may not be.
static void test_odd_chunks(void **state)
{
	static const char *const chunks[] = {"x\r\n", "-1\r\n", "5;\r\nabcdef\r\n", "ffffffffffffffffff\r\n", "5 \r\nabcde\r\n",
		"\r\n", "0x5\r\nabcde\r\n", "5\r\nabcde0\r\n\r\n", "5\r\nabcdeX\r\n"};
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
		CLEANUP(mem_free) char *request = xasprintf("%s /count/ HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"
			"GET / HTTP/1.1\r\nHost: x\r\n\r\n", methods[i]);
		send_text(fd, request);
		const char *answer = read_until(fd, NULL);
		assert_null(strstr(answer, "smuggled"));
		assert_holds(answer, "HTTP/1.1 403 ");
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_sizes),
		TEST(test_chunks),
		TEST(test_refused_before_the_body),
		TEST(test_expect),
		TEST(test_answer_in_the_middle),
		TEST(test_client_goes_away),
		TEST(test_hanging_lane),
		TEST(test_odd_bodies),
		TEST(test_odd_chunks),
		TEST(test_other_methods),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
