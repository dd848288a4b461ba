// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/elf/elf-outline.h"

#include <gelf.h>
#include <stdbool.h>
#include <stdlib.h>

#include "lib/base/limits.h"
#include "lib/base/mem.h"
#include "lib/base/search.h"

// What the header says about the tables. An entry has the size of the format: libelf does not look at e_phentsize.
struct elf_tables {
	uint64_t segments_at, segments_size; // in bytes
	uint64_t sections_at, section_size;
	uint64_t sections; // 0: the first section has the number
};

void elf_outline_release(struct elf_outline *o)
{
	free(o->part);
	*o = (struct elf_outline){0};
}

// A number at these offsets in 64-bit and 32-bit files, in the byte order of the file.
static uint64_t number_at(struct str bytes, uint64_t at64, uint64_t at32, size_t width64, size_t width32)
{
	bool is_64 = bytes.ptr[EI_CLASS] == ELFCLASS64, is_big = bytes.ptr[EI_DATA] == ELFDATA2MSB;
	uint64_t at = is_64 ? at64 : at32, value = 0;
	size_t width = is_64 ? width64 : width32;
	for (size_t i = 0; at <= bytes.len && width <= bytes.len - at && i < width; i++)
		value = value << 8 | (unsigned char)bytes.ptr[at + (is_big ? i : width - 1 - i)];
	return value;
}

#define HEADER_NUMBER(head, field, width32)                                                                            \
	number_at(head, offsetof(Elf64_Ehdr, field), offsetof(Elf32_Ehdr, field), sizeof(((Elf64_Ehdr *)0)->field),    \
		width32)

static int read_tables(struct str head, struct elf_tables *t, struct err *e)
{
	if (head.len < sizeof(Elf32_Ehdr))
		return err_set(e, ERR_INVALID, "damaged ELF: its header");
	bool is_64 = head.ptr[EI_CLASS] == ELFCLASS64;
	*t = (struct elf_tables){
		.segments_at = HEADER_NUMBER(head, e_phoff, 4),
		.segments_size = HEADER_NUMBER(head, e_phnum, 2) * (is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr)),
		.sections_at = HEADER_NUMBER(head, e_shoff, 4),
		.section_size = is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr),
		.sections = HEADER_NUMBER(head, e_shnum, 2),
	};
	return 0;
}

int elf_outline_check(struct str bytes, struct err *e)
{
	struct elf_tables t;
	if (read_tables(bytes, &t, e) < 0)
		return -1;
	if (!t.sections && t.sections_at && t.sections_at < bytes.len)
		t.sections = number_at(bytes, t.sections_at + offsetof(Elf64_Shdr, sh_size),
			t.sections_at + offsetof(Elf32_Shdr, sh_size), 8, 4);
	if (t.sections > LIMIT_ELF_SECTIONS)
		return err_set(e, ERR_LIMIT, "the ELF file has more than %d sections", LIMIT_ELF_SECTIONS);
	return 0;
}

static void add_outline_part(struct elf_outline *o, uint64_t offset, uint64_t size, uint64_t file_size)
{
	if (offset >= file_size || !size)
		return;
	GROW(o->part, o->count, o->room);
	o->part[o->count++] =
		(struct elf_part){.offset = offset, .size = size < file_size - offset ? size : file_size - offset};
}

static int compare_parts(const void *a, const void *b)
{
	const struct elf_part *left = a, *right = b;
	return (left->offset > right->offset) - (left->offset < right->offset);
}

// Sorts the parts and joins those that overlap or touch.
static void join_parts(struct elf_outline *o)
{
	size_t kept = 0;
	if (o->count)
		qsort(o->part, o->count, sizeof(*o->part), compare_parts);
	for (size_t i = 0; i < o->count; i++) {
		struct elf_part *last = kept ? &o->part[kept - 1] : NULL, p = o->part[i];
		if (!last || p.offset > last->offset + last->size)
			o->part[kept++] = p;
		else if (p.offset + p.size > last->offset + last->size)
			last->size = p.offset + p.size - last->offset;
	}
	o->count = kept;
}

int elf_outline_tables(struct str head, uint64_t size, struct elf_outline *o, struct err *e)
{
	struct elf_tables t;
	if (read_tables(head, &t, e) < 0)
		return -1;
	uint64_t sections = t.sections ? t.sections : LIMIT_ELF_SECTIONS;
	add_outline_part(o, 0, ELF_HEAD, size);
	add_outline_part(o, t.segments_at, t.segments_size, size);
	if (t.sections_at)
		add_outline_part(o, t.sections_at, sections * t.section_size, size);
	join_parts(o);
	return 0;
}

static bool has_section_facts(const GElf_Shdr *h, bool has_names)
{
	static const unsigned types[] = {
		SHT_DYNSYM, SHT_DYNAMIC, SHT_HASH, SHT_GNU_HASH, SHT_GNU_versym, SHT_GNU_verdef, SHT_GNU_verneed};
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (h->sh_type == types[i])
			return true;
	bool is_mapped = h->sh_flags & SHF_ALLOC;
	if (h->sh_type == SHT_STRTAB)
		return is_mapped || has_names;
	return h->sh_type == SHT_PROGBITS && !is_mapped && h->sh_size <= ELF_COMMENT_MAX; // perhaps .comment
}

int elf_outline_contents(struct str bytes, struct elf_outline *o, struct err *e)
{
	if (elf_outline_check(bytes, e) < 0)
		return -1;
	elf_version(EV_CURRENT);
	Elf *elf = elf_memory((char *)(uintptr_t)bytes.ptr, bytes.len);
	if (!elf)
		return err_set(e, ERR_INVALID, "damaged ELF: %s", elf_errmsg(-1));
	uint64_t size = bytes.len;
	size_t segments = 0, names = 0;
	if (elf_getphdrnum(elf, &segments) >= 0 && segments <= LIMIT_ELF_STRINGS &&
		elf_getshdrstrndx(elf, &names) >= 0) {
		for (size_t i = 0; i < segments; i++) {
			GElf_Phdr p;
			if (gelf_getphdr(elf, (int)i, &p) &&
				(p.p_type == PT_DYNAMIC || (p.p_type == PT_NOTE && p.p_filesz <= ELF_NOTES_MAX)))
				add_outline_part(o, p.p_offset, p.p_filesz, size);
		}
		for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));) {
			GElf_Shdr h;
			if (gelf_getshdr(s, &h) && has_section_facts(&h, elf_ndxscn(s) == names))
				add_outline_part(o, h.sh_offset, h.sh_size, size);
		}
	}
	elf_end(elf);
	join_parts(o);
	return 0;
}

static bool is_part_before(const void *element, const void *key)
{
	const struct elf_part *part = element;
	return part->offset + part->size <= *(const uint64_t *)key;
}

// A file may have as many parts as sections, each of which asks for room.
uint64_t elf_outline_room(const struct elf_outline *o, uint64_t offset)
{
	size_t i = lower_bound(&offset, o->part, o->count, sizeof(*o->part), is_part_before);
	bool is_inside = i < o->count && o->part[i].offset <= offset;
	return is_inside ? o->part[i].size - (offset - o->part[i].offset) : 0;
}
