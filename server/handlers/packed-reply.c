// SPDX-License-Identifier: Apache-2.0
#include "server/handlers/packed-reply.h"

#include "lib/base/limits.h"
#include "server/message/counted-body.h"

static struct reply *reply_too_much(void)
{
	struct reply *r = reply_text(503, "503 Service Unavailable: too many pages are being sent; ask again");
	reply_header(r, "Cache-Control", "no-store");
	reply_header(r, "Retry-After", "%d", LIMIT_RETRY_AFTER);
	return r;
}

struct reply *packed_reply(struct server_context *s, enum page_coding coding, const char *type, const char *policy,
	const struct buf *page, bool is_private, _Atomic uint64_t *sending)
{
	struct err e = ERR_INIT;
	char etag[PAGE_ETAG_SIZE];
	CLEANUP(buf_release) struct buf packed;
	buf_init(&packed, page->len + (1 << 20));
	if (page_pack(buf_view(page), coding, &packed, &e) < 0)
		return server_context_error(&e);
	page_etag(type, buf_view(&packed), etag);
	uint64_t others = sending ? atomic_load(sending) : 0;
	if (others && others + packed.len > LIMIT_PAGES_SENT)
		return reply_too_much();
	struct reply *r =
		sending ? counted_body_reply(type, &packed, sending) : reply_new(200, type, blob_from_buf(&packed));
	server_context_set_freshness(s, r, is_private);
	reply_header(r, "Vary", "Accept, Accept-Encoding");
	reply_header(r, "Content-Security-Policy", "%s", policy);
	reply_header(r, "X-Content-Type-Options", "nosniff");
	if (page_coding_name[coding])
		reply_header(r, "Content-Encoding", "%s", page_coding_name[coding]);
	reply_set_etag(r, etag);
	return r;
}
