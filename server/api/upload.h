// SPDX-License-Identifier: Apache-2.0
// Uploads: the legacy API that twine, uv, flit, poetry and pdm use. wheelcache(1), "UPLOADS", says what it takes and
// answers.
#pragma once

#include "server/core/server-context.h"

// A receive_fn, on the event loop; match->view is the platform. It checks the token, and writes the audit log. http
// frees the body handler, whose functions run on worker threads, one at a time.
struct body_handler *upload_receive(struct server_context *s, const struct route_match *match, struct reply **refusal);
