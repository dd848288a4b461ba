// SPDX-License-Identifier: Apache-2.0
#include "server/http/request-body.h"

#include <stdlib.h>

enum {
	ROOM = LIMIT_BODY_BUFFER - 1, // struct buf adds a NUL, and doubles its size
	BUSY_SECONDS = 5,             // in Retry-After
};

static void free_handler(struct request_body *b)
{
	if (b->handler)
		b->handler->ops->free(b->handler);
	b->handler = NULL;
	share_give(b->places, &b->place);
	share_give(b->memory, &b->kept);
}

void request_body_leave(struct request_body *b)
{
	if (!b)
		return;
	share_give(b->places, &b->place);
	share_keep(b->memory, &b->kept);
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

static struct reply *make_full_reply(void)
{
	struct reply *r = reply_text(503, "503 Service Unavailable: too many uploads are under way there; try again");
	reply_header(r, "Retry-After", "%d", BUSY_SECONDS);
	return r;
}

// What a handler keeps is counted in the same names.
static bool take_place(struct request_body *b, const struct request_body_source *source, const char *peer)
{
	b->place.owner = b->kept.owner = source->owner;
	b->place.idle_since = b->kept.idle_since = source->idle_since;
	b->handler->memory = b->memory;
	b->handler->kept = &b->kept;
	return share_take(b->places, &b->place, peer, b->handler->token, 1) &&
	       share_take(b->memory, &b->kept, peer, b->handler->token, 0);
}

struct request_body *request_body_open(const struct request_body_source *source, struct request *r,
	const struct request_check *s, struct reply **refusal)
{
	struct request_body *b = xcalloc(1, sizeof(*b));
	b->pool = source->pool;
	b->places = worker_pool_places(source->pool);
	b->memory = source->memory;
	buf_init(&b->bytes, ROOM);
	b->handler = source->receive(source->ctx, r, refusal);
	if (b->handler && !take_place(b, source, r->peer)) {
		free_handler(b);
		*refusal = make_full_reply();
	}
	b->must_close = !b->handler || s->codings;
	// An answer before the end of the body closes the connection, and bytes that still arrive then reset it, so
	// that the client may never see the answer. So the server reads the body first, unless the client sent Expect,
	// or the body is long or of unknown length.
	if (!b->handler && (r->method != METHOD_POST || s->expects || s->codings || !s->has_body ||
				   request_content_length(r) > LIMIT_BODY_DISCARDED)) {
		request_body_free(b);
		return NULL;
	}
	b->reply = b->handler ? NULL : *refusal;
	return b;
}

static void release_collected(struct request_body *b)
{
	buf_release(&b->bytes);
	buf_init(&b->bytes, ROOM);
}

// What waits for the handler is memory as what it keeps.
static bool count_collected(struct request_body *b)
{
	size_t more = b->bytes.room - b->collected;
	b->collected = b->bytes.room;
	return !more || share_take(b->memory, &b->kept, NULL, NULL, more);
}

size_t request_body_add(struct request_body *b, struct str bytes)
{
	size_t room = ROOM - b->bytes.len;
	bool is_kept = b->handler && !b->is_refused;
	size_t len = bytes.len < room || !is_kept ? bytes.len : room;
	if (is_kept)
		buf_add(&b->bytes, bytes.ptr, len);
	else
		b->discarded += len;
	if (is_kept && !count_collected(b))
		request_body_refuse(b, make_full_reply());
	b->counted += len;
	return len;
}

void request_body_refuse(struct request_body *b, struct reply *reply)
{
	reply_unref(b->reply);
	b->reply = reply;
	b->is_refused = true;
	release_collected(b);
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
	if (!b->handler) // nothing is collected any more
		release_collected(b);
}

void request_body_end(struct request_body *b)
{
	request_body_feed(b);
	if (b->handler)
		set_reply(b, b->handler->ops->end(b->handler));
}
