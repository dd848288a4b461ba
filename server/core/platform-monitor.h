// SPDX-License-Identifier: Apache-2.0
// Watches the platforms in a thread: whether they are frozen, and how much of their quotas is used. Logs changes, and
// shows the state to /-/health. While a volume hangs, the last state stays. One thread calls start and stop.
#pragma once

#include "server/core/server-context.h"

enum { PLATFORM_MONITOR_REASON = 256 };

struct platform_monitor;

struct platform_monitor_state {
	bool is_frozen;
	char reason[PLATFORM_MONITOR_REASON]; // text of the mark, perhaps cut at its end
	unsigned quota_percent;               // quota_percent()
};

// s is borrowed until the stop.
struct platform_monitor *platform_monitor_start(struct server_context *s);
void platform_monitor_stop(struct platform_monitor *m); // NULL is fine
// The last state of a platform; false: not checked yet. Any thread. Does not wait for volumes.
bool platform_monitor_get(struct platform_monitor *m, const char *platform, struct platform_monitor_state *out);
