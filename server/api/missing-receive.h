// SPDX-License-Identifier: Apache-2.0
// POST /-/missing/PLATFORM: what is missing if wheels that are to be rebuilt were not there. The body is a document of
// `wheelcache rebuilds --json`. A builder asks it; as for a build result, it needs the right to upload to the platform. The
// function fits route-table.h.
#pragma once

#include "server/core/server-context.h"

struct body_handler *missing_receive(struct server_context *s, const struct route_match *match, struct reply **refusal);
