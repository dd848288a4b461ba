// SPDX-License-Identifier: Apache-2.0
// Workers in lanes of a few threads each: what hangs in one holds up no other. Thread-safe.
#pragma once

#include <stdbool.h>

#include "lib/base/pool.h"

enum { LANES = 12 };

struct lane;
struct lanes;

struct lanes *lanes_new(const char *name);
void lanes_free(struct lanes *l); // waits for what is to be done; NULL is fine
// number may be any: there are LANES of them.
struct lane *lanes_pick(struct lanes *l, unsigned number);
void lane_submit(struct lane *lane, pool_fn *fn, void *job);
// What stays for many jobs says so, that a lane that hangs does not gather all there is. False where so many are there.
bool lane_enter(struct lane *lane, unsigned most);
void lane_leave(struct lane *lane);
