// SPDX-License-Identifier: Apache-2.0
// Workers in lanes: what hangs in one holds up no other. Most have a few threads each, and take what comes in its order. Those of
// requests that cost much have one thread each and a bounded queue that is fair between addresses (turns). Thread-safe.
#pragma once

#include <stdbool.h>

#include "lib/os/thread-pool.h"

enum {
	LANES = 12,
	LANE_SEARCHES = LANES, // what reads much of the catalog
	LANE_SUMMARIES,        // what is made anew for each who asks
	LANE_COUNT,
};

struct lane;
struct lanes;

struct lanes *lanes_new(const char *name);
void lanes_free(struct lanes *l); // waits for what is to be done; NULL is fine
// number may be any: there are LANES of them, and those that have a name.
struct lane *lanes_pick(struct lanes *l, unsigned number);
// peer: the address of whom it is for. False where so many wait already.
bool lane_submit(struct lane *lane, const char *peer, pool_fn *fn, void *job) __attribute__((warn_unused_result));
// The same past every queue, for what must not be refused.
void lane_submit_always(struct lane *lane, pool_fn *fn, void *job);
// What stays for many jobs says so, that a lane that hangs does not gather all there is. False where so many are there.
bool lane_enter(struct lane *lane, unsigned most);
void lane_leave(struct lane *lane);
