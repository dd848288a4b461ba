// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/support/sink.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/buf.h"
#include "lib/os/clock.h"
#include "server/http/listen.h"

enum { ANSWER_MOST = 64 << 10 };

// The path says what the body handler does: "/count/", "/refuse/", "/early/" (answers at the first bytes), "/late/"
// (waits for the gate at the end of the body).
struct sink {
	struct body_handler base;
	struct fixture *f;
	char path[16];
	uint64_t bytes, sum;
};

static uint64_t add_up(uint64_t sum, struct str bytes)
{
	for (size_t i = 0; i < bytes.len; i++)
		sum = sum * 31 + (unsigned char)bytes.ptr[i];
	return sum;
}

static struct reply *take_bytes(struct body_handler *r, struct str bytes)
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

void open_gate(struct fixture *f)
{
	pthread_mutex_lock(&f->lock);
	f->is_open = true;
	pthread_cond_broadcast(&f->opened);
	pthread_mutex_unlock(&f->lock);
}

static struct reply *end_body(struct body_handler *r)
{
	struct sink *s = (struct sink *)r;
	atomic_fetch_add(&s->f->ended, 1);
	if (strcmp(s->path, "/late/") == 0)
		wait_at_gate(s->f);
	return reply_text(200, "took %llu %016llx", (unsigned long long)s->bytes, (unsigned long long)s->sum);
}

static void sink_free(struct body_handler *r)
{
	struct sink *s = (struct sink *)r;
	atomic_fetch_add(&s->f->freed, 1);
	free(s);
}

static const struct body_handler_ops sink_ops = {take_bytes, end_body, sink_free};

struct body_handler *sink_receive(void *ctx, struct request *r, struct reply **refusal)
{
	struct fixture *f = ctx;
	f->loop = pthread_self();
	assert_string_equal(r->peer, "127.0.0.1");
	if (r->method != METHOD_POST || strcmp(r->path, "/refuse/") == 0) {
		*refusal = reply_text(403, "not for %s",
			r->header[HEADER_AUTHORIZATION] ? r->header[HEADER_AUTHORIZATION] : "you");
		return NULL;
	}
	struct sink *s = xcalloc(1, sizeof(*s));
	s->base.ops = &sink_ops;
	s->f = f;
	snprintf(s->path, sizeof(s->path), "%s", r->path);
	atomic_fetch_add(&f->begun, 1);
	return &s->base;
}

static struct reply *answer_inline(void *ctx, struct request *r)
{
	(void)ctx;
	return strcmp(r->path, "/work") == 0 ? NULL : reply_text(200, "smuggled");
}

static struct reply *answer_in_worker(void *ctx, const struct request *r, struct continuation *continuation)
{
	(void)ctx, (void)r, (void)continuation;
	return reply_text(200, "worked");
}

static unsigned choose_pool(void *ctx, const struct request *r)
{
	(void)ctx;
	return strcmp(r->path, "/late/") == 0; // its own pool, since its requests wait for the gate
}

int sink_setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	struct err e = ERR_INIT;
	CLEANUP(mem_free) char *url = NULL;
	f->answers = answers_new();
	struct http_options o = {.threads = 1,
		.answers = f->answers,
		.connections = CONNECTIONS,
		.timeout = TIMEOUT,
		.handle_inline = answer_inline,
		.handle_worker = answer_in_worker,
		.receive = sink_receive,
		.pool = choose_pool,
		.ctx = f};
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

int sink_teardown(void **state)
{
	struct fixture *f = *state;
	http_stop(f->http, 0);
	answers_free(f->answers);
	bool all = atomic_load(&f->freed) == atomic_load(&f->begun) && !atomic_load(&f->fed_on_loop);
	pthread_cond_destroy(&f->opened);
	pthread_mutex_destroy(&f->lock);
	free(f);
	return all ? 0 : -1;
}

// --- a client ---

int dial(const struct fixture *f)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct timeval limit = {.tv_sec = PATIENCE};
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	assert_int_equal(connect(fd, (const struct sockaddr *)&f->address, sizeof(f->address)), 0);
	return fd;
}

bool try_send(int fd, struct str s)
{
	while (s.len) {
		ssize_t n = send(fd, s.ptr, s.len, MSG_NOSIGNAL);
		if (n < 0)
			return false;
		s = str_slice(s, (size_t)n, s.len);
	}
	return true;
}

void send_text(int fd, const char *text)
{
	assert_true(try_send(fd, str_from(text)));
}

const char *read_until(int fd, const char *text)
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

void assert_holds(const char *answer, const char *text)
{
	if (!strstr(answer, text))
		fail_msg("\"%s\" is not in \"%s\"", text, answer);
}

void begin_post(int fd, const char *path, const char *headers)
{
	CLEANUP(mem_free) char *head = xasprintf("POST %s HTTP/1.1\r\nHost: x\r\n%s\r\n", path, headers);
	send_text(fd, head);
}

void begin_sized(int fd, const char *path, size_t size, const char *more)
{
	CLEANUP(mem_free) char *headers = xasprintf("Content-Length: %zu\r\n%s", size, more);
	begin_post(fd, path, headers);
}

struct str some_bytes(size_t len)
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

char *answer_to(size_t len)
{
	return xasprintf("took %zu %016llx\n", len, (unsigned long long)add_up(0, some_bytes(len)));
}

bool comes_true(atomic_uint *value, unsigned wanted)
{
	int64_t end_ms = clock_ms() + PATIENCE * 1000;
	while (atomic_load(value) != wanted && clock_ms() < end_ms)
		nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
	return atomic_load(value) == wanted;
}

void assert_taken(int fd, size_t len)
{
	CLEANUP(mem_free) char *want = answer_to(len);
	assert_holds(read_until(fd, want), want);
}
