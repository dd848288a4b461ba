// SPDX-License-Identifier: Apache-2.0
// Uploads: the legacy API that twine, uv, flit, poetry and pdm speak. What it takes and answers is in wheelcache(1).
#pragma once

#include "server/core/server-context.h"

// A receive_fn: call->view is the platform.
struct receiver *upload_receive(struct service *s, const struct call *call, struct reply **refusal);
