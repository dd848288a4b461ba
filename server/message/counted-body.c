// SPDX-License-Identifier: Apache-2.0
#include "server/message/counted-body.h"

#include <stdlib.h>
#include <string.h>

struct counted_body {
	struct stream stream; // first
	struct blob *body;
	_Atomic uint64_t *counter;
};

static ssize_t read_counted(struct stream *s, uint64_t at, char *out, size_t room)
{
	struct str bytes = blob_view(((struct counted_body *)s)->body);
	if (at >= bytes.len)
		return -1;
	size_t len = bytes.len - at < room ? bytes.len - (size_t)at : room;
	memcpy(out, bytes.ptr + at, len);
	return (ssize_t)len;
}

// read_counted() never returns 0.
static void await_counted(struct stream *s UNUSED, uint64_t at UNUSED, struct continuation *w)
{
	w->resume(w);
}

// The reply has the only reference.
static void unref_counted(struct stream *s)
{
	struct counted_body *b = (struct counted_body *)s;
	atomic_fetch_sub(b->counter, blob_view(b->body).len);
	blob_unref(b->body);
	free(b);
}

struct reply *counted_body_reply(const char *type, struct buf *body, _Atomic uint64_t *counter)
{
	static const struct stream_ops counted_ops = {
		.read = read_counted, .await = await_counted, .unref = unref_counted};
	struct counted_body *b = xcalloc(1, sizeof(*b));
	uint64_t length = body->len;
	b->stream.ops = &counted_ops;
	b->body = blob_from_buf(body);
	b->counter = counter;
	atomic_fetch_add(counter, length);
	return reply_stream(200, type, &b->stream, length);
}
