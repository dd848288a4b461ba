// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/elf/elf-facts.h"

#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/mem.h"

enum { COMMENT_MAX = 64 << 10, NOTE_MAX = 1 << 20 };

// What one reading works with.
struct elf_reading {
	Elf *elf;
	struct str bytes;
	struct elf_facts *out;
	size_t segments;
	GElf_Phdr dynamic;
	uint64_t tag[DT_NUM]; // values of the dynamic tags below DT_NUM
	uint64_t versym, verneed, verneednum, verdef, verdefnum, gnu_hash;
	struct str strings;                           // DT_STRTAB
	const char **version_name, **version_library; // by version index
	size_t version_room;
};

bool elf_is_elf(struct str bytes)
{
	return bytes.len >= SELFMAG && memcmp(bytes.ptr, ELFMAG, SELFMAG) == 0;
}

static int damaged(struct err *e, const char *what)
{
	return err_set(e, ERR_INVALID, "damaged ELF: %s", what);
}

// The offset of an address in the file; false: no segment has it in the file.
static bool find_offset(const struct elf_reading *r, uint64_t address, uint64_t *offset, uint64_t *room)
{
	for (size_t i = 0; i < r->segments; i++) {
		GElf_Phdr p;
		if (!gelf_getphdr(r->elf, (int)i, &p) || p.p_type != PT_LOAD || address < p.p_vaddr ||
			address - p.p_vaddr >= p.p_filesz || p.p_offset > r->bytes.len ||
			p.p_filesz > r->bytes.len - p.p_offset)
			continue;
		*offset = p.p_offset + (address - p.p_vaddr);
		*room = p.p_filesz - (address - p.p_vaddr);
		return true;
	}
	return false;
}

// The translated bytes at an address. NULL: they are not in the file.
static Elf_Data *data_at(const struct elf_reading *r, uint64_t address, uint64_t size, Elf_Type type)
{
	uint64_t offset, room;
	if (!find_offset(r, address, &offset, &room) || size > room || !size)
		return NULL;
	return elf_getdata_rawchunk(r->elf, (int64_t)offset, size, type);
}

// The string at an offset of DT_STRTAB, copied.
static const char *string_at(struct elf_reading *r, uint64_t offset, struct err *e)
{
	if (offset >= r->strings.len)
		return err_set(e, ERR_INVALID, "damaged ELF: a name is outside of the string table"), NULL;
	const char *begin = r->strings.ptr + offset;
	size_t room = r->strings.len - offset, len = strnlen(begin, room);
	if (len == room)
		return err_set(e, ERR_INVALID, "damaged ELF: a name has no end"), NULL;
	if (len > LIMIT_ELF_STRING)
		return err_set(e, ERR_LIMIT, "a name in the ELF file is longer than %d bytes", LIMIT_ELF_STRING), NULL;
	return arena_copy(&r->out->text, (struct str){begin, len});
}

static int add_string(struct elf_list *list, const char *text, struct err *e)
{
	if (list->count >= LIMIT_ELF_STRINGS)
		return err_set(e, ERR_LIMIT, "the ELF file has more than %d names of a kind", LIMIT_ELF_STRINGS);
	list->item = xreallocarray(list->item, list->count + 1, sizeof(*list->item));
	list->item[list->count++] = text;
	return 0;
}

