// SPDX-License-Identifier: Apache-2.0
// A request's body on its way to its handler: the event loop collects a bounded part, a worker feeds it to the
// handler, and so on. Never both at once: whoever owns it hands it over.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/buf.h"
#include "lib/base/limits.h"
#include "server/http/worker-pools.h"
#include "server/message/body-handler.h"
#include "server/message/request-check.h"

struct request_body {
	struct body_handler *handler; // owned; NULL: there is nothing to feed any more
	struct reply *reply;          // owned; the answer, once it is known
	struct buf bytes;             // collected
	struct worker_pool *pool;     // whose workers have it; while it has a handler it is one of its guests
	bool must_close;              // the connection, behind the answer
	size_t discarded;
	size_t counted; // towards LIMIT_BODY_PROGRESS
};

typedef struct body_handler *request_body_receive_fn(void *ctx, struct request *r, struct reply **refusal);

// Asks who takes the body, unless the pool has most of them already. NULL: nobody does, and *refusal (handed over) is
// to be sent at once. Where nobody does and the client did not ask, the body is thrown away first.
struct request_body *request_body_open(struct worker_pool *pool, unsigned most, request_body_receive_fn *receive,
	void *ctx, struct request *r, const struct request_check *s, struct reply **refusal);
// NULL is fine. On a worker, where it has a handler still.
void request_body_free(struct request_body *b);

// --- on the event loop ---

// Takes as many bytes as there is room for, and says how many.
size_t request_body_add(struct request_body *b, struct str bytes);
bool request_body_is_full(const struct request_body *b);
// Whether more was thrown away than we read for politeness.
bool request_body_is_past_limit(const struct request_body *b);
// Whether another LIMIT_BODY_PROGRESS bytes came since it last said so.
bool request_body_has_progress(struct request_body *b);

// The answer, where it is known; to be dropped by the caller.
struct reply *request_body_reply(const struct request_body *b);

// --- on a worker ---

// Feeds what was collected; the handler is freed as soon as there is a reply.
void request_body_feed(struct request_body *b);
// Feeds the rest, and ends: there is a reply.
void request_body_end(struct request_body *b);
