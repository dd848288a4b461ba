// SPDX-License-Identifier: Apache-2.0
// POST /-/yank/: yanks or unyanks files, as the commands do, for a token that has the right yank for all of them; else none
// is. The function fits route-table.h. The body and the answer are JSON, see wheelcache(1).
#pragma once

#include "server/core/server-context.h"

struct body_handler *yank_receive(struct server_context *s, const struct route_match *match, struct reply **refusal);
