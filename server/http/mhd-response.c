// SPDX-License-Identifier: Apache-2.0
#include "server/http/mhd-response.h"

#include <microhttpd.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "server/http/mhd-workarounds.h"

static void unref_blob(void *blob)
{
	blob_unref(blob);
}

static void destroy_prepared(void *prepared)
{
	MHD_destroy_response(prepared);
}

static struct MHD_Response *require_response(struct MHD_Response *m)
{
	if (!m)
		abort(); // out of memory
	return m;
}

static struct MHD_Response *prepare_body(const struct reply *r)
{
	if (!r->body || r->length == 0)
		return require_response(MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT));
	// libmicrohttpd only reads the bytes, but its parameter is not const.
	union {
		const char *ours;
		void *theirs;
	} bytes = {.ours = blob_view(r->body).ptr + r->offset};
	return require_response(MHD_create_response_from_buffer_with_free_callback_cls((size_t)r->length, bytes.theirs,
		unref_blob, blob_ref(r->body)));
}

static struct MHD_Response *add_headers(struct MHD_Response *m, const struct reply *r)
{
	if (r->type)
		MHD_add_response_header(m, MHD_HTTP_HEADER_CONTENT_TYPE, r->type);
	if (r->etag[0])
		MHD_add_response_header(m, MHD_HTTP_HEADER_ETAG, r->etag);
	for (unsigned i = 0; i < r->header_count; i++)
		MHD_add_response_header(m, r->header[i].name, r->header[i].value);
	return m;
}

// Made when the reply is sent for the first time, and kept with the reply, so that a page that is sent again needs no
// formatting. Several event loops may make one at once; the first is kept. prepared_free is set by the loop whose
// response is kept, which still has its reference to the reply: reply_unref() sees it.
static struct MHD_Response *prepare_response(struct reply *r)
{
	void *kept = atomic_load_explicit(&r->prepared, memory_order_acquire);
	if (kept)
		return kept;
	struct MHD_Response *mine = add_headers(prepare_body(r), r);
	if (!atomic_compare_exchange_strong(&r->prepared, &kept, mine)) {
		MHD_destroy_response(mine);
		return kept;
	}
	r->prepared_free = destroy_prepared;
	return mine;
}

static void resume_connection(struct continuation *w)
{
	connection_resume(connection_of_continuation(w));
}

static ssize_t read_stream(void *ctx, uint64_t at, char *out, size_t room)
{
	struct connection *c = ctx;
	struct stream *s = c->reply->stream;
	ssize_t n = s->ops->read(s, at, out, room);
	if (n > 0)
		return n;
	if (n < 0 || atomic_load_explicit(&c->link.has_left, memory_order_relaxed) ||
		!connections_suspend(c->connections, &c->link))
		return MHD_CONTENT_READER_END_WITH_ERROR;
	MHD_suspend_connection(c->mhd);
	c->continuation.resume = resume_connection;
	s->ops->await(s, at, &c->continuation);
	return 0;
}

static struct MHD_Response *prepare_stream(struct connection *c)
{
	return require_response(MHD_create_response_from_callback(c->reply->length, ANSWERS_STREAM_BLOCK, read_stream, c,
		NULL));
}

bool mhd_response_queue(struct connection *c)
{
	struct reply *r = c->reply;
	bool is_last = connections_is_draining(c->connections);
	mhd_workarounds_set_phrase(r->status, r->phrase);
	if (!r->stream && !is_last)
		return MHD_queue_response(c->mhd, r->status, prepare_response(r)) == MHD_YES;
	struct MHD_Response *m = add_headers(r->stream ? prepare_stream(c) : prepare_body(r), r);
	if (is_last)
		MHD_add_response_header(m, MHD_HTTP_HEADER_CONNECTION, "close");
	enum MHD_Result result = MHD_queue_response(c->mhd, r->status, m);
	MHD_destroy_response(m);
	return result == MHD_YES;
}
