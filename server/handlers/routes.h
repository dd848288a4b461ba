// SPDX-License-Identifier: Apache-2.0
// The routes: one table of patterns and their handlers. Also what every answer has in common: conditions, ranges,
// the slash at the end. ctx is the struct server_context. They fit struct http_options.
#pragma once

#include "server/message/body-handler.h"

struct reply *routes_inline(void *ctx, const struct request *request);
struct reply *routes_worker(void *ctx, const struct request *request, struct continuation *continuation);
struct body_handler *routes_receive(void *ctx, const struct request *request, struct reply **refusal);
// Files, and uploads, have lanes of their own, a platform one: a volume that hangs holds up neither pages nor the
// others. So has what costs more than a look-up.
unsigned routes_lane(void *ctx, const struct request *request);
