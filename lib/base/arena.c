// SPDX-License-Identifier: Apache-2.0
#include "lib/base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 16 << 10 };

struct arena_block {
	struct arena_block *older;
	char bytes[];
};

void arena_release(struct arena *a)
{
	while (a->block) {
		struct arena_block *older = a->block->older;
		free(a->block);
		a->block = older;
	}
	*a = (struct arena){0};
}

char *arena_alloc(struct arena *a, size_t size)
{
	if (size > a->room - a->used) {
		size_t room = size > BLOCK ? size : BLOCK;
		struct arena_block *block = xmalloc(sizeof(*block) + room);
		block->older = a->block;
		a->block = block;
		a->used = 0;
		a->room = room;
		a->total += room;
	}
	char *at = a->block->bytes + a->used;
	a->used += size;
	return at;
}

void *arena_alloc_aligned(struct arena *a, size_t size)
{
	const uintptr_t unit = _Alignof(uint64_t);
	uintptr_t at = (uintptr_t)arena_alloc(a, size + unit - 1);
	return (void *)((at + unit - 1) / unit * unit);
}

void *arena_zeroed(struct arena *a, size_t count, size_t size)
{
	size_t bytes;
	if (__builtin_mul_overflow(count, size, &bytes))
		bytes = PTRDIFF_MAX; // more than malloc() ever has
	return memset(arena_alloc_aligned(a, bytes), 0, bytes);
}

char *arena_copy(struct arena *a, struct str s)
{
	char *copy = arena_alloc(a, s.len + 1);
	if (s.len)
		memcpy(copy, s.ptr, s.len);
	copy[s.len] = '\0';
	return copy;
}

char *arena_strdup(struct arena *a, const char *s)
{
	return s ? arena_copy(a, str_from(s)) : NULL;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	CLEANUP(mem_free) char *text = xvasprintf(fmt, ap);
	va_end(ap);
	return arena_strdup(a, text);
}

void *arena_memdup(struct arena *a, const void *bytes, size_t size)
{
	void *copy = arena_alloc_aligned(a, size);
	return size ? memcpy(copy, bytes, size) : copy;
}

void *arena_grow(struct arena *a, const void *old, size_t count, size_t room, size_t size)
{
	void *grown = arena_zeroed(a, room, size);
	return count ? memcpy(grown, old, count * size) : grown;
}
