// SPDX-License-Identifier: Apache-2.0
// Workers in lanes of a few threads each: what hangs in one holds up no other.
#pragma once

#include "lib/base/pool.h"

struct lanes;

struct lanes *lanes_new(const char *name);
void lanes_free(struct lanes *l); // waits for what is to be done; NULL is fine
// number may be any: there are LANES of them.
struct pool *lanes_pick(struct lanes *l, unsigned number);

enum { LANES = 12 };
