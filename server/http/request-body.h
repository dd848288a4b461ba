// SPDX-License-Identifier: Apache-2.0
// The body of a request on its way to its handler. The event loop collects a bounded part, then a worker passes that to
// the handler, and so on in turns: one thread at a time.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/buf.h"
#include "lib/base/limits.h"
#include "server/http/worker-pools.h"
#include "server/message/body-handler.h"
#include "server/message/request.h"

struct request_body {
	struct body_handler *handler; // owned; NULL: the body is discarded
	struct reply *reply;          // owned; the answer; NULL: not known yet
	struct buf bytes;             // collected, not yet passed on
	struct worker_pool *pool;     // whose workers run the handler
	struct share_pool *places;    // where there is a handler, the body has a place in the pool,
	struct share_part place;
	struct share_pool *memory;    // and this memory
	struct share_part kept;
	bool must_close;              // the connection, after the answer
	bool is_refused;              // by request_body_refuse()
	size_t discarded;             // bytes
	size_t collected;             // memory of bytes that is counted in kept
	size_t counted;               // bytes, towards LIMIT_BODY_PROGRESS
};

typedef struct body_handler *request_body_receive_fn(void *ctx, struct request *r, struct reply **refusal);

// Where bodies come from, and what they use.
struct request_body_source {
	struct worker_pool *pool;
	struct share_pool *memory;
	request_body_receive_fn *receive;
	void *ctx;
	void *owner;                   // as in struct share_part
	const atomic_long *idle_since; // the same
};

// Calls receive for a handler, and finds room for the body. NULL: the caller sends *refusal, which it owns then, at
// once. Where the request is refused but the client did not send Expect, returns a body that is discarded first. The
// caller frees the result.
struct request_body *request_body_open(const struct request_body_source *source, struct request *r,
	const struct request_check *s, struct reply **refusal);
// The client is gone: gives its place back. What it keeps counts until request_body_free(). NULL is fine.
void request_body_leave(struct request_body *b);
// On a worker, if it still has a handler. NULL is fine.
void request_body_free(struct request_body *b);

// --- on the event loop ---

// Collects as many bytes as there is room for, and returns how many. Where there is no memory for them, the body is
// refused.
size_t request_body_add(struct request_body *b, struct str bytes);
// The rest of the body is discarded, and reply, which is taken over, is the answer.
void request_body_refuse(struct request_body *b, struct reply *reply);
bool request_body_is_full(const struct request_body *b);
// Whether more than LIMIT_BODY_DISCARDED bytes were discarded: the caller closes the connection.
bool request_body_is_past_limit(const struct request_body *b);
// Whether LIMIT_BODY_PROGRESS bytes have arrived since it was true the last time.
bool request_body_has_progress(struct request_body *b);

// A reference to the answer, which must be known.
struct reply *request_body_reply(const struct request_body *b);

// --- on a worker ---

// Passes the collected bytes to the handler. Frees the handler when it has replied.
void request_body_feed(struct request_body *b);
// Passes the rest and ends the body. Afterwards the answer is known.
void request_body_end(struct request_body *b);
