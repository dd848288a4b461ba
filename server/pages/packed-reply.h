// SPDX-License-Identifier: Apache-2.0
// The reply with a page or document that is made for a request: compressed as the client accepts, with an ETag that saves
// the bytes of an unchanged one. Any thread.
#pragma once

#include "server/core/server-context.h"
#include "server/message/negotiate.h"

// 200 with the page, or the answer to the error. type: Content-Type. policy: Content-Security-Policy. The bytes of the page
// are taken over. is_private: shared caches must not keep it. The caller drops the reply.
struct reply *packed_reply(struct server_context *s, enum page_coding coding, const char *type, const char *policy,
	struct buf *page, bool is_private);
// The answer to a page that could not be made: where its buffer got no memory, a 503.
struct reply *packed_reply_failed(const struct buf *page, const struct err *e);

// A page or document that takes long to make. The page cache keeps it for a multiple of that time, 3 to 60 seconds.
struct costly_page {
	const struct page_key *key; // NULL: it is for this client alone, and not kept
	enum page_coding coding;
	const char *type, *policy; // as of packed_reply()
	bool is_private;
	const char *path, *name; // for the log of an error: "/-/missing/", "ubuntu-24.04-x86_64"
	const struct buf *link;  // make writes the header Link into it; NULL or empty: there is none
	size_t most;             // bytes
};
// 0: the page is in out; 1: there is nothing to show.
typedef int packed_reply_make_fn(struct server_context *s, struct catalog *c, const void *query, struct buf *out,
	struct err *e);
// The reply from the page cache, or made by make, once for all threads that want it now. The caller drops the reply. NULL:
// there is nothing to show, and another answer is the caller's.
struct reply *packed_reply_costly(struct server_context *s, struct catalog *c, const struct costly_page *p,
	const struct route_match *match, packed_reply_make_fn *make, const void *query);
