// SPDX-License-Identifier: Apache-2.0
// Uploads: the legacy API that twine, uv, flit, poetry and pdm speak. What it takes and answers is in wheelcache(1).
#pragma once

#include "server/core/server-context.h"

// A receive_fn: call->view is the platform.
struct body_handler *upload_receive(struct server_context *s, const struct route_match *match, struct reply **refusal);
