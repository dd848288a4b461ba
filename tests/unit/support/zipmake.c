// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/support/zipmake.h"

#include <stdint.h>
#include <string.h>

#include "lib/domain/archive/zipwire.h"

void zipmake_init(struct zipmake *z)
{
	z->count = 0;
	buf_init(&z->bytes, 80 << 20);
	buf_init(&z->central, 64 << 20);
}

void zipmake_release(struct zipmake *z)
{
	buf_release(&z->bytes);
	buf_release(&z->central);
}

static void put_number(struct buf *b, size_t width, uint64_t value)
{
	for (size_t i = 0; i < width; i++)
		buf_putc(b, (char)(value >> (8 * i) & 0xff));
}

static uint32_t crc32_of(struct str s)
{
	uint32_t crc = UINT32_MAX;
	for (size_t i = 0; i < s.len; i++) {
		crc ^= (unsigned char)s.ptr[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	return ~crc;
}

static struct str data_of(const struct zipmake_member *m)
{
	return m->data.ptr ? m->data : str_from(m->content);
}

static struct str packed_of(const struct zipmake_member *m)
{
	return m->packed.ptr ? m->packed : data_of(m);
}

void zipmake_local(struct zipmake *z, const struct zipmake_member *m)
{
	struct buf *b = &z->bytes;
	const char *name = m->local_name ? m->local_name : m->name;
	uint32_t crc = crc32_of(data_of(m)) + (uint32_t)m->crc_lie;
	uint32_t size = (uint32_t)data_of(m).len + (uint32_t)m->size_lie;
	uint32_t packed = (uint32_t)packed_of(m).len + (uint32_t)m->size_lie;
	put_number(b, 4, ZIP_LOCAL);
	put_number(b, 2, 20);
	put_number(b, 2, (m->flags | (m->descriptor ? ZIP_FLAG_DESCRIPTOR : 0u)) ^ m->local_flags_xor);
	put_number(b, 2, m->method ^ m->local_method_xor);
	put_number(b, 4, 0);
	put_number(b, 4, m->descriptor ? 0 : crc);
	put_number(b, 4, m->descriptor ? 0 : packed);
	put_number(b, 4, m->descriptor ? 0 : size);
	put_number(b, 2, strlen(name));
	put_number(b, 2, m->local_extra.len);
	buf_puts(b, name);
	buf_str(b, m->local_extra);
	buf_str(b, packed_of(m));
	size_t width = m->descriptor >= 20 ? 8 : 4;
	if (m->descriptor % 8 == 0 && m->descriptor)
		put_number(b, 4, ZIP_DESCRIPTOR);
	if (m->descriptor) {
		put_number(b, 4, crc);
		put_number(b, width, packed);
		put_number(b, width, size);
	}
	buf_str(b, m->gap);
}

void zipmake_central(struct zipmake *z, const struct zipmake_member *m, size_t offset)
{
	struct buf *b = &z->central;
	z->count++;
	put_number(b, 4, ZIP_CENTRAL);
	put_number(b, 2, m->unix_mode ? 3 << 8 : 0);
	put_number(b, 2, 20);
	put_number(b, 2, m->flags);
	put_number(b, 2, m->method);
	put_number(b, 4, 0);
	put_number(b, 4, crc32_of(data_of(m)));
	put_number(b, 4, packed_of(m).len);
	put_number(b, 4, data_of(m).len);
	put_number(b, 2, strlen(m->name));
	put_number(b, 2, m->central_extra.len);
	put_number(b, 2, m->comment ? strlen(m->comment) : 0);
	put_number(b, 2, 0);
	put_number(b, 2, 0);
	put_number(b, 4, (uint64_t)m->unix_mode << 16);
	put_number(b, 4, offset);
	buf_puts(b, m->name);
	buf_str(b, m->central_extra);
	buf_puts(b, m->comment ? m->comment : "");
}

void zipmake_add(struct zipmake *z, const struct zipmake_member *m)
{
	size_t offset = z->bytes.len;
	zipmake_local(z, m);
	zipmake_central(z, m, offset);
}

void zipmake_end(struct zipmake *z, const char *comment)
{
	struct buf *b = &z->bytes;
	size_t offset = b->len;
	buf_str(b, buf_view(&z->central));
	put_number(b, 4, ZIP_END);
	put_number(b, 4, 0);
	put_number(b, 2, z->count);
	put_number(b, 2, z->count);
	put_number(b, 4, z->central.len);
	put_number(b, 4, offset);
	put_number(b, 2, strlen(comment));
	buf_puts(b, comment);
}
