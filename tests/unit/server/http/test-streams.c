// SPDX-License-Identifier: Apache-2.0
// Deferred answers, and bodies that arrive while they are sent, over a socket.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/base/mem.h"
#include "server/http/listen.h"
#include "tests/unit/support/sink.h"

// Longer than the client needs for all connections, also under valgrind.
enum { CLIENTS = 200, READERS = 20, WHOLE = 3 * MEGABYTE + 5, SERVER_PATIENCE = 20 * PATIENCE };

// A source of bytes for any number of clients, which wait in one list.
struct feed {
	struct stream base;
	struct http *http;
	struct answers *answers;
	struct fixture dialled; // for dial()
	pthread_mutex_t lock;
	struct continuation *waiters;
	uint64_t have; // bytes that have arrived
	bool is_there, has_failed, gives_up;
	atomic_uint waiting, readers, worked;
};

static ssize_t feed_read(struct stream *s, uint64_t at, char *out, size_t room)
{
	struct feed *f = (struct feed *)s;
	pthread_mutex_lock(&f->lock);
	size_t len = f->have > at ? (size_t)(f->have - at) : 0;
	bool has_failed = f->has_failed;
	pthread_mutex_unlock(&f->lock);
	if (len > room)
		len = room;
	memcpy(out, some_bytes(WHOLE).ptr + at, len);
	return len || !has_failed ? (ssize_t)len : -1;
}

static void feed_wait(struct feed *f, bool is_ready, struct continuation *w)
{
	if (is_ready) {
		pthread_mutex_unlock(&f->lock);
		w->resume(w);
		return;
	}
	w->next = f->waiters;
	f->waiters = w;
	atomic_fetch_add(&f->waiting, 1);
	pthread_mutex_unlock(&f->lock);
}

static void feed_await(struct stream *s, uint64_t at, struct continuation *w)
{
	struct feed *f = (struct feed *)s;
	pthread_mutex_lock(&f->lock);
	feed_wait(f, f->have > at || f->has_failed, w);
}

static void feed_unref(struct stream *s)
{
	atomic_fetch_sub(&((struct feed *)s)->readers, 1);
}

static const struct stream_ops feed_ops = {feed_read, feed_await, feed_unref};

// Resumes all, under the lock: they read again.
static void resume_all(struct feed *f)
{
	struct continuation *w = f->waiters;
	f->waiters = NULL;
	atomic_store(&f->waiting, 0);
	pthread_mutex_unlock(&f->lock);
	continuation_resume_all(w);
}

static void feed_more(struct feed *f, uint64_t have)
{
	pthread_mutex_lock(&f->lock);
	f->have = have;
	resume_all(f);
}

static void feed_fail(struct feed *f)
{
	pthread_mutex_lock(&f->lock);
	f->has_failed = true;
	resume_all(f);
}

static void cancel_waiting(void *ctx)
{
	struct feed *f = ctx;
	pthread_mutex_lock(&f->lock);
	f->has_failed = f->gives_up = true;
	resume_all(f);
}

static struct reply *answer_inline(void *ctx, struct request *r)
{
	(void)ctx;
	return strcmp(r->path, "/now") == 0 ? reply_text(200, "now") : NULL;
}

static struct reply *answer_in_worker(void *ctx, const struct request *r, struct continuation *continuation)
{
	struct feed *f = ctx;
	atomic_fetch_add(&f->worked, 1);
	if (strcmp(r->path, "/stream") == 0) {
		atomic_fetch_add(&f->readers, 1);
		return reply_stream(200, "application/octet-stream", &f->base, WHOLE);
	}
	pthread_mutex_lock(&f->lock);
	bool is_there = f->is_there, gives_up = f->gives_up;
	if (is_there || gives_up) {
		pthread_mutex_unlock(&f->lock);
		return is_there ? reply_text(200, "later") : reply_text(503, "stopping");
	}
	feed_wait(f, false, continuation);
	return NULL;
}

static unsigned choose_pool(void *ctx, const struct request *r)
{
	(void)ctx, (void)r;
	return 0;
}

static int setup(void **state)
{
	struct feed *f = xcalloc(1, sizeof(*f));
	struct err e = ERR_INIT;
	CLEANUP(mem_free) char *url = NULL;
	f->answers = answers_new();
	struct http_options o = {.threads = 2,
		.answers = f->answers,
		.connections = CONNECTIONS,
		.timeout = SERVER_PATIENCE,
		.handle_inline = answer_inline,
		.handle_worker = answer_in_worker,
		.cancel = cancel_waiting,
		.pool = choose_pool,
		.ctx = f};
	f->base.ops = &feed_ops;
	pthread_mutex_init(&f->lock, NULL);
	o.socket = listen_open("127.0.0.1:0", &url, &e);
	o.url = url;
	socklen_t len = sizeof(f->dialled.address);
	getsockname(o.socket, (struct sockaddr *)&f->dialled.address, &len);
	some_bytes(WHOLE); // before threads read them
	f->http = http_start(&o, &e);
	*state = f;
	return f->http ? 0 : -1;
}

