// SPDX-License-Identifier: Apache-2.0
// Protects against dependency confusion: decides at which upstreams a project's name is ours alone where a view merges
// them.
//
// A name is ours at an upstream that did not have it when our first file of it arrived
// (lib/state/upstream/name-owner.h). Files that are uploaded there under that name later are then not merged. Any
// thread.
#pragma once

#include "lib/state/upstream/name-owner.h"
#include "lib/state/upstream/upstream.h"
#include "server/core/server-context.h"

// What is decided about a name before upstreams are asked.
struct name_guard {
	struct server_context *context;
	enum name_rule rule;       // of name_rules_admit()
	struct config_order order; // who may be asked; those at which the name is recorded as ours are set aside
	struct name_presence here[LIMIT_UPSTREAMS]; // by upstream
};

// Looks up in the catalog which platforms have the project, and who of the order may be asked for it. An upstream must
// not get a name that only private platforms have, unless it is known to have it: then it is no secret, and a view v
// without these platforms (NULL: any) is answered as if the project were not here. Errors: the catalog's.
int name_guard_begin(struct name_guard *g, struct server_context *s, struct catalog *c, const struct view *v,
	const struct config_order *order, const char *project, struct err *e) MUST_CHECK;
// Seconds since 1970: an answer of an upstream from before then does not decide the owner. 0: any answer does; or the
// clock was set back behind that, so that none would be later.
int64_t name_guard_since(const struct name_guard *g);
// Judges the owner by an answer for the guard's order, and sets aside those at which the name is ours, which it
// records, or that have not said. Returns whether the latter is so of any.
bool name_guard_settle(struct name_guard *g, const struct upstream_answer *answer);
// Learns from a new answer of one upstream, and warns of a name of ours that it has too. An upstream_fn; ctx is the
// server context. Errors: the catalog's.
int name_guard_learn(void *ctx, const struct upstream_answer *upstream, struct err *e);
