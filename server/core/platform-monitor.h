// SPDX-License-Identifier: Apache-2.0
// Keeps an eye on the platforms: whether they are frozen, and how full their quotas are. Tells the log when that
// changes, and health how it is. In a thread of its own, since a volume may hang: then what was seen last stays.
#pragma once

#include "server/core/server-context.h"

enum { PLATFORM_MONITOR_REASON = 256 };

struct platform_monitor;

struct platform_monitor_state {
	bool is_frozen;
	char reason[PLATFORM_MONITOR_REASON]; // why, cut at its end
	unsigned quota_percent;               // quota_percent()
};

struct platform_monitor *platform_monitor_start(struct server_context *s);
void platform_monitor_stop(struct platform_monitor *m); // NULL is fine
// What was seen last of the platform of this name; false where it was not looked at yet. Thread-safe, never blocks.
bool platform_monitor_get(struct platform_monitor *m, const char *platform, struct platform_monitor_state *out);
