// SPDX-License-Identifier: Apache-2.0
// Has platforms released (lib/state/store/release.h) after what was written to them, whoever wrote it on this machine: some
// seconds after the first change, with all that came meanwhile; and again, later and later, where that fails. A thread a
// platform, so that one whose release hangs holds up no other. Tells log, audit log and health.
#pragma once

#include "server/core/server-context.h"

struct release_scheduler;

enum { RELEASE_SCHEDULER_ERROR = ERR_MSG_SIZE };

struct release_scheduler_state {
	bool is_running;
	unsigned failures;                   // since the last success
	char error[RELEASE_SCHEDULER_ERROR]; // of the last one
	int64_t pending_since;               // seconds since 1970; 0: nothing waits
	int64_t succeeded;                   // the last time; 0: not since the start
};

// What waited when the last server ended goes on.
struct release_scheduler *release_scheduler_start(struct server_context *s);
// After a reload: the platforms may be others.
void release_scheduler_update(struct release_scheduler *r);
// A release under way gets some seconds to end. What waits stays noted. NULL is fine.
void release_scheduler_stop(struct release_scheduler *r);
// False for a platform that nobody releases. Thread-safe, never blocks.
bool release_scheduler_get(struct release_scheduler *r, const struct platform *p, struct release_scheduler_state *out);
