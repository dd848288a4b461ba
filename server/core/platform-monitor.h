// SPDX-License-Identifier: Apache-2.0
// Keeps an eye on the platforms: whether they are frozen, and how full their quotas are. Tells the log when that
// changes, and health how it is. In a thread of its own, since a volume may hang: then what was seen last stays.
#pragma once

#include "server/core/server-context.h"

enum { VIGIL_REASON = 256 };

struct vigil;

struct vigil_state {
	bool is_frozen;
	char reason[VIGIL_REASON]; // why, cut at its end
	unsigned quota_percent;    // quota_percent()
};

struct vigil *vigil_start(struct service *s);
void vigil_stop(struct vigil *v); // NULL is fine
// What was seen last of the platform of this name; false where it was not looked at yet. Thread-safe, never blocks.
bool vigil_get(struct vigil *v, const char *platform, struct vigil_state *out);
