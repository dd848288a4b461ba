// SPDX-License-Identifier: Apache-2.0
// Memory for what lives and goes together: strings that never move, all released at once.
#pragma once

#include <stddef.h>

#include "lib/base/mem.h"
#include "lib/base/str.h"

struct arena_block;
struct arena {
	struct arena_block *block; // the newest one; all zero is an empty arena
	size_t used, room;         // of its bytes
	size_t total;              // of all blocks: to be held against a limit
};

void arena_release(struct arena *a); // for CLEANUP; it is empty after it
// Room for size bytes, not aligned.
char *arena_alloc(struct arena *a, size_t size) __attribute__((returns_nonnull));
// A copy with a NUL behind it.
const char *arena_copy(struct arena *a, struct str s) __attribute__((returns_nonnull));
