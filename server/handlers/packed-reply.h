// SPDX-License-Identifier: Apache-2.0
// The reply with a page or document that is made for a request: compressed as the client accepts, with an ETag that saves
// the bytes of an unchanged one. Any thread.
#pragma once

#include "server/core/server-context.h"
#include "server/message/negotiate.h"

// 200 with the page, or the answer to the error. type: Content-Type. policy: Content-Security-Policy. is_private: shared
// caches must not keep it. sending: counts the bytes that are being sent; beyond LIMIT_PAGES_SENT the answer is 503. NULL:
// not counted, and the reply may be kept for other clients. The caller drops the reply.
struct reply *packed_reply(struct server_context *s, enum page_coding coding, const char *type, const char *policy,
	const struct buf *page, bool is_private, _Atomic uint64_t *sending);
