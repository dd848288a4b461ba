// SPDX-License-Identifier: Apache-2.0
// The interface of a handler of request bodies. server/http/request-body calls it on worker threads while the body
// arrives: one thread at a time, but not always the same one. A handler embeds the struct in its own.
#pragma once

#include "lib/base/str.h"
#include "server/message/reply.h"

struct body_handler {
	const struct body_handler_ops *ops;
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
