// SPDX-License-Identifier: Apache-2.0
// The oddities of a wheel's members: what no wheel needs, and what differs between systems. One thread at a time.
#pragma once

#include "lib/facts/wheel-facts.h"
#include "lib/domain/archive/zipdirectory.h"

// The caller's storage; all zero but facts is ready.
struct wheel_oddities {
	struct wheel_facts *facts; // receives them
	size_t room, count[WHEEL_ODDITY_COUNT];
};

// Adds an oddity, unless there are LIMIT_ODDITIES of its kind. path and detail are copied; detail may be NULL.
void wheel_oddities_add(struct wheel_oddities *o, enum wheel_oddity kind, struct str path, const char *detail);
// Adds all those that the directory shows.
void wheel_oddities_find(struct wheel_oddities *o, const struct zipdirectory *zip);
