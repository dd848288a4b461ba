// SPDX-License-Identifier: Apache-2.0
// Files of upstream under URLs of ours, /files/upstream/<project>/<file>, which stay: lock files hold them. They come from the
// depot, or from upstream by way of it.
#pragma once

#include "server/service.h"

// The work half of such a file, and of its .metadata (PEP 658). The quick half is that of all files.
struct reply *proxy_work(struct service *s, struct catalog *c, const struct call *call);
