// SPDX-License-Identifier: Apache-2.0
#include "lib/facts/wheel-reading.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "lib/base/limits.h"
#include "lib/format/digest.h"

void wheel_reading_release(struct wheel_reading *r)
{
	zipdirectory_release(&r->zip);
	zipload_trim(r->load);
}

void wheel_reading_cut(struct wheel_reading *r, const char *why)
{
	if (!r->out->is_cut)
		r->out->cut = arena_copy(&r->out->text, str_from(why));
	r->out->is_cut = true;
}

uint64_t wheel_reading_most(uint64_t size)
{
	uint64_t most = (uint64_t)LIMIT_FACTS_UNPACKED_GIB << 30;
	return size > most / LIMIT_UNPACKED_RATIO ? most : LIMIT_UNPACKED + size * LIMIT_UNPACKED_RATIO;
}

int wheel_reading_spend(struct wheel_reading *r, uint64_t size, struct err *e)
{
	if (size > r->unpacked_left)
		return err_set(e, ERR_LIMIT, "the members of the wheel unpack to too many bytes");
	r->unpacked_left -= size;
	return 0;
}

int wheel_reading_load(struct wheel_reading *r, const struct zipmember *m, uint64_t most, struct str *bytes,
	struct err *e)
{
	if (m->size > most)
		return err_set(e, ERR_LIMIT, "%llu bytes, more than %llu", (unsigned long long)m->size,
			(unsigned long long)most);
	return wheel_reading_spend(r, m->size, e) < 0 ? -1 : zipload_whole(r->load, m, bytes, e);
}

struct wheel_reader *wheel_reader_new(void)
{
	struct wheel_reader *r = xcalloc(1, sizeof(*r));
	r->pack = compress_new();
	return r;
}

void wheel_reader_free(struct wheel_reader *r)
{
	if (!r)
		return;
	zipload_release(&r->load);
	compress_free(r->pack);
	free(r);
}

// --- parts of a large ELF file ---

enum { PAGE = 4096 }; // of memory, which even the smallest part takes

// One pass over the unpacked bytes.
struct elf_pass {
	struct large_elf *to;
	uint64_t at;   // offset of the next piece
	size_t next;   // the first part that does not end before it
	uint64_t left; // bytes that parts may still have
	bool has_tables;
	struct digest *digest; // of what was read; NULL: not wanted
};

// Copies what the piece has of the parts. The parts are in order, and so are the pieces.
static int keep_parts(struct elf_pass *p, struct str piece, struct err *e)
{
	const struct elf_outline *o = &p->to->parts;
	uint64_t end = p->at + piece.len;
	for (size_t i = p->next; i < o->count && o->part[i].offset < end; i++) {
		uint64_t part_end = o->part[i].offset + o->part[i].size;
		uint64_t from = o->part[i].offset > p->at ? o->part[i].offset : p->at;
		uint64_t to = part_end < end ? part_end : end;
		if (part_end <= end)
			p->next = i + 1;
		if (from >= to)
			continue;
		uint64_t memory = to - from + (from == o->part[i].offset ? PAGE : 0);
		if (memory > p->left)
			return err_set(e, ERR_LIMIT, "the tables of the ELF file have more than %d bytes",
				LIMIT_ELF_WHOLE);
		p->left -= memory;
		memcpy((char *)(uintptr_t)p->to->bytes.ptr + from, piece.ptr + (from - p->at), (size_t)(to - from));
	}
	p->at = end;
	return 0;
}

// The first piece has the header, which says where the tables are.
static int take_tables(void *ctx, struct str piece, struct err *e)
{
	struct elf_pass *p = ctx;
	if (!p->has_tables && elf_outline_tables(piece, p->to->bytes.len, &p->to->parts, e) < 0)
		return -1;
	p->has_tables = true;
	return keep_parts(p, piece, e);
}

static int take_contents(void *ctx, struct str piece, struct err *e)
{
	struct elf_pass *p = ctx;
	if (p->digest)
		digest_add(p->digest, piece.ptr, piece.len);
	return keep_parts(p, piece, e);
}

int large_elf_load(const struct byte_source *s, const struct zipmember *m, uint8_t *sha256, struct large_elf *out,
	struct err *e)
{
	*out = (struct large_elf){0};
	void *at =
		mmap(NULL, (size_t)m->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at == MAP_FAILED)
		return err_errno(e, ERR_LIMIT, "%llu bytes of address space", (unsigned long long)m->size);
	(void)madvise(at, (size_t)m->size, MADV_NOHUGEPAGE); // little of it is written
	out->bytes = (struct str){at, (size_t)m->size};
	struct elf_pass tables = {.to = out, .left = LIMIT_ELF_WHOLE}, contents = {.to = out, .left = LIMIT_ELF_WHOLE};
	if (zipread_member(s, m, take_tables, &tables, e) < 0 || elf_outline_contents(out->bytes, &out->parts, e) < 0)
		return -1;
	CLEANUP(digest_cleanup) struct digest *digest = sha256 ? digest_new() : NULL;
	contents.digest = digest;
	if (digest)
		digest_begin(digest);
	if (zipread_member(s, m, take_contents, &contents, e) < 0)
		return -1;
	if (digest)
		digest_end(digest, sha256);
	return 0;
}

void large_elf_release(struct large_elf *l)
{
	if (l->bytes.ptr)
		munmap((void *)(uintptr_t)l->bytes.ptr, l->bytes.len);
	elf_outline_release(&l->parts);
	*l = (struct large_elf){0};
}
