// SPDX-License-Identifier: Apache-2.0
// Request bodies over a socket: slow, many and large ones, and a server that stops.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/limits.h"
#include "lib/os/clock.h"
#include "server/http/request-body.h"
#include "tests/unit/support/sink.h"

enum {
	PARALLEL = 200,
	LARGE = 256, // megabytes
};

// A byte now and then is no progress: the connection ends without an answer and the handler is freed. The same for a
// body that is refused.
static void test_slow_bodies(void **state)
{
	struct fixture *f = *state;
	static const char *const paths[] = {"/count/", "/count/", "/refuse/"};
	int fd[ARRAY_SIZE(paths)];
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		fd[i] = dial(f);
		if (i == 0)
			begin_post(fd[i], paths[i], "Transfer-Encoding: chunked\r\n");
		else
			begin_sized(fd[i], paths[i], MEGABYTE, "");
	}
	int64_t end_ms = clock_ms() + PATIENCE * 1000;
	unsigned closed = 0;
	for (bool done[ARRAY_SIZE(paths)] = {false}; closed < ARRAY_SIZE(paths) && clock_ms() < end_ms;) {
		for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
			char c;
			try_send(fd[i], i == 0 ? STR("1\r\nx\r\n") : STR("x"));
			bool is_closed =
				recv(fd[i], &c, 1, MSG_DONTWAIT) == 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
			closed += is_closed && !done[i];
			done[i] |= is_closed;
		}
		nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
	}
	assert_int_equal(closed, ARRAY_SIZE(paths));
	assert_true(comes_true(&f->freed, 2));
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		close(fd[i]);
}

// Slow with progress: the body takes much longer than the time-out.
static void test_steady_body(void **state)
{
	enum { STEPS = 3 * TIMEOUT * 2 };
	CLEANUP(mem_close) int fd = dial(*state);
	size_t step = 3 * LIMIT_BODY_PROGRESS;
	struct str rest = some_bytes(STEPS * step);
	begin_sized(fd, "/count/", rest.len, "");
	for (; rest.len; rest = str_slice(rest, step, rest.len)) {
		assert_true(try_send(fd, str_slice(rest, 0, step)));
		nanosleep(&(struct timespec){.tv_nsec = 500000000}, NULL);
	}
	assert_taken(fd, STEPS * step);
}

static size_t resident(void)
{
	CLEANUP(mem_free) char *line = NULL;
	size_t room = 0;
	FILE *status = fopen("/proc/self/status", "re");
	unsigned long kilobytes = 0;
	while (getline(&line, &room, status) > 0 && sscanf(line, "VmRSS: %lu", &kilobytes) != 1)
		;
	fclose(status);
	return kilobytes << 10;
}

// All at once, half of them chunked. Each takes at most one buffer of memory.
// Exceeds LIMIT_BODY_BUFFER.
static void test_many_bodies_at_once(void **state)
{
	enum { SIZE = 1 << 20, STEP = 1 << 16 };
	struct str bytes = some_bytes(SIZE);
	int fd[PARALLEL];
	for (size_t i = 0; i < PARALLEL; i++) {
		fd[i] = dial(*state);
		if (i % 2)
			begin_post(fd[i], "/count/", "Transfer-Encoding: chunked\r\n");
		else
			begin_sized(fd[i], "/count/", SIZE, "");
	}
	size_t before = resident(), most = 0;
	for (size_t at = 0; at < SIZE; at += STEP) {
		for (size_t i = 0; i < PARALLEL; i++) {
			if (i % 2)
				send_text(fd[i], "10000\r\n");
			assert_true(try_send(fd[i], str_slice(bytes, at, at + STEP)));
			if (i % 2)
				send_text(fd[i], at + STEP < SIZE ? "\r\n" : "\r\n0\r\n\r\n");
		}
		most = resident() > most ? resident() : most;
	}
	for (size_t i = 0; i < PARALLEL; i++) {
		assert_taken(fd[i], SIZE);
		close(fd[i]);
	}
	print_message("%d bodies of 1 MB at once: %zu MB more resident\n", PARALLEL, (most - before) >> 20);
	assert_true(most - before < 3u * PARALLEL * LIMIT_BODY_BUFFER);
}

static void test_memory_stays_flat(void **state)
{
	struct str bytes = some_bytes(MEGABYTE);
	CLEANUP(mem_close) int fd = dial(*state);
	size_t before = 0;
	begin_sized(fd, "/count/", (size_t)LARGE * MEGABYTE, "");
	for (unsigned i = 0; i < LARGE; i++) {
		assert_true(try_send(fd, bytes));
		if (i == 8)
			before = resident();
	}
	size_t after = resident();
	assert_holds(read_until(fd, "took "), "HTTP/1.1 200 ");
	print_message("a body of %d MB: %zu KB more resident\n", LARGE, after > before ? (after - before) >> 10 : 0);
	assert_true(after < before + 16 * MEGABYTE);
}

struct storm {
	struct fixture *f;
	atomic_bool is_over;
};

static void *storm(void *ctx)
{
	struct storm *s = ctx;
	static const char *const paths[] = {"/count/", "/early/", "/refuse/", "/count/"};
	struct str bytes = {"", 0};
	CLEANUP(mem_free) char *mine = xcalloc(1, MEGABYTE);
	bytes = (struct str){mine, MEGABYTE};
	for (unsigned i = 0; !atomic_load(&s->is_over); i++) {
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (connect(fd, (const struct sockaddr *)&s->f->address, sizeof(s->f->address)) == 0) {
			CLEANUP(mem_free)
			char *head = xasprintf("POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n",
				paths[i % 4], MEGABYTE);
			if (try_send(fd, str_from(head)) &&
				try_send(fd, str_slice(bytes, 0, i % 3 ? bytes.len : bytes.len / 2)) && i % 3) {
				char answer[512];
				while (recv(fd, answer, sizeof(answer), 0) > 0 &&
					!memmem(answer, sizeof(answer), "\r\n\r\n", 4))
					;
			}
		}
		close(fd);
	}
	return NULL;
}

