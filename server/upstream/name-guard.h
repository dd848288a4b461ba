// SPDX-License-Identifier: Apache-2.0
// Whose a project's name is where views merge (lib/state/upstream/name-owner.h): ours alone, if upstream did not know it when our first
// file of it came, so that nobody who registers it there later slips his files in under it. Any thread.
#pragma once

#include "lib/state/upstream/name-owner.h"
#include "lib/state/upstream/upstream.h"
#include "server/core/server-context.h"

// Which platforms have the project, as the catalog knows.
int name_guard_look(struct server_context *s, struct catalog *c, const char *project, struct name_presence *out,
	struct err *e) MUST_CHECK;
// Whose it is; ours from now on, where upstream says that it does not know it, and it is here.
enum name_owner name_guard_judge(struct server_context *s, const struct name_presence *here,
	const struct upstream_answer *upstream);
// What upstream has to have said since; 0: whatever it said.
int64_t name_guard_since(struct server_context *s, const struct name_presence *here, const char *project);
// Whether upstream is not to hear the name from this view: only private platforms have the project. A view that does not have
// it is answered as if it were not there, where upstream is known to have the name, which is no secret then.
bool name_guard_is_hidden(struct server_context *s, struct catalog *c, const struct view *v,
	const struct name_presence *here, const char *project);
// Whether it is known to be ours, so that nobody needs to wait for what upstream says now.
bool name_guard_is_known(struct server_context *s, const char *project);
// Whether it was first here, whatever the rules say; false where nothing merges.
bool name_guard_is_noted(struct server_context *s, const char *project);
// Learns from what upstream has just said: an upstream_fn, ctx is the server context. A name of ours that upstream has is told.
int name_guard_learn(void *ctx, const struct upstream_answer *upstream, struct err *e);
