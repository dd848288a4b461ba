// SPDX-License-Identifier: Apache-2.0
// Schedules the release of platforms (lib/state/store/release.h) after writes by any process of this machine: some
// seconds after the first change, one release for all changes, and again with growing pauses where it fails. Each
// platform has a thread, so that a release that hangs delays no other one. Reports to the log, the audit log and
// /-/health.
//
// One thread calls start, update and stop.
#pragma once

#include "server/core/server-context.h"

struct release_scheduler;

enum { RELEASE_SCHEDULER_ERROR = ERR_MSG_SIZE };

struct release_scheduler_state {
	bool is_running;
	unsigned failures;                   // since the last success
	char error[RELEASE_SCHEDULER_ERROR]; // of the last failure
	int64_t pending_since;               // seconds since 1970; 0: no release is pending
	int64_t succeeded;                   // seconds since 1970, of the last success; 0: none since the start
};

// Also releases what was pending when the last server ended. s is borrowed until the stop.
struct release_scheduler *release_scheduler_start(struct server_context *s);
// Adds the platforms of a new site, after a reload.
void release_scheduler_update(struct release_scheduler *r);
// Waits some seconds for a release under way. Pending releases stay recorded. NULL is fine.
void release_scheduler_stop(struct release_scheduler *r);
// False for a platform without release. Any thread. Does not wait for releases.
bool release_scheduler_get(struct release_scheduler *r, const struct platform *p, struct release_scheduler_state *out);
