// SPDX-License-Identifier: Apache-2.0
// Whose a project's name is where views merge: ours alone, if upstream did not know it when we had it (lib/state/ours), so
// that nobody who registers it there later slips his files in under it. Any thread.
#pragma once

#include "lib/state/upstream.h"
#include "server/service.h"

// Whether it is ours alone; it is from now on, where upstream says that it does not know it, and it is here.
bool owned_is(struct service *s, const struct upstream_answer *upstream);
// Whether it is known to be, so that nobody needs to wait for what upstream says now.
bool owned_is_known(struct service *s, const char *project);
// Whether it was first here, whatever the rules say; false where nothing merges.
bool owned_is_noted(struct service *s, const char *project);
// Learns from what upstream has just said: an upstream_fn, ctx is the service. A name of ours that upstream has is told.
int owned_learn(void *ctx, const struct upstream_answer *upstream, struct err *e);