// A server that stops ends all bodies under way: teardown counts the handlers.
static void test_stop_under_load(void **state)
{
	struct fixture *f = *state;
	struct storm s = {.f = f};
	pthread_t thread[8];
	for (size_t i = 0; i < ARRAY_SIZE(thread); i++)
		pthread_create(&thread[i], NULL, storm, &s);
	int64_t end_ms = clock_ms() + PATIENCE * 1000;
	while (atomic_load(&f->ended) < 50 && clock_ms() < end_ms)
		nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
	unsigned ended = atomic_load(&f->ended);
	http_stop(STEAL_PTR(f->http), 0);
	atomic_store(&s.is_over, true);
	for (size_t i = 0; i < ARRAY_SIZE(thread); i++)
		pthread_join(thread[i], NULL);
	assert_true(ended >= 50);
	assert_int_equal(atomic_load(&f->begun), atomic_load(&f->freed));
}

// A server that stops waits for a body under way and answers it.
static void *stop_slowly(void *ctx)
{
	struct fixture *f = ctx;
	http_stop(STEAL_PTR(f->http), PATIENCE);
	return NULL;
}

static void test_stop_lets_a_body_end(void **state)
{
	struct fixture *f = *state;
	CLEANUP(mem_close) int fd = dial(f);
	pthread_t stopper;
	begin_sized(fd, "/count/", MEGABYTE, "");
	assert_true(try_send(fd, some_bytes(1000)));
	assert_true(comes_true(&f->begun, 1));
	pthread_create(&stopper, NULL, stop_slowly, f);
	nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL); // the server checks all connections meanwhile
	assert_true(try_send(fd, str_slice(some_bytes(MEGABYTE), 1000, MEGABYTE)));
	assert_taken(fd, MEGABYTE);
	pthread_join(stopper, NULL);
}

// A platform that hangs does not occupy all connections.
static void test_full_pool(void **state)
{
	struct fixture *f = *state;
	int hanging[CONNECTIONS / 4 + 1];
	for (size_t i = 0; i < ARRAY_SIZE(hanging); i++) {
		hanging[i] = dial(f);
		begin_sized(hanging[i], "/late/", 5, "");
	}
	assert_true(comes_true(&f->begun, ARRAY_SIZE(hanging)));
	CLEANUP(mem_close) int fd = dial(f);
	begin_sized(fd, "/late/", 5, "");
	send_text(fd, "12345");
	const char *answer = read_until(fd, NULL);
	assert_holds(answer, "HTTP/1.1 503 ");
	assert_holds(answer, "Retry-After: ");
	CLEANUP(mem_close) int other = dial(f);
	begin_sized(other, "/count/", 5, "");
	assert_true(try_send(other, some_bytes(5)));
	assert_taken(other, 5);
	for (size_t i = 0; i < ARRAY_SIZE(hanging); i++)
		close(hanging[i]);
	assert_true(comes_true(&f->freed, ARRAY_SIZE(hanging) + 2)); // the refused one as well
	begin_sized(other, "/late/", 5, ""); // there is room again
	open_gate(f);
	assert_true(try_send(other, some_bytes(5)));
	assert_taken(other, 5);
}

// The server discards a refused body, but not without limit.
// Exceeds LIMIT_BODY_DISCARDED.
static void test_too_long_to_be_polite(void **state)
{
	struct fixture *f = *state;
	CLEANUP(mem_close) int fd = dial(f);
	begin_sized(fd, "/refuse/", (size_t)LIMIT_BODY_DISCARDED + 1, "");
	assert_holds(read_until(fd, NULL), "HTTP/1.1 403 "); // before any byte of the body
	struct worker_pools *pools = worker_pools_new("test", 1, &(struct share_options){.most = 1});
	struct share_pool *memory = share_pool_new(&(struct share_options){.most = MEGABYTE});
	struct worker_pool *pool = worker_pools_pick(pools, 0);
	struct request r = {
		.method = METHOD_POST, .path = "/refuse/", .peer = "127.0.0.1", .header[HEADER_CONTENT_LENGTH] = "5"};
	const struct request_check s = {.lengths = 1, .has_body = true};
	struct reply *refusal = NULL;
	const struct request_body_source source = {.pool = pool, .memory = memory, .receive = sink_receive, .ctx = f};
	struct request_body *b = request_body_open(&source, &r, &s, &refusal);
	struct str bytes = some_bytes(MEGABYTE);
	for (size_t i = 0; i < LIMIT_BODY_DISCARDED / MEGABYTE; i++) {
		assert_int_equal(request_body_add(b, bytes), bytes.len);
		assert_false(request_body_is_past_limit(b));
	}
	request_body_add(b, STR("x"));
	assert_true(request_body_is_past_limit(b));
	request_body_free(b);
	worker_pools_free(pools);
	share_pool_free(memory);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, sink_setup, sink_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_slow_bodies),
		TEST(test_steady_body),
		TEST(test_many_bodies_at_once),
		TEST(test_memory_stays_flat),
		TEST(test_stop_under_load),
		TEST(test_stop_lets_a_body_end),
		TEST(test_full_pool),
		TEST(test_too_long_to_be_polite),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
