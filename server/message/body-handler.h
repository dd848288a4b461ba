// SPDX-License-Identifier: Apache-2.0
// The interface of a handler of request bodies. server/http/request-body calls it on worker threads while the body
// arrives: one thread at a time, but not always the same one. A handler embeds the struct in its own.
#pragma once

#include "lib/base/str.h"
#include "server/message/reply.h"
#include "server/message/share.h"

struct body_handler {
	const struct body_handler_ops *ops;
	const char *token; // name of the sender's token, valid while the handler lives; NULL: unknown. Set by its maker
	// What it keeps in memory, see body_handler_keep(). Set by server/http/request-body.
	struct share_pool *memory;
	struct share_part *kept; // NULL: it is not counted
};

struct body_handler_ops {
	// Takes the next bytes, in order. May block. NULL: the handler wants more. A reply, which the caller drops,
	// ends the handling: the server discards the rest of the body, so that the client reads the answer, and does
	// not call end.
	struct reply *(*take)(struct body_handler *r, struct str bytes);
	// The body is complete. May block. Returns the answer, never NULL, which the caller drops.
	struct reply *(*end)(struct body_handler *r);
	// Called once, as the last one: after the reply, or when the client disconnects or the server stops before.
	void (*free)(struct body_handler *r);
};

// Counts further bytes of the body that the handler keeps in memory until it is freed. All bodies on their way have
// LIMIT_BODIES_ARRIVING together. False: there is no room; the handler replies with ERR_BUSY.
static inline bool body_handler_keep(struct body_handler *r, uint64_t bytes)
{
	return !r->kept || share_take(r->memory, r->kept, NULL, NULL, bytes);
}
