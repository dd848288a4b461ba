// SPDX-License-Identifier: Apache-2.0
#include "server/handlers/packed-reply.h"

struct reply *packed_reply(struct server_context *s, enum page_coding coding, const char *type, const char *policy,
	const struct buf *page, bool is_private)
{
	struct err e = ERR_INIT;
	char etag[PAGE_ETAG_SIZE];
	CLEANUP(buf_release) struct buf packed;
	buf_init(&packed, page->len + (1 << 20));
	if (page_pack(buf_view(page), coding, &packed, &e) < 0)
		return server_context_error(&e);
	page_etag(type, buf_view(&packed), etag);
	struct reply *r = reply_new(200, type, blob_from_buf(&packed));
	server_context_set_freshness(s, r, is_private);
	reply_header(r, "Vary", "Accept, Accept-Encoding");
	reply_header(r, "Content-Security-Policy", "%s", policy);
	reply_header(r, "X-Content-Type-Options", "nosniff");
	if (page_coding_name[coding])
		reply_header(r, "Content-Encoding", "%s", page_coding_name[coding]);
	reply_set_etag(r, etag);
	return r;
}
