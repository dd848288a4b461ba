// SPDX-License-Identifier: Apache-2.0
// The one string builder. Its ceiling is given at the start: what would pass it marks the buffer as
// failed, drops what comes after, and is asked for once at the end. Memory that is out ends the process.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/mem.h"
#include "lib/base/str.h"

struct buf {
	char *data; // never NULL after init; data[len] is NUL
	size_t len;
	size_t room; // bytes allocated; 0: none, and data is not to be written
	size_t cap;  // len never passes it
	bool failed; // something did not fit
};

void buf_init(struct buf *b, size_t cap);
void buf_release(struct buf *b);
void buf_clear(struct buf *b); // empty again, memory kept
void buf_add(struct buf *b, const void *bytes, size_t len);
void buf_puts(struct buf *b, const char *s);
void buf_printf(struct buf *b, const char *fmt, ...) PRINTF_LIKE(2, 3);
// Room for len more bytes to be written by the caller, who then adds what he wrote to b->len.
// NULL where the ceiling forbids it.
char *buf_reserve(struct buf *b, size_t len);
static inline void buf_putc(struct buf *b, char c)
{
	if (b->len + 1 >= b->room || b->failed || b->len == b->cap) {
		buf_add(b, &c, 1);
		return;
	}
	b->data[b->len++] = c;
	b->data[b->len] = '\0';
}

static inline void buf_str(struct buf *b, struct str s)
{
	if (s.len >= b->room - b->len || s.len > b->cap - b->len || b->failed) {
		buf_add(b, s.ptr, s.len);
		return;
	}
	if (s.len)
		memcpy(b->data + b->len, s.ptr, s.len);
	b->len += s.len;
	b->data[b->len] = '\0';
}

struct str buf_view(const struct buf *b);
// The bytes, NUL at the end, to be freed by the caller; b is empty and released after it.
char *buf_steal(struct buf *b);
