// SPDX-License-Identifier: Apache-2.0
#include "server/http/request-body.h"

#include <stdlib.h>

enum {
	ROOM = LIMIT_BODY_BUFFER - 1, // struct buf adds a NUL, and doubles its size
	BUSY_SECONDS = 5,             // in Retry-After
};

static struct body_handler *find_handler(struct worker_pool *pool, unsigned most, request_body_receive_fn *receive,
	void *ctx, struct request *r, struct reply **refusal)
{
	if (!worker_pool_enter(pool, most)) {
		*refusal = reply_text(503, "503 Service Unavailable: %u uploads are under way there; try again", most);
		reply_header(*refusal, "Retry-After", "%d", BUSY_SECONDS);
		return NULL;
	}
	struct body_handler *handler = receive(ctx, r, refusal);
	if (!handler)
		worker_pool_leave(pool);
	return handler;
}

// An answer before the end of the body closes the connection, and bytes that still arrive then reset it, so that the
// client may never see the answer. So the server reads the body first, unless the client sent Expect, or the body is
// long or of unknown length.
static bool is_refused_at_once(const struct request *r, const struct request_check *s)
{
	return r->method != METHOD_POST || s->expects || s->codings || !s->has_body ||
	       request_content_length(r) > LIMIT_BODY_DISCARDED;
}

struct request_body *request_body_open(struct worker_pool *pool, unsigned most, request_body_receive_fn *receive,
	void *ctx, struct request *r, const struct request_check *s, struct reply **refusal)
{
	struct body_handler *handler = find_handler(pool, most, receive, ctx, r, refusal);
	if (!handler && is_refused_at_once(r, s))
		return NULL;
	struct request_body *b = xcalloc(1, sizeof(*b));
	b->pool = pool;
	b->handler = handler;
	b->reply = handler ? NULL : *refusal;
	b->must_close = !handler || s->codings;
	buf_init(&b->bytes, ROOM);
	return b;
}

static void free_handler(struct request_body *b)
{
	if (!b->handler)
		return;
	b->handler->ops->free(b->handler);
	b->handler = NULL;
	worker_pool_leave(b->pool);
}

void request_body_free(struct request_body *b)
{
	if (!b)
		return;
	free_handler(b);
	reply_unref(b->reply);
	buf_release(&b->bytes);
	free(b);
}

size_t request_body_add(struct request_body *b, struct str bytes)
{
	size_t room = ROOM - b->bytes.len;
	size_t len = bytes.len < room || !b->handler ? bytes.len : room;
	if (b->handler)
		buf_add(&b->bytes, bytes.ptr, len);
	else
		b->discarded += len;
	b->counted += len;
	return len;
}

bool request_body_is_full(const struct request_body *b)
{
	return b->bytes.len == ROOM;
}

bool request_body_is_past_limit(const struct request_body *b)
{
	return b->discarded > LIMIT_BODY_DISCARDED;
}

bool request_body_has_progress(struct request_body *b)
{
	if (b->counted < LIMIT_BODY_PROGRESS)
		return false;
	b->counted = 0;
	return true;
}

struct reply *request_body_reply(const struct request_body *b)
{
	return b->must_close ? reply_closing(b->reply) : reply_ref(b->reply);
}

static void set_reply(struct request_body *b, struct reply *reply)
{
	b->reply = reply;
	if (reply)
		free_handler(b);
}

void request_body_feed(struct request_body *b)
{
	if (b->handler && b->bytes.len)
		set_reply(b, b->handler->ops->take(b->handler, buf_view(&b->bytes)));
	buf_clear(&b->bytes);
}

void request_body_end(struct request_body *b)
{
	request_body_feed(b);
	if (b->handler)
		set_reply(b, b->handler->ops->end(b->handler));
}