static int teardown(void **state)
{
	struct feed *f = *state;
	http_stop(f->http, 0);
	answers_free(f->answers);
	bool none_left = atomic_load(&f->readers) == 0;
	pthread_mutex_destroy(&f->lock);
	free(f);
	return none_left ? 0 : -1;
}

static void send_request(int fd, const char *method, const char *path)
{
	CLEANUP(mem_free) char *head = xasprintf("%s %s HTTP/1.1\r\nHost: x\r\n\r\n", method, path);
	send_text(fd, head);
}

static void dial_all(struct feed *f, int *fd, unsigned count, const char *path)
{
	for (unsigned i = 0; i < count; i++) {
		fd[i] = dial(&f->dialled);
		send_request(fd[i], "GET", path);
	}
	assert_true(comes_true(&f->waiting, count));
}

// Far more than workers: other requests are answered meanwhile.
static void test_waiting_holds_no_thread(void **state)
{
	struct feed *f = *state;
	int fd[CLIENTS];
	dial_all(f, fd, CLIENTS, "/later");
	CLEANUP(mem_close) int other = dial(&f->dialled);
	send_request(other, "GET", "/now");
	assert_holds(read_until(other, "now\n"), "200");
	pthread_mutex_lock(&f->lock);
	f->is_there = true;
	resume_all(f);
	for (int i = 0; i < CLIENTS; i++) {
		assert_holds(read_until(fd[i], "later\n"), "HTTP/1.1 200 ");
		send_request(fd[i], "GET", "/now"); // the connection stays open
		assert_holds(read_until(fd[i], "now\n"), "HTTP/1.1 200 ");
		close(fd[i]);
	}
	assert_int_equal(atomic_load(&f->worked), 2 * CLIENTS);
}

// Reads a header and so many bytes of a body, and compares these with the stream. False where the server closed before.
static bool read_stream(int fd, size_t want, bool *is_right)
{
	CLEANUP(mem_free) char *got = xmalloc(want + 4096);
	size_t len = 0, head = 0;
	ssize_t n = 1;
	while (n > 0 && (!head || len < head + want)) {
		n = recv(fd, got + len, want + 4096 - len, 0);
		len += n > 0 ? (size_t)n : 0;
		const char *end = head ? NULL : memmem(got, len, "\r\n\r\n", 4);
		head = end ? (size_t)(end - got) + 4 : head;
	}
	*is_right = head && memcmp(got + head, some_bytes(WHOLE).ptr, len - head) == 0;
	return head && len >= head + want;
}

static void test_stream(void **state)
{
	struct feed *f = *state;
	int fd[READERS];
	bool is_right = false;
	dial_all(f, fd, READERS, "/stream");
	close(fd[0]); // a client that leaves does not affect the others
	feed_more(f, 1);
	feed_more(f, MEGABYTE);
	feed_more(f, WHOLE);
	for (int i = 1; i < READERS; i++) {
		assert_true(read_stream(fd[i], WHOLE, &is_right) && is_right);
		send_request(fd[i], "GET", "/now");
		assert_holds(read_until(fd[i], "now\n"), "HTTP/1.1 200 ");
		close(fd[i]);
	}
	CLEANUP(mem_close) int head = dial(&f->dialled);
	send_request(head, "HEAD", "/stream");
	send_request(head, "GET", "/now");
	CLEANUP(mem_free) char *length = xasprintf("Content-Length: %d\r\n", WHOLE);
	assert_holds(read_until(head, "now\n"), length);
}

// A stream that fails in the middle ends the connection.
static void test_stream_that_fails(void **state)
{
	struct feed *f = *state;
	bool is_right = false;
	CLEANUP(mem_close) int fd = dial(&f->dialled);
	send_request(fd, "GET", "/stream");
	send_request(fd, "GET", "/now");
	assert_true(comes_true(&f->waiting, 1));
	feed_more(f, WHOLE - 1);
	assert_true(comes_true(&f->waiting, 1));
	feed_fail(f);
	assert_false(read_stream(fd, WHOLE, &is_right));
	assert_true(is_right);
}

// Teardown stops the server while these wait.
static void test_stop_with_some_that_wait(void **state)
{
	struct feed *f = *state;
	static const char *const paths[] = {"/stream", "/later", "/stream"};
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		send_request(dial(&f->dialled), "GET", paths[i]);
	assert_true(comes_true(&f->waiting, ARRAY_SIZE(paths)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_waiting_holds_no_thread, setup, teardown),
		cmocka_unit_test_setup_teardown(test_stream, setup, teardown),
		cmocka_unit_test_setup_teardown(test_stream_that_fails, setup, teardown),
		cmocka_unit_test_setup_teardown(test_stop_with_some_that_wait, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
