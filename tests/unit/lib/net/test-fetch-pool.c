// SPDX-License-Identifier: Apache-2.0
#include "lib/net/fetch-pool.h"

#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/base/limits.h"
#include "tests/unit/support/loopback.h"

enum { THREADS = 8, EACH = 40, BIG = 8 << 20, PIECE = 64 << 10, PATIENT_S = 600 };

struct fixture {
	struct loopback *server;
	struct fetch_pool *pool;
	sem_t gate; // a request for /gate posts held and waits for gate
	sem_t held;
	atomic_int asked;
	char piece[PIECE];
};

static bool send_big(const struct fixture *f, int fd)
{
	char head[100];
	snprintf(head, sizeof(head), "HTTP/1.1 200 OK\r\nX-Big: yes\r\nContent-Length: %d\r\n\r\n", BIG);
	bool ok = loopback_write(fd, head, strlen(head));
	for (size_t i = 0; ok && i < BIG / PIECE; i++)
		ok = loopback_write(fd, f->piece, PIECE);
	return ok;
}

static bool answer(void *ctx, int fd, const char *path, const char *head)
{
	struct fixture *f = ctx;
	atomic_fetch_add(&f->asked, 1);
	if (strcmp(path, "/big") == 0)
		return send_big(f, fd);
	if (strcmp(path, "/gate") == 0) {
		sem_post(&f->held);
		sem_wait(&f->gate);
		return loopback_send(fd, "200 OK", "", "late", 4);
	}
	if (strcmp(path, "/away") == 0)
		return loopback_send(fd, "302 Found", "Location: /here\r\n", "words", 5);
	if (strcmp(path, "/cut") == 0) {
		loopback_write(fd, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", 42);
		return false;
	}
	if (strcmp(path, "/lost") == 0)
		return false;
	if (strcmp(path, "/head") == 0)
		return loopback_send(fd, "200 OK", "", head, strlen(head));
	return loopback_send(fd, "200 OK", "", path, strlen(path));
}

static struct fetch_pool *new_pool(unsigned concurrency)
{
	const struct fetch_pool_options options = {
		.fetch.connect_seconds = PATIENT_S, .fetch.stall_seconds = PATIENT_S, .concurrency = concurrency};
	return fetch_pool_new(&options);
}

static int begin(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	sem_init(&f->gate, 0, 0);
	sem_init(&f->held, 0, 0);
	for (size_t i = 0; i < PIECE; i++)
		f->piece[i] = (char)(i * 7);
	f->server = loopback_new(answer, f);
	f->pool = new_pool(4);
	*state = f;
	return 0;
}

static int end(void **state)
{
	struct fixture *f = *state;
	fetch_pool_free(f->pool);
	loopback_free(f->server);
	sem_destroy(&f->gate);
	sem_destroy(&f->held);
	free(f);
	return 0;
}

static char *url_of(const struct fixture *f, const char *path)
{
	return xasprintf("http://127.0.0.1:%u%s", loopback_port(f->server), path);
}

// The result of a request.
struct outcome {
	atomic_int done;
	sem_t is_done;
	enum fetch_failure failure;
	unsigned status;
	char body[1024], url[200], why[ERR_MSG_SIZE];
};

static void outcome_init(struct outcome *o)
{
	memset(o, 0, sizeof(*o));
	sem_init(&o->is_done, 0, 0);
}

static void note(struct outcome *o, const struct fetch_result *r)
{
	o->failure = r->failure;
	o->status = r->answer->status;
	snprintf(o->body, sizeof(o->body), STR_FMT, STR_ARG(buf_view(&r->answer->body)));
	snprintf(o->url, sizeof(o->url), "%s", r->url);
	snprintf(o->why, sizeof(o->why), "%s", r->why);
	atomic_fetch_add(&o->done, 1);
	sem_post(&o->is_done);
}

static void on_done(void *ctx, const struct fetch_result *r)
{
	note(ctx, r);
}

static uint64_t get(struct fixture *f, const char *path, struct outcome *o)
{
	CLEANUP(mem_free) char *url = url_of(f, path);
	return fetch_pool_get(f->pool,
		&(struct fetch_request){.url = url, .limit = 1000, .on_done = on_done, .ctx = o});
}

static void run_ends_with_the_last_request(void **state)
{
	struct fixture *f = *state;
	static const struct {
		const char *path;
		enum fetch_failure failure;
		const char *body, *url;
	} table[] = {
		{"/a", FETCH_WHOLE, "/a", "/a"},
		{"/away", FETCH_WHOLE, "/here", "/here"},
		{"/cut", FETCH_TRUNCATED, "abc", "/cut"},
		{"/lost", FETCH_REFUSED, "", "/lost"},
	};
	struct outcome o[ARRAY_SIZE(table)];
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		outcome_init(&o[i]);
		get(f, table[i].path, &o[i]);
	}
	fetch_pool_run(f->pool);
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		CLEANUP(mem_free) char *url = url_of(f, table[i].url);
		assert_int_equal(o[i].done, 1);
		assert_string_equal(fetch_failure_name[o[i].failure], fetch_failure_name[table[i].failure]);
		assert_string_equal(o[i].body, table[i].body);
		assert_string_equal(o[i].url, url);
		assert_int_equal(o[i].failure == FETCH_WHOLE, !*o[i].why);
	}
	fetch_pool_run(f->pool); // there is nothing to do
}

