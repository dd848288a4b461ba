// SPDX-License-Identifier: Apache-2.0
#include "lib/base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGE = 1 << 20 }; // beyond it a buffer grows by a quarter, not to the double, as it may be counted

static char nothing[1]; // data of every empty buffer; never written

struct buf buf_up_to(size_t cap)
{
	return (struct buf){.data = nothing, .cap = cap};
}

void buf_init(struct buf *b, size_t cap)
{
	*b = buf_up_to(cap);
}

void buf_release(struct buf *b)
{
	if (b->room)
		free(b->data);
	*b = (struct buf){0};
}

void buf_clear(struct buf *b)
{
	b->len = 0;
	b->failed = false;
	if (b->room)
		b->data[0] = '\0';
}

char *buf_reserve(struct buf *b, size_t len)
{
	if (b->failed || len > b->cap - b->len) {
		b->failed = true;
		return NULL;
	}
	size_t need = b->len + len + 1;
	if (need > b->room) {
		size_t room = b->room < 64 ? 64 : b->room;
		while (room < need)
			room += room < LARGE ? room : room / 4;
		if (b->meter && !b->meter->take(b->meter, room - b->room)) {
			b->failed = b->meter->is_refused = true;
			return NULL;
		}
		b->data = xreallocarray(b->room ? b->data : NULL, room, 1);
		b->room = room;
		b->data[b->len] = '\0';
	}
	return b->data + b->len;
}

void buf_add(struct buf *b, const void *bytes, size_t len)
{
	char *at = buf_reserve(b, len);
	if (!at)
		return;
	if (len)
		memcpy(at, bytes, len);
	b->len += len;
	b->data[b->len] = '\0';
}

void buf_puts(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap, again;
	va_start(ap, fmt);
	va_copy(again, ap);
	int n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	char *at = n < 0 ? NULL : buf_reserve(b, (size_t)n);
	if (at) {
		vsnprintf(at, (size_t)n + 1, fmt, again);
		b->len += (size_t)n;
	}
	va_end(again);
}

struct str buf_view(const struct buf *b)
{
	return (struct str){b->data, b->len};
}

char *buf_steal(struct buf *b)
{
	char *data = b->room ? b->data : xcalloc(1, 1);
	*b = (struct buf){0};
	return data;
}
