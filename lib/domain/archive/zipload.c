// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/archive/zipload.h"

#include <sys/mman.h>

#include "lib/domain/archive/zipwire.h"

enum {
	HEAD_DATA = 1 << 10, // a table of codes has less than 400 bytes (RFC 1951, 3.2.7)
	HUGE_PAGE = 2 << 20,
	ROOM_KEPT = 4 << 20, // larger pages are given back after each member
};

static void pages_release(struct zipload_pages *p)
{
	if (p->at)
		munmap(p->at, p->room);
	*p = (struct zipload_pages){0};
}

// Pages of their own, so that a large member goes back to the system at once.
static int pages_reserve(struct zipload_pages *p, uint64_t size, struct err *e)
{
	if (p->room >= size)
		return 0;
	pages_release(p);
	size_t room = size < ROOM_KEPT ? ROOM_KEPT : ((size_t)size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
	void *at = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		return err_errno(e, ERR_LIMIT, "%zu bytes of memory", room);
	madvise(at, room, MADV_HUGEPAGE); // a tenth of the page faults
	*p = (struct zipload_pages){at, room};
	return 0;
}

void zipload_release(struct zipload *l)
{
	pages_release(&l->packed);
	pages_release(&l->unpacked);
	inflater_free(l->inflater);
	l->inflater = NULL;
}

static struct inflater *inflater_of(struct zipload *l)
{
	if (!l->inflater)
		l->inflater = inflater_new();
	return l->inflater;
}

// The first len bytes of a member's data.
static int data_of(struct zipload *l, const struct zipmember *m, uint64_t len, struct str *out, struct err *e)
{
	const struct byte_source *s = l->source;
	if (m->data > s->size || len > s->size - m->data)
		return err_set(e, ERR_INVALID, "truncated");
	if (!s->memory && (pages_reserve(&l->packed, len, e) < 0 ||
				  byte_source_read(s, m->data, l->packed.at, (size_t)len, e) < 0))
		return -1;
	*out = (struct str){s->memory ? s->memory + m->data : l->packed.at, (size_t)len};
	return 0;
}

long zipload_head(struct zipload *l, const struct zipmember *m, char *out, size_t size, struct err *e)
{
	bool is_stored = m->method == ZIP_STORED;
	uint64_t want = is_stored ? size : HEAD_DATA;
	struct str data;
	if (data_of(l, m, m->packed < want ? m->packed : want, &data, e) < 0)
		return -1;
	if (!is_stored)
		return (long)inflater_head(inflater_of(l), data, out, size);
	memcpy(out, data.ptr, data.len);
	return (long)data.len;
}

static int unpack_member(struct zipload *l, const struct zipmember *m, struct str *out, struct err *e)
{
	struct str data;
	if (m->packed > SIZE_MAX || m->size > SIZE_MAX)
		return err_set(e, ERR_LIMIT, "too large");
	if (data_of(l, m, m->packed, &data, e) < 0)
		return -1;
	*out = data;
	if (m->method == ZIP_STORED)
		return 0;
	if (pages_reserve(&l->unpacked, m->size, e) < 0)
		return -1;
	*out = (struct str){l->unpacked.at, (size_t)m->size};
	return inflater_whole(inflater_of(l), data, l->unpacked.at, out->len, e);
}

void zipload_trim(struct zipload *l)
{
	if (l->packed.room > ROOM_KEPT)
		pages_release(&l->packed);
	if (l->unpacked.room > ROOM_KEPT)
		pages_release(&l->unpacked);
}

int zipload_whole(struct zipload *l, const struct zipmember *m, struct str *out, struct err *e)
{
	zipload_trim(l);
	if (unpack_member(l, m, out, e) < 0)
		return -1;
	return inflate_crc32(*out) == m->crc ? 0 : err_set(e, ERR_INVALID, "CRC differs");
}
