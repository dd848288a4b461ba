// SPDX-License-Identifier: Apache-2.0
// The files of the store under their URLs, and the METADATA of wheels beside them (PEP 658).
#pragma once

#include "server/core/server-context.h"

struct reply *files_quick(struct service *s, const struct call *call);
struct reply *files_work(struct service *s, struct catalog *c, const struct call *call);
// Keeps a reply for the quick half, for so many seconds.
void files_keep(struct service *s, const struct call *call, struct reply *r, unsigned seconds);
