// SPDX-License-Identifier: Apache-2.0
// A growing byte buffer with an upper limit, used for every string that is built.
// An addition that would exceed the limit sets failed, and all later additions are ignored, so the caller checks failed
// once at the end. Memory that runs out ends the process. One thread at a time.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/mem.h"
#include "lib/base/str.h"

// Who counts the memory of buffers; embedded in the struct of who does.
struct buf_meter {
	bool (*take)(struct buf_meter *m, size_t more); // a buffer wants more bytes of memory; false: there is no room
	bool is_refused; // a buffer did not get them
};

struct buf {
	char *data; // never NULL after init; data[len] is NUL
	size_t len;
	size_t room; // bytes allocated; 0: none, and data must not be written
	size_t cap;  // the limit of len
	bool failed; // an addition did not fit
	struct buf_meter *meter; // borrowed; set after buf_init(); NULL: it is not counted
};

void buf_init(struct buf *b, size_t cap); // allocates nothing
// The same as a value, so that a buffer is one from its first line on:
//
//	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_RECORD);
struct buf buf_up_to(size_t cap);
void buf_release(struct buf *b);          // for CLEANUP; all zero is fine
void buf_clear(struct buf *b);            // empties it, resets failed and keeps the memory
void buf_add(struct buf *b, const void *bytes, size_t len);
void buf_puts(struct buf *b, const char *s);
void buf_printf(struct buf *b, const char *fmt, ...) PRINTF_LIKE(2, 3);
// Returns space for len more bytes behind the current ones; the caller writes them and adds their number to b->len.
// NULL if they would exceed the limit.
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

struct str buf_view(const struct buf *b); // valid until the buffer changes
// Returns the bytes, with NUL behind them, for the caller to free, and leaves b released.
char *buf_steal(struct buf *b);