static void a_bad_url_is_reported_by_on_done(void **state)
{
	struct fixture *f = *state;
	struct outcome o;
	outcome_init(&o);
	fetch_pool_get(f->pool, &(struct fetch_request){.url = "gopher://me:secret@a/", .on_done = on_done, .ctx = &o});
	assert_int_equal(o.done, 0);
	fetch_pool_run(f->pool);
	assert_int_equal(o.failure, FETCH_OTHER);
	assert_null(strstr(o.why, "secret"));
}

static enum fetch_flow drop(void *ctx UNUSED, struct str piece UNUSED)
{
	return FETCH_GO_ON;
}

static void streamed_body_has_a_limit_too(void **state)
{
	struct fixture *f = *state;
	CLEANUP(mem_free) char *url = url_of(f, "/big");
	for (uint64_t limit = BIG - 1; limit <= BIG; limit++) {
		struct outcome o;
		outcome_init(&o);
		fetch_pool_get(f->pool,
			&(struct fetch_request){
				.url = url, .limit = limit, .on_body = drop, .on_done = on_done, .ctx = &o});
		fetch_pool_run(f->pool);
		assert_int_equal(o.failure, limit < BIG ? FETCH_TOO_LARGE : FETCH_WHOLE);
	}
}

static void body_beyond_the_limit_is_too_large(void **state)
{
	struct fixture *f = *state;
	struct outcome o;
	outcome_init(&o);
	get(f, "/big", &o);
	fetch_pool_run(f->pool);
	assert_int_equal(o.failure, FETCH_TOO_LARGE);
}

static void a_foreign_url_reaches_no_private_address(void **state)
{
	struct fixture *f = *state;
	struct outcome o[2];
	CLEANUP(mem_free) char *url = url_of(f, "/a");
	CLEANUP(mem_free) char *home = url_of(f, "/simple/");
	const char *homes[] = {home, "https://index.example/simple/"};
	for (size_t i = 0; i < 2; i++) {
		outcome_init(&o[i]);
		fetch_pool_get(f->pool,
			&(struct fetch_request){
				.url = url, .configured_url = homes[i], .limit = 9, .on_done = on_done, .ctx = &o[i]});
		fetch_pool_run(f->pool); // the second reuses the connection of the first
	}
	assert_int_equal(o[0].failure, FETCH_WHOLE);
	assert_int_equal(o[1].failure, FETCH_FORBIDDEN);
	assert_int_equal(f->asked, 1);
}

struct submitter {
	struct fixture *f;
	struct outcome o[EACH];
	pthread_t thread;
};

static void *submit(void *ctx)
{
	struct submitter *s = ctx;
	char path[20];
	for (size_t i = 0; i < EACH; i++) {
		snprintf(path, sizeof(path), "/n/%zu", i);
		outcome_init(&s->o[i]);
		get(s->f, path, &s->o[i]);
	}
	for (size_t i = 0; i < EACH; i++)
		sem_wait(&s->o[i].is_done);
	return NULL;
}

