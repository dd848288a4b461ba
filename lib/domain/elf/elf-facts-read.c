// SPDX-License-Identifier: Apache-2.0
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/mem.h"
#include "lib/domain/elf/elf-dynamic.h"

enum { BUILD_ID_MAX = 64 };

bool elf_is_elf(struct str bytes)
{
	return bytes.len >= SELFMAG && memcmp(bytes.ptr, ELFMAG, SELFMAG) == 0;
}

static int read_header(struct elf_reading *r, struct err *e)
{
	GElf_Ehdr h;
	if (elf_kind(r->elf) != ELF_K_ELF || !gelf_getehdr(r->elf, &h) || elf_getphdrnum(r->elf, &r->segments) < 0)
		return elf_damaged(e, "its header");
	// Section 0 may have a larger number, which libelf takes, and no loader: what libelf finds is not what is loaded.
	if (h.e_phnum == PN_XNUM)
		return elf_damaged(e, "its program headers are more than a loader takes");
	if (h.e_phnum != r->segments) // libelf leaves out those behind the end of the file
		return elf_damaged(e, "its program headers");
	r->out->machine = h.e_machine;
	r->out->is_64 = h.e_ident[EI_CLASS] == ELFCLASS64;
	r->out->is_big_endian = h.e_ident[EI_DATA] == ELFDATA2MSB;
	r->out->is_shared = h.e_type == ET_DYN;
	r->out->is_relocatable = h.e_type == ET_REL;
	r->out->is_executable = h.e_type == ET_EXEC;
	if (r->segments > LIMIT_ELF_STRINGS)
		return err_set(e, ERR_LIMIT, "the ELF file has %zu segments", r->segments);
	return 0;
}

