// SPDX-License-Identifier: Apache-2.0
#include "server/http/request-body.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MEMORY = 64 << 10, PIECE = 4 << 10, PIECES = 16 };

static bool is_ended;

static void on_end(void *owner UNUSED)
{
	is_ended = true;
}

static struct reply *take_bytes(struct body_handler *h UNUSED, struct str bytes UNUSED)
{
	return NULL;
}

static struct reply *take_end(struct body_handler *h UNUSED)
{
	return reply_text(200, "taken");
}

static void free_handler(struct body_handler *h)
{
	free(h);
}

static struct body_handler *receive(void *ctx UNUSED, struct request *r UNUSED, struct reply **refusal UNUSED)
{
	static const struct body_handler_ops ops = {take_bytes, take_end, free_handler};
	struct body_handler *h = xcalloc(1, sizeof(*h));
	h->ops = &ops;
	return h;
}

struct fixture {
	struct worker_pools *pools;
	struct share_pool *memory;
	struct request_body *body[2];
};

static void release(struct fixture *f)
{
	for (size_t i = 0; i < ARRAY_SIZE(f->body); i++)
		request_body_free(f->body[i]);
	share_pool_free(f->memory);
	worker_pools_free(f->pools);
}

static struct request_body *open_body(struct fixture *f, const char *peer, const atomic_long *idle_since)
{
	struct request r = {.method = METHOD_POST, .peer = peer};
	struct reply *refusal = NULL;
	const struct request_check s = {.has_body = true};
	const struct request_body_source source = {.pool = worker_pools_pick(f->pools, 0),
		.memory = f->memory,
		.receive = receive,
		.idle_since = idle_since};
	struct request_body *b = request_body_open(&source, &r, &s, &refusal);
	assert_non_null(b);
	return b;
}

static struct fixture make(void)
{
	const struct share_options places = {.most = 8}, memory = {.most = MEMORY, .end = on_end};
	is_ended = false;
	return (struct fixture){.pools = worker_pools_new("test", 1, &places), .memory = share_pool_new(&memory)};
}

static void add_pieces(struct request_body *b, int pieces)
{
	static const char piece[PIECE];
	for (int i = 0; i < pieces; i++)
		assert_int_equal(request_body_add(b, (struct str){piece, PIECE}), PIECE);
}

static void collected_bytes_have_shares(void **state UNUSED)
{
	static const atomic_long idle = 10;
	CLEANUP(release) struct fixture f = make();
	struct request_body *greedy = f.body[0] = open_body(&f, "192.0.2.1", &idle);
	struct request_body *other = f.body[1] = open_body(&f, "192.0.2.2", &idle);
	add_pieces(greedy, PIECES - 1); // alone it may have all
	assert_null(greedy->reply);
	add_pieces(other, 2);
	assert_true(is_ended && !other->reply); // its share is there
}

static void without_room_the_rest_is_discarded(void **state UNUSED)
{
	static const atomic_long busy = 0;
	CLEANUP(release) struct fixture f = make();
	struct request_body *one = f.body[0] = open_body(&f, "192.0.2.1", &busy);
	struct request_body *two = f.body[1] = open_body(&f, "192.0.2.2", &busy);
	add_pieces(one, PIECES - 1);
	add_pieces(two, PIECES);
	assert_int_equal(two->reply->status, 503);
	assert_false(request_body_is_full(two) || two->bytes.room);
	assert_null(one->reply);
	request_body_end(one); // gives its memory back
	assert_int_equal(one->reply->status, 200);
	request_body_free(STEAL_PTR(f.body[1]));
	add_pieces(f.body[1] = open_body(&f, "192.0.2.2", &busy), PIECES - 1);
	assert_null(f.body[1]->reply);
}

static void refused_body_has_the_last_answer(void **state UNUSED)
{
	static const atomic_long busy = 0;
	CLEANUP(release) struct fixture f = make();
	struct request_body *b = f.body[0] = open_body(&f, "192.0.2.1", &busy);
	add_pieces(b, 1);
	request_body_refuse(b, reply_busy("once"));
	request_body_refuse(b, reply_busy("twice"));
	add_pieces(b, 2 * PIECES);
	assert_false(request_body_is_full(b));
	assert_string_equal(b->reply->phrase, "Service Unavailable: twice");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(collected_bytes_have_shares),
		cmocka_unit_test(without_room_the_rest_is_discarded),
		cmocka_unit_test(refused_body_has_the_last_answer),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
