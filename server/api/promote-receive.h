// SPDX-License-Identifier: Apache-2.0
// POST /-/promote/VIEW: promotes files into a view, as wheelcache promote does, for a token that has the right promote
// for that view. The function fits route-table.h. The body and the answer are JSON, see wheelcache(1).
#pragma once

#include "server/core/server-context.h"

struct body_handler *promote_receive(struct server_context *s, const struct route_match *match, struct reply **refusal);
