// SPDX-License-Identifier: Apache-2.0
// From a request to its handler: finds the row of route-table.c, checks the right that the row needs, calls the
// handler, and does what all answers have in common: conditions, ranges, the slash at the end of a path.
//
// The functions fit struct http_options; ctx is the struct server_context. The caller drops the replies. Any thread.
#pragma once

#include "server/message/body-handler.h"

// On the event loop, for GET and HEAD; does not block. Sets request->metric. NULL: routes_worker() has the answer.
struct reply *routes_inline(void *ctx, struct request *request);
// On a worker thread. NULL: the handler keeps continuation, and resumes it when routes_worker() is to be called again.
struct reply *routes_worker(void *ctx, const struct request *request, struct continuation *continuation);
// On the event loop, for all other methods; does not block. Sets request->metric. Returns what takes the body, for
// the caller to free; NULL: *refusal is the answer.
struct body_handler *routes_receive(void *ctx, struct request *request, struct reply **refusal);
// The name of the request's token, which the caller frees; NULL: it has none that is known.
char *routes_token(void *ctx, const struct request *request);
// The number of the worker pool for the request, see worker_pools_pick(). Files and uploads have a pool for each
// platform: a volume that hangs delays neither pages nor other platforms.
unsigned routes_pool(void *ctx, const struct request *request);
