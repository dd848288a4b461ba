// SPDX-License-Identifier: Apache-2.0
// Whoever takes the body of a request. server/http/http feeds it while the client sends; one thread at a time, but not
// always the same one. It is embedded in the struct of whoever implements it.
#pragma once

#include "lib/base/str.h"
#include "server/message/reply.h"

struct body_handler {
	const struct body_handler_ops *ops;
};

struct body_handler_ops {
	// The next bytes, in order, on a worker: it may block. NULL: go on. A reply (handed over): that is the answer.
	// What the client still sends is then read and thrown away, so that he reads the answer; end is not called.
	struct reply *(*take)(struct body_handler *r, struct str bytes);
	// The body is whole, on a worker: the answer, never NULL. Handed over.
	struct reply *(*end)(struct body_handler *r);
	// Once, last, on a worker: behind the reply, or where the client went away or the server stops before it.
	void (*free)(struct body_handler *r);
};