static void many_threads_submit(void **state)
{
	struct fixture *f = *state;
	struct submitter *s = xcalloc(THREADS, sizeof(*s));
	fetch_pool_start(f->pool);
	for (size_t i = 0; i < THREADS; i++) {
		s[i].f = f;
		assert_int_equal(pthread_create(&s[i].thread, NULL, submit, &s[i]), 0);
	}
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(s[i].thread, NULL);
	assert_int_equal(f->asked, THREADS * EACH);
	for (size_t i = 0; i < THREADS; i++)
		for (size_t k = 0; k < EACH; k++) {
			char path[20];
			snprintf(path, sizeof(path), "/n/%zu", k);
			assert_int_equal(s[i].o[k].done, 1);
			assert_string_equal(s[i].o[k].body, path);
		}
	free(s);
}

// A body whose pieces the callback takes.
struct stream {
	struct outcome o;
	struct fixture *f;
	bool is_right, has_head;
	size_t taken, most; // the callback stops the request beyond most
	unsigned pieces;
};

static enum fetch_flow on_head(void *ctx, const struct fetch_answer *a, const char *url)
{
	struct stream *s = ctx;
	s->has_head = a->status == 200 && str_eq(fetch_header(a, "x-big"), STR("yes")) && strstr(url, "/big");
	return FETCH_GO_ON;
}

static enum fetch_flow on_body(void *ctx, struct str piece)
{
	struct stream *s = ctx;
	for (size_t i = 0; i < piece.len; i++)
		s->is_right = s->is_right && piece.ptr[i] == s->f->piece[(s->taken + i) % PIECE];
	s->taken += piece.len;
	s->pieces++;
	return s->taken > s->most ? FETCH_STOP : FETCH_GO_ON;
}

static void on_stream_done(void *ctx, const struct fetch_result *r)
{
	struct stream *s = ctx;
	on_done(&s->o, r);
}

static void stream(struct fixture *f, struct stream *s, size_t most)
{
	CLEANUP(mem_free) char *url = url_of(f, "/big");
	*s = (struct stream){.f = f, .is_right = true, .most = most};
	outcome_init(&s->o);
	fetch_pool_get(f->pool, &(struct fetch_request){.url = url,
					.limit = UINT64_MAX,
					.on_head = on_head,
					.on_body = on_body,
					.is_raw = true,
					.on_done = on_stream_done,
					.ctx = s});
	fetch_pool_run(f->pool);
}

static void body_comes_in_pieces(void **state)
{
	struct stream s;
	stream(*state, &s, BIG);
	assert_int_equal(s.o.failure, FETCH_WHOLE);
	assert_true(s.has_head && s.is_right && s.pieces > 8);
	assert_int_equal(s.taken, BIG);
}

static void body_is_stopped(void **state)
{
	struct stream s;
	stream(*state, &s, BIG / 8);
	assert_int_equal(s.o.failure, FETCH_CANCELLED);
	assert_true(s.is_right && s.taken < BIG);
}

static enum fetch_flow stop(void *ctx UNUSED, const struct fetch_answer *a UNUSED, const char *url UNUSED)
{
	return FETCH_STOP;
}

static void on_head_can_stop_the_request(void **state)
{
	struct fixture *f = *state;
	static const char *const paths[] = {"/a", "/big"};
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		struct outcome o;
		CLEANUP(mem_free) char *url = url_of(f, paths[i]);
		outcome_init(&o);
		fetch_pool_get(f->pool,
			&(struct fetch_request){
				.url = url, .limit = BIG, .on_head = stop, .on_done = on_done, .ctx = &o});
		fetch_pool_run(f->pool);
		assert_int_equal(o.failure, FETCH_CANCELLED);
	}
}

static void queued_and_running_requests_are_cancelled(void **state)
{
	struct fixture *f = *state;
	struct outcome held, waiting;
	fetch_pool_free(f->pool);
	f->pool = new_pool(1);
	fetch_pool_start(f->pool);
	outcome_init(&held);
	outcome_init(&waiting);
	uint64_t first = get(f, "/gate", &held);
	sem_wait(&f->held);
	uint64_t second = get(f, "/a", &waiting);
	fetch_pool_cancel(f->pool, second);
	sem_wait(&waiting.is_done);
	assert_int_equal(waiting.failure, FETCH_CANCELLED);
	assert_int_equal(held.done, 0);
	fetch_pool_cancel(f->pool, first);
	sem_wait(&held.is_done);
	assert_int_equal(held.failure, FETCH_CANCELLED);
	assert_int_equal(f->asked, 1);
	sem_post(&f->gate);
}