static int read_header(struct elf_reading *r, struct err *e)
{
	GElf_Ehdr h;
	if (elf_kind(r->elf) != ELF_K_ELF || !gelf_getehdr(r->elf, &h) || elf_getphdrnum(r->elf, &r->segments) < 0)
		return damaged(e, "its header");
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

static void read_property(struct elf_reading *r, struct str d)
{
	// pr_type and pr_datasz, 4 bytes each, then the data, aligned to 8 bytes (4 with 32-bit files).
	size_t align = r->out->is_64 ? 8 : 4;
	while (d.len >= 12) {
		uint32_t type, size, bits;
		memcpy(&type, d.ptr, 4);
		memcpy(&size, d.ptr + 4, 4);
		memcpy(&bits, d.ptr + 8, 4);
		if (size > d.len - 8)
			return;
		if (type == 0xc0008002 && size == 4)
			r->out->isa_needed = bits;
		if (type == 0xc0010002 && size == 4)
			r->out->isa_used = bits;
		size_t step = 8 + (size + align - 1) / align * align;
		if (step > d.len)
			return;
		d = (struct str){d.ptr + step, d.len - step};
	}
}

static void read_build_id(struct elf_reading *r, struct str d)
{
	if (d.len > 64)
		return;
	for (size_t i = 0; i < d.len; i++)
		snprintf(r->out->build_id + 2 * i, 3, "%02x", (unsigned char)d.ptr[i]);
}

static void read_notes(struct elf_reading *r, const GElf_Phdr *p)
{
	if (p->p_filesz > NOTE_MAX || p->p_offset > r->bytes.len || p->p_filesz > r->bytes.len - p->p_offset)
		return;
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
			return damaged(e, "its program headers");
		if (p.p_type == PT_DYNAMIC && !r->out->is_dynamic) {
			r->dynamic = p;
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

static void take_tag(struct elf_reading *r, const GElf_Dyn *d)
{
	uint64_t value = d->d_un.d_val;
	switch (d->d_tag) {
	case DT_VERSYM:
		r->versym = value;
		break;
	case DT_VERNEED:
		r->verneed = value;
		break;
	case DT_VERNEEDNUM:
		r->verneednum = value;
		break;
	case DT_VERDEF:
		r->verdef = value;
		break;
	case DT_VERDEFNUM:
		r->verdefnum = value;
		break;
	case DT_GNU_HASH:
		r->gnu_hash = value;
		break;
	case DT_TEXTREL:
		r->out->has_textrel = true;
		break;
	default:
		if (d->d_tag >= 0 && d->d_tag < DT_NUM)
			r->tag[d->d_tag] = value;
		if (d->d_tag == DT_FLAGS && value & DF_TEXTREL)
			r->out->has_textrel = true;
	}
}

static Elf_Data *dynamic_data(const struct elf_reading *r)
{
	const GElf_Phdr *p = &r->dynamic;
	if (p->p_offset > r->bytes.len || p->p_filesz > r->bytes.len - p->p_offset)
		return NULL;
	return elf_getdata_rawchunk(r->elf, (int64_t)p->p_offset, p->p_filesz, ELF_T_DYN);
}

// Calls for each entry up to DT_NULL: first for the tags, then for the names, which need DT_STRTAB.
static int take_name(struct elf_reading *r, const GElf_Dyn *d, struct err *e)
{
	const char **field = d->d_tag == DT_SONAME    ? &r->out->soname
			     : d->d_tag == DT_RPATH   ? &r->out->rpath
			     : d->d_tag == DT_RUNPATH ? &r->out->runpath
						      : NULL;
	if (!field && d->d_tag != DT_NEEDED)
		return 0;
	const char *text = string_at(r, d->d_un.d_val, e);
	if (!text)
		return -1;
	if (!field)
		return add_string(&r->out->needed, text, e);
	*field = text;
	return 0;
}

static int read_dynamic(struct elf_reading *r, struct err *e)
{
	Elf_Data *d = dynamic_data(r);
	GElf_Dyn entry;
	if (!d)
		return damaged(e, "its dynamic segment");
	for (int i = 0; gelf_getdyn(d, i, &entry) && entry.d_tag != DT_NULL; i++)
		take_tag(r, &entry);
	Elf_Data *strings = data_at(r, r->tag[DT_STRTAB], r->tag[DT_STRSZ], ELF_T_BYTE);
	if (!strings)
		return damaged(e, "its string table");
	r->strings = (struct str){strings->d_buf, strings->d_size};
	for (int i = 0; gelf_getdyn(d, i, &entry) && entry.d_tag != DT_NULL; i++)
		if (take_name(r, &entry, e) < 0)
			return -1;
	return 0;
}

static int add_version(struct elf_version **list, size_t *count, struct elf_version v, struct err *e)
{
	if (*count >= LIMIT_ELF_STRINGS)
		return err_set(e, ERR_LIMIT, "the ELF file has more than %d versions", LIMIT_ELF_STRINGS);
	*list = xreallocarray(*list, *count + 1, sizeof(**list));
	(*list)[(*count)++] = v;
	return 0;
}

static void set_version_index(struct elf_reading *r, unsigned index, const char *name, const char *library)
{
	index &= 0x7fff;
	if (index >= r->version_room) {
		size_t room = index + 16;
		r->version_name = xreallocarray(r->version_name, room, sizeof(*r->version_name));
		r->version_library = xreallocarray(r->version_library, room, sizeof(*r->version_library));
		for (size_t i = r->version_room; i < room; i++)
			r->version_name[i] = r->version_library[i] = NULL;
		r->version_room = room;
	}
	r->version_name[index] = name;
	r->version_library[index] = library;
}

static int read_needed_versions(struct elf_reading *r, Elf_Data *d, const GElf_Verneed *n, size_t at, struct err *e)
{
	const char *library = string_at(r, n->vn_file, e);
	if (!library)
		return -1;
	for (unsigned k = 0; k < n->vn_cnt; k++) {
		GElf_Vernaux a;
		if (at > INT32_MAX || !gelf_getvernaux(d, (int)at, &a))
			return damaged(e, "its version requirements");
		struct elf_version v = {library, string_at(r, a.vna_name, e), a.vna_flags & VER_FLG_WEAK};
		if (!v.name || add_version(&r->out->needed_version, &r->out->needed_versions, v, e) < 0)
			return -1;
		set_version_index(r, a.vna_other, v.name, library);
		if (!a.vna_next)
			break;
		at += a.vna_next;
	}
	return 0;
}

// The tables of versions have no size of their own: they end with the segment.
static Elf_Data *rest_at(const struct elf_reading *r, uint64_t address, Elf_Type type)
{
	uint64_t offset, room;
	return find_offset(r, address, &offset, &room) ? elf_getdata_rawchunk(r->elf, (int64_t)offset, room, type)
						       : NULL;
}

static int read_verneed(struct elf_reading *r, struct err *e)
{
	Elf_Data *d = r->verneed ? rest_at(r, r->verneed, ELF_T_VNEED) : NULL;
	size_t at = 0;
	if (r->verneed && !d)
		return damaged(e, "its version requirements");
	for (uint64_t i = 0; d && i < r->verneednum; i++) {
		GElf_Verneed n;
		if (at > INT32_MAX || !gelf_getverneed(d, (int)at, &n))
			return damaged(e, "its version requirements");
		if (read_needed_versions(r, d, &n, at + n.vn_aux, e) < 0)
			return -1;
		if (!n.vn_next)
			break;
		at += n.vn_next;
	}
	return 0;
}

static int read_verdef(struct elf_reading *r, struct err *e)
{
	Elf_Data *d = r->verdef ? rest_at(r, r->verdef, ELF_T_VDEF) : NULL;
	size_t at = 0;
	if (r->verdef && !d)
		return damaged(e, "its version definitions");
	for (uint64_t i = 0; d && i < r->verdefnum; i++) {
		GElf_Verdef v;
		GElf_Verdaux a;
		if (at > INT32_MAX || !gelf_getverdef(d, (int)at, &v) || at + v.vd_aux > INT32_MAX ||
			!gelf_getverdaux(d, (int)(at + v.vd_aux), &a))
			return damaged(e, "its version definitions");
		const char *name = string_at(r, a.vda_name, e);
		if (!name)
			return -1;
		struct elf_version version = {NULL, name, v.vd_flags & VER_FLG_WEAK};
		bool is_base = v.vd_flags & VER_FLG_BASE; // the name of the file itself
		if (!is_base && add_version(&r->out->defined_version, &r->out->defined_versions, version, e) < 0)
			return -1;
		if (!is_base)
			set_version_index(r, v.vd_ndx, name, NULL);
		if (!v.vd_next)
			break;
		at += v.vd_next;
	}
	return 0;
}

static uint32_t word_at(Elf_Data *d, uint64_t index)
{
	uint32_t word;
	if (index >= d->d_size / sizeof(word))
		return 0;
	memcpy(&word, (const char *)d->d_buf + index * sizeof(word), sizeof(word)); // translated by libelf
	return word;
}

// The number of symbols by DT_GNU_HASH: the last one of the last chain. The words are: buckets, first symbol, words of
// the filter, shift; then the filter, the buckets and the chains.
static uint64_t count_by_gnu_hash(const struct elf_reading *r)
{
	Elf_Data *d = rest_at(r, r->gnu_hash, ELF_T_WORD);
	if (!d || d->d_size < 16)
		return 0;
	uint64_t buckets = word_at(d, 0), first = word_at(d, 1), filter = word_at(d, 2);
	uint64_t at = 4 + filter * (r->out->is_64 ? 2 : 1), last = 0, words = d->d_size / 4;
	if (at > words || buckets > words - at)
		return 0;
	for (uint64_t i = 0; i < buckets; i++)
		if (word_at(d, at + i) > last)
			last = word_at(d, at + i);
	if (last < first)
		return first;
	while (at + buckets + (last - first) < words && !(word_at(d, at + buckets + (last - first)) & 1))
		last++;
	return last + 1;
}

static uint64_t count_symbols(const struct elf_reading *r)
{
	Elf_Data *d = r->tag[DT_HASH] ? data_at(r, r->tag[DT_HASH], 8, ELF_T_WORD) : NULL;
	if (d)
		return word_at(d, 1);
	return r->gnu_hash ? count_by_gnu_hash(r) : 0;
}

static int add_symbol(struct elf_reading *r, const GElf_Sym *s, unsigned version, struct err *e)
{
	unsigned bind = GELF_ST_BIND(s->st_info), type = GELF_ST_TYPE(s->st_info);
	if (bind == STB_LOCAL || !s->st_name)
		return 0;
	struct elf_symbol *out = &r->out->symbol[r->out->symbols];
	unsigned index = version & 0x7fff;
	*out = (struct elf_symbol){.name = string_at(r, s->st_name, e),
		.version = index < r->version_room ? r->version_name[index] : NULL,
		.library = index < r->version_room ? r->version_library[index] : NULL,
		.is_imported = s->st_shndx == SHN_UNDEF,
		.is_weak = bind == STB_WEAK,
		.is_function = type == STT_FUNC || type == STT_GNU_IFUNC};
	if (!out->name)
		return -1;
	r->out->symbols++;
	return 0;
}

static int read_symbols(struct elf_reading *r, struct err *e)
{
	uint64_t count = r->tag[DT_SYMTAB] ? count_symbols(r) : 0;
	if (count > LIMIT_ELF_SYMBOLS)
		return err_set(e, ERR_LIMIT, "the ELF file has more than %d symbols", LIMIT_ELF_SYMBOLS);
	if (count < 2) // the first one is none
		return 0;
	Elf_Data *symbols =
		data_at(r, r->tag[DT_SYMTAB], count * gelf_fsize(r->elf, ELF_T_SYM, 1, EV_CURRENT), ELF_T_SYM);
	Elf_Data *versions = r->versym ? data_at(r, r->versym, count * 2, ELF_T_HALF) : NULL;
	if (!symbols || (r->versym && !versions))
		return damaged(e, "its symbol table");
	r->out->symbol = xcalloc(count, sizeof(*r->out->symbol));
	for (int i = 1; i < (int)count; i++) {
		GElf_Sym s;
		GElf_Versym v = 0;
		if (!gelf_getsym(symbols, i, &s) || (versions && !gelf_getversym(versions, i, &v)))
			return damaged(e, "its symbol table");
		if (add_symbol(r, &s, v, e) < 0)
			return -1;
	}
	return 0;
}

static int add_toolchain(struct elf_reading *r, struct str name, struct err *e)
{
	for (size_t i = 0; i < r->out->toolchain.count; i++)
		if (str_eq(name, str_from(r->out->toolchain.item[i])))
			return 0;
	return name.len ? add_string(&r->out->toolchain, arena_copy(&r->out->text, name), e) : 0;
}

// .comment has a string for each tool, each with a NUL at its end. Nothing depends on it, so a damaged one is ignored.
static int read_comment(struct elf_reading *r, struct err *e)
{
	size_t names;
	Elf_Scn *section = NULL;
	if (elf_getshdrstrndx(r->elf, &names) < 0)
		return 0;
	while ((section = elf_nextscn(r->elf, section))) {
		GElf_Shdr h;
		const char *name = gelf_getshdr(section, &h) ? elf_strptr(r->elf, names, h.sh_name) : NULL;
		if (!name || strcmp(name, ".comment") != 0 || h.sh_size > COMMENT_MAX)
			continue;
		Elf_Data *d = elf_rawdata(section, NULL);
		struct str rest = d && d->d_buf ? (struct str){d->d_buf, d->d_size} : (struct str){0};
		while (rest.len)
			if (add_toolchain(r, str_cut(&rest, '\0'), e) < 0)
				return -1;
	}
	return 0;
}

static int read_facts(struct elf_reading *r, struct err *e)
{
	if (read_header(r, e) < 0 || read_segments(r, e) < 0 || read_comment(r, e) < 0)
		return -1;
	if (!r->out->is_dynamic)
		return 0;
	if (read_dynamic(r, e) < 0 || read_verneed(r, e) < 0 || read_verdef(r, e) < 0)
		return -1;
	return read_symbols(r, e);
}

int elf_facts_read(struct str bytes, struct elf_facts *out, struct err *e)
{
	struct elf_reading r = {.bytes = bytes, .out = out};
	*out = (struct elf_facts){0};
	elf_version(EV_CURRENT);
	r.elf = elf_memory((char *)(uintptr_t)bytes.ptr, bytes.len);
	int result = r.elf ? read_facts(&r, e) : damaged(e, elf_errmsg(-1));
	elf_end(r.elf);
	free(r.version_name);
	free(r.version_library);
	if (result < 0)
		elf_facts_release(out);
	return result;
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
