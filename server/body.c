// SPDX-License-Identifier: Apache-2.0
#include "server/body.h"

#include <stdlib.h>

// A byte less than the limit: the buffer adds a NUL, and doubles.
enum { ROOM = LIMIT_BODY_BUFFER - 1 };

struct body *body_new(struct receiver *receiver, struct reply *reply)
{
	struct body *b = xcalloc(1, sizeof(*b));
	b->receiver = receiver;
	b->reply = reply;
	buf_init(&b->bytes, ROOM);
	return b;
}

static void free_receiver(struct body *b)
{
	if (b->receiver)
		b->receiver->ops->free(b->receiver);
	b->receiver = NULL;
}

void body_free(struct body *b)
{
	if (!b)
		return;
	free_receiver(b);
	reply_unref(b->reply);
	buf_release(&b->bytes);
	free(b);
}

size_t body_add(struct body *b, struct str bytes)
{
	size_t room = ROOM - b->bytes.len;
	size_t len = bytes.len < room || !b->receiver ? bytes.len : room;
	if (b->receiver)
		buf_add(&b->bytes, bytes.ptr, len);
	else
		b->discarded += len;
	b->counted += len;
	return len;
}

bool body_is_full(const struct body *b)
{
	return b->bytes.len == ROOM;
}

bool body_is_hopeless(const struct body *b)
{
	return b->discarded > LIMIT_BODY_DISCARDED;
}

bool body_has_progress(struct body *b)
{
	if (b->counted < LIMIT_BODY_PROGRESS)
		return false;
	b->counted = 0;
	return true;
}

struct reply *body_reply(const struct body *b)
{
	return b->must_close ? reply_closing(b->reply) : reply_ref(b->reply);
}

static void settle(struct body *b, struct reply *reply)
{
	b->reply = reply;
	if (reply)
		free_receiver(b);
}

void body_feed(struct body *b)
{
	if (b->receiver && b->bytes.len)
		settle(b, b->receiver->ops->take(b->receiver, buf_view(&b->bytes)));
	buf_clear(&b->bytes);
}

void body_end(struct body *b)
{
	body_feed(b);
	if (b->receiver)
		settle(b, b->receiver->ops->end(b->receiver));
}