static void freeing_the_pool_cancels_what_is_left(void **state)
{
	struct fixture *f = *state;
	struct outcome held, later;
	CLEANUP(mem_free) char *url = url_of(f, "/a");
	outcome_init(&held);
	outcome_init(&later);
	fetch_pool_start(f->pool);
	get(f, "/gate", &held);
	fetch_pool_get(f->pool,
		&(struct fetch_request){
			.url = url, .limit = 9, .delay_ms = 3600 * 1000, .on_done = on_done, .ctx = &later});
	sem_wait(&f->held);
	fetch_pool_free(f->pool);
	f->pool = NULL;
	sem_post(&f->gate);
	assert_int_equal(held.done, 1);
	assert_int_equal(later.done, 1);
	assert_int_equal(held.failure, FETCH_CANCELLED);
	assert_int_equal(later.failure, FETCH_CANCELLED);
}

// Starts further requests in its own callbacks.
struct chain {
	struct fixture *f;
	unsigned left;
	pthread_t thread;
	bool is_same;
};

static void go_on(void *ctx)
{
	struct chain *c = ctx;
	c->is_same = c->is_same && pthread_equal(c->thread, pthread_self());
	if (c->left-- > 1)
		fetch_pool_call(c->f->pool, go_on, c);
}

static void next_of_chain(void *ctx, const struct fetch_result *r)
{
	struct chain *c = ctx;
	CLEANUP(mem_free) char *url = url_of(c->f, "/a");
	assert_int_equal(r->failure, FETCH_WHOLE);
	if (c->left-- > 1)
		fetch_pool_get(c->f->pool,
			&(struct fetch_request){
				.url = url, .limit = 9, .delay_ms = c->left % 2, .on_done = next_of_chain, .ctx = c});
}

static void callbacks_may_submit(void **state)
{
	struct fixture *f = *state;
	struct chain c = {.f = f, .left = 20, .thread = pthread_self(), .is_same = true};
	CLEANUP(mem_free) char *url = url_of(f, "/a");
	fetch_pool_get(f->pool, &(struct fetch_request){.url = url, .limit = 9, .on_done = next_of_chain, .ctx = &c});
	fetch_pool_run(f->pool);
	assert_int_equal(f->asked, 20);
	c.left = 20;
	fetch_pool_call(f->pool, go_on, &c);
	fetch_pool_run(f->pool);
	assert_int_equal(c.left, 0);
	assert_true(c.is_same);
}

static void headers_are_sent_as_given(void **state)
{
	struct fixture *f = *state;
	CLEANUP(mem_free) char *url = url_of(f, "/head");
	for (int is_raw = 0; is_raw < 2; is_raw++) {
		struct outcome o;
		outcome_init(&o);
		fetch_pool_get(f->pool, &(struct fetch_request){.url = url,
						.headers = (const char *const[]){"Range: bytes=0-9", NULL},
						.is_raw = is_raw,
						.limit = 1000,
						.on_done = on_done,
						.ctx = &o});
		fetch_pool_run(f->pool);
		assert_non_null(strstr(o.body, "Range: bytes=0-9\r\n"));
		assert_int_equal(strstr(o.body, "Accept-Encoding") == NULL, is_raw);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(run_ends_with_the_last_request),
		TEST(a_bad_url_is_reported_by_on_done),
		TEST(body_beyond_the_limit_is_too_large),
		TEST(streamed_body_has_a_limit_too),
		TEST(a_foreign_url_reaches_no_private_address),
		TEST(many_threads_submit),
		TEST(body_comes_in_pieces),
		TEST(body_is_stopped),
		TEST(on_head_can_stop_the_request),
		TEST(queued_and_running_requests_are_cancelled),
		TEST(freeing_the_pool_cancels_what_is_left),
		TEST(callbacks_may_submit),
		TEST(headers_are_sent_as_given),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
