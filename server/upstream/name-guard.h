// SPDX-License-Identifier: Apache-2.0
// Protects against dependency confusion: decides whether a project's name is ours alone where a view merges with
// upstream.
//
// A name is ours if upstream did not have it when our first file of it arrived (lib/state/upstream/name-owner.h).
// Files that are uploaded upstream under that name later are then not merged. Any thread.
#pragma once

#include "lib/state/upstream/name-owner.h"
#include "lib/state/upstream/upstream.h"
#include "server/core/server-context.h"

// Looks up in the catalog which platforms have the project. Errors: the catalog's.
int name_guard_lookup(struct server_context *s, struct catalog *c, const char *project, struct name_presence *out,
	struct err *e) MUST_CHECK;
// The owner of the name. If the project is here and upstream says that it has none, records the name as ours.
enum name_owner name_guard_owner(struct server_context *s, const struct name_presence *here,
	const struct upstream_answer *upstream);
// Seconds since 1970: an answer of upstream from before then does not decide the owner. 0: any answer does.
int64_t name_guard_since(struct server_context *s, const struct name_presence *here, const char *project);
// Whether this view must not send the name to upstream, because only private platforms have the project. A view
// without these platforms is answered as if the project were not here, if upstream is known to have the name: then it
// is no secret.
bool name_guard_is_hidden(struct server_context *s, struct catalog *c, const struct view *v,
	const struct name_presence *here, const char *project);
// Whether the name is known to be ours, so that a request need not wait for upstream.
bool name_guard_is_ours(struct server_context *s, const char *project);
// Whether the name is recorded as ours, whatever the name rules say. False where no view merges.
bool name_guard_is_recorded(struct server_context *s, const char *project);
// Learns from a new answer of upstream, and warns of a name of ours that upstream has too. An upstream_fn; ctx is the
// server context. Errors: the catalog's.
int name_guard_learn(void *ctx, const struct upstream_answer *upstream, struct err *e);
