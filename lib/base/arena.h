// SPDX-License-Identifier: Apache-2.0
// A region allocator: what is in it never moves, and all is released at once. A request, a command or a decision has
// one for its strings, structs and arrays, which then need no release functions. What holds a descriptor, a handle or a
// lock does not belong in it. Memory that runs out ends the process. One thread at a time.
//
//	CLEANUP(arena_release) struct arena a = {0};
//	struct row *row = ARENA_NEW(&a, struct row, 1);
//	row->name = arena_printf(&a, "%s-%s", project, version);
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
// Returns count elements of size bytes, all zero and aligned like the above; a place even for none. A product that
// overflows counts as memory that runs out. The arena owns it.
void *arena_zeroed(struct arena *a, size_t count, size_t size) __attribute__((returns_nonnull));
#define ARENA_NEW(a, type, count) ((type *)arena_zeroed((a), (count), sizeof(type)))
// Returns a copy that ends with NUL. The arena owns it.
char *arena_copy(struct arena *a, struct str s) __attribute__((returns_nonnull));
char *arena_strdup(struct arena *a, const char *s); // likewise; NULL gives NULL
char *arena_printf(struct arena *a, const char *fmt, ...) PRINTF_LIKE(2, 3) __attribute__((returns_nonnull));
// Returns a copy of size bytes that is aligned like the above. The arena owns it.
void *arena_memdup(struct arena *a, const void *bytes, size_t size) __attribute__((returns_nonnull));

// Makes room for one more element of an array of the arena, as GROW does. An array that is full moves to twice the
// place, and the old place remains until the release: at most as much again. Elements have the old content, else zero.
#define ARENA_GROW(a, items, count, room)                                                                              \
	do {                                                                                                           \
		if ((count) == (room)) {                                                                               \
			(room) = (room) ? (room)*2 : 8;                                                                \
			(items) = arena_grow((a), (items), (count), (room), sizeof(*(items)));                         \
		}                                                                                                      \
	} while (0)
void *arena_grow(struct arena *a, const void *old, size_t count, size_t room, size_t size)
	__attribute__((returns_nonnull));