static uint32_t property_word(const struct elf_reading *r, const char *at)
{
	const unsigned char *p = (const unsigned char *)at;
	return r->out->is_big_endian ? (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3]
				     : (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

static void read_property(struct elf_reading *r, struct str d)
{
	// pr_type and pr_datasz, 4 bytes each, then the data, aligned to 8 bytes (4 with 32-bit files).
	size_t align = r->out->is_64 ? 8 : 4;
	while (d.len >= 12) {
		uint32_t type = property_word(r, d.ptr), size = property_word(r, d.ptr + 4);
		if (size > d.len - 8)
			return;
		if (type == 0xc0008002 && size == 4)
			r->out->isa_needed = property_word(r, d.ptr + 8);
		if (type == 0xc0010002 && size == 4)
			r->out->isa_used = property_word(r, d.ptr + 8);
		size_t step = 8 + (size + align - 1) / align * align;
		if (step > d.len)
			return;
		d = (struct str){d.ptr + step, d.len - step};
	}
}

static void read_build_id(struct elf_reading *r, struct str d)
{
	if (d.len > BUILD_ID_MAX)
		return;
	for (size_t i = 0; i < d.len; i++)
		snprintf(r->out->build_id + 2 * i, 3, "%02x", (unsigned char)d.ptr[i]);
}

// Many segments may have the same notes, so that all together have a limit.
static void read_notes(struct elf_reading *r, const GElf_Phdr *p)
{
	if (r->notes++ >= ELF_NOTE_SEGMENTS || p->p_filesz > r->note_left ||
		p->p_filesz > elf_reading_room(r, p->p_offset))
		return;
	r->note_left -= p->p_filesz;
	Elf_Data *d = elf_getdata_rawchunk(r->elf, (int64_t)p->p_offset, p->p_filesz,
		p->p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
	size_t at = 0, name, desc, next;
	GElf_Nhdr n;
	while (d && (next = gelf_getnote(d, at, &n, &name, &desc)) > 0) {
		const char *bytes = d->d_buf;
		struct str content = {bytes + desc, n.n_descsz};
		if (n.n_namesz == 4 && memcmp(bytes + name, "GNU", 4) == 0 && n.n_type == NT_GNU_BUILD_ID)
			read_build_id(r, content);
		if (n.n_namesz == 4 && memcmp(bytes + name, "GNU", 4) == 0 && n.n_type == NT_GNU_PROPERTY_TYPE_0)
			read_property(r, content);
		at = next;
	}
}

static int read_segments(struct elf_reading *r, struct err *e)
{
	for (size_t i = 0; i < r->segments; i++) {
		GElf_Phdr p;
		if (!gelf_getphdr(r->elf, (int)i, &p))
			return elf_damaged(e, "its program headers");
		if (p.p_type == PT_DYNAMIC && !r->out->is_dynamic) {
			r->dynamic_offset = p.p_offset;
			r->dynamic_size = p.p_filesz;
			r->dynamic_address = p.p_vaddr;
			r->out->is_dynamic = true;
		} else if (p.p_type == PT_GNU_STACK) {
			r->out->has_stack_mark = true;
			r->out->is_stack_executable = p.p_flags & PF_X;
		} else if (p.p_type == PT_INTERP) {
			r->out->is_executable = true;
		} else if (p.p_type == PT_NOTE) {
			read_notes(r, &p);
		}
	}
	return 0;
}

static int add_toolchain(struct elf_reading *r, struct str name, struct err *e)
{
	struct elf_list *list = &r->out->toolchain;
	if (elf_reading_spend(r, list->count + 1, e) < 0)
		return -1;
	for (size_t i = 0; i < list->count; i++)
		if (str_eq(name, str_from(list->item[i])))
			return 0;
	if (!name.len || list->count == LIMIT_ELF_TOOLCHAINS)
		return 0;
	return elf_reading_spend(r, name.len, e) < 0 ? -1 : elf_list_add(list, arena_copy(&r->out->text, name), e);
}

// Whether the section has this name. The string table is read here, because libelf looks for the end of the last string
// anew for each section.
static bool is_section_named(const struct elf_reading *r, const GElf_Shdr *names, const GElf_Shdr *h, struct str name)
{
	uint64_t from = names->sh_offset, size = names->sh_size;
	return size <= elf_reading_room(r, from) && h->sh_name < size && size - h->sh_name > name.len &&
	       memcmp(r->bytes.ptr + from + h->sh_name, name.ptr, name.len) == 0 &&
	       r->bytes.ptr[from + h->sh_name + name.len] == '\0';
}

// .comment has a string for each tool, each with a NUL at its end. Nothing depends on it, so a damaged one is ignored.
static int read_comment(struct elf_reading *r, struct err *e)
{
	size_t index;
	GElf_Shdr names, h;
	Elf_Scn *section = NULL;
	if (elf_getshdrstrndx(r->elf, &index) < 0 || !gelf_getshdr(elf_getscn(r->elf, index), &names))
		return 0;
	while ((section = elf_nextscn(r->elf, section))) {
		if (!gelf_getshdr(section, &h) || !is_section_named(r, &names, &h, STR(".comment")))
			continue;
		if (h.sh_type == SHT_NOBITS || h.sh_size > ELF_COMMENT_MAX ||
			h.sh_size > elf_reading_room(r, h.sh_offset))
			return 0;
		struct str rest = {r->bytes.ptr + h.sh_offset, h.sh_size};
		while (rest.len)
			if (add_toolchain(r, str_cut(&rest, '\0'), e) < 0)
				return -1;
		return 0;
	}
	return 0;
}

static int read_facts(struct elf_reading *r, struct err *e)
{
	if (read_header(r, e) < 0 || read_segments(r, e) < 0 || read_comment(r, e) < 0)
		return -1;
	return r->out->is_dynamic ? elf_dynamic_read(r, e) : 0;
}

int elf_facts_read_parts(struct str bytes, const struct elf_outline *parts, size_t *left, struct elf_facts *out,
	struct err *e)
{
	struct elf_reading r = {.bytes = bytes, .parts = parts, .out = out, .note_left = ELF_NOTES_MAX, .left = left};
	*out = (struct elf_facts){0};
	if (elf_outline_check(bytes, e) < 0)
		return -1;
	elf_version(EV_CURRENT);
	r.elf = elf_memory((char *)(uintptr_t)bytes.ptr, bytes.len);
	int result = r.elf ? read_facts(&r, e) : elf_damaged(e, elf_errmsg(-1));
	elf_end(r.elf);
	if (result < 0)
		elf_facts_release(out);
	return result;
}

int elf_facts_read(struct str bytes, struct elf_facts *out, struct err *e)
{
	size_t left = 2 * (size_t)LIMIT_FACTS;
	return elf_facts_read_parts(bytes, NULL, &left, out, e);
}

void elf_facts_release(struct elf_facts *f)
{
	free(f->needed.item);
	free(f->toolchain.item);
	free(f->needed_version);
	free(f->defined_version);
	free(f->symbol);
	arena_release(&f->text);
	*f = (struct elf_facts){0};
}
