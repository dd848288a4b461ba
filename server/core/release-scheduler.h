// SPDX-License-Identifier: Apache-2.0
// Has platforms released (lib/state/store/release.h) after what was written to them, whoever wrote it on this machine: some
// seconds after the first change, with all that came meanwhile; and again, later and later, where that fails. A thread a
// platform, so that one whose release hangs holds up no other. Tells log, audit log and health.
#pragma once

#include "server/core/server-context.h"

struct releaser;

enum { RELEASER_ERROR = ERR_MSG_SIZE };

struct releaser_state {
	bool is_running;
	unsigned failures;           // since the last success
	char error[RELEASER_ERROR];  // of the last one
	int64_t pending_since;       // seconds since 1970; 0: nothing waits
	int64_t succeeded;           // the last time; 0: not since the start
};

// What waited when the last server ended goes on.
struct releaser *releaser_start(struct service *s);
// After a reload: the platforms may be others.
void releaser_look_around(struct releaser *r);
// A release under way gets some seconds to end. What waits stays noted. NULL is fine.
void releaser_stop(struct releaser *r);
// False for a platform that nobody releases. Thread-safe, never blocks.
bool releaser_get(struct releaser *r, const struct platform *p, struct releaser_state *out);
