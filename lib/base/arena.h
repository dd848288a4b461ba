// SPDX-License-Identifier: Apache-2.0
// A region allocator: its strings never move, and all are released at once.
// Memory that runs out ends the process. One thread at a time.
#pragma once

#include <stddef.h>

#include "lib/base/mem.h"
#include "lib/base/str.h"

struct arena_block;
struct arena {
	struct arena_block *block; // the newest one; all zero is an empty arena
	size_t used, room;         // bytes of that block
	size_t total;              // bytes of all blocks, for the caller to compare with a limit
};

// Frees everything and leaves the arena empty. For CLEANUP.
void arena_release(struct arena *a);
// Returns space for size bytes, not aligned. The arena owns it.
char *arena_alloc(struct arena *a, size_t size) __attribute__((returns_nonnull));
// Returns space that is aligned for pointers and integers of 64 bits. The arena owns it.
void *arena_alloc_aligned(struct arena *a, size_t size) __attribute__((returns_nonnull));
// Returns a copy that ends with NUL. The arena owns it.
const char *arena_copy(struct arena *a, struct str s) __attribute__((returns_nonnull));
