// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/elf/elf-facts.h"

#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/mem.h"
#include "lib/domain/elf/elf-outline.h"

// --- one reading ---
//
// What the parts of one reading share. One thread at a time.

struct Elf; // libelf's

struct elf_reading {
	struct Elf *elf;
	struct str bytes;
	const struct elf_outline *parts; // the only parts that bytes has; NULL: it has all
	struct elf_facts *out;
	size_t segments;
	uint64_t dynamic_offset, dynamic_size; // of the dynamic segment in the file,
	uint64_t dynamic_address;              // and in memory
	size_t note_left;                      // bytes of notes that may still be read,
	unsigned notes;                        // and number of their segments that were
	size_t *left;                          // bytes of facts that may still be made
};

// ERR_INVALID: the file is damaged; what: which part. Returns -1.
static int elf_damaged(struct err *e, const char *what)
{
	return err_set(e, ERR_INVALID, "damaged ELF: %s", what);
}

// How many bytes from the offset on may be read; 0: none.
static uint64_t elf_reading_room(const struct elf_reading *r, uint64_t offset)
{
	if (offset >= r->bytes.len)
		return 0;
	return r->parts ? elf_outline_room(r->parts, offset) : r->bytes.len - offset;
}

// Counts bytes of facts, or as much work. ERR_LIMIT: more than are left, of which none are left then.
static int elf_reading_spend(struct elf_reading *r, size_t size, struct err *e)
{
	bool is_enough = size <= *r->left;
	*r->left -= is_enough ? size : *r->left;
	return is_enough ? 0 : err_set(e, ERR_LIMIT, "the ELF files of the wheel have too many names");
}

// Adds a string, which is the facts', to a list. ERR_LIMIT.
static int elf_list_add(struct elf_list *list, const char *text, struct err *e)
{
	if (list->count >= LIMIT_ELF_STRINGS)
		return err_set(e, ERR_LIMIT, "the ELF file has more than %d names of a kind", LIMIT_ELF_STRINGS);
	if (list->count % 8 == 0)
		list->item = xreallocarray(list->item, list->count + 8, sizeof(*list->item));
	list->item[list->count++] = text;
	return 0;
}

// --- what the dynamic segment leads to ---
//
// Reads what the dynamic segment of an ELF file leads to: names, versions and symbols. One thread at a time.

enum {
	VERSIONS_MAX = 1 << 20,      // a table of versions; it ends with the segment, and has no size of its own
	HASH_MAX = 64 << 20,         // DT_GNU_HASH, the same; LIMIT_ELF_SYMBOLS symbols fit
	VERSION_INDEX_MASK = 0x7fff, // the other bit says that a symbol is hidden
};

// What the dynamic segment says, and what is found by it.
struct elf_dynamic {
	struct elf_reading *r;
	struct elf_facts *out;
	GElf_Phdr *load; // the segments that are loaded, as the file has them
	size_t loads;
	uint64_t tag[DT_NUM]; // values of the dynamic tags below DT_NUM
	uint64_t versym, verneed, verneednum, verdef, verdefnum, gnu_hash;
	struct str strings;                           // DT_STRTAB
	size_t text_left;                             // bytes of names that may still be read: they may overlap
	const char **version_name, **version_library; // by version index
	size_t version_room;
};

static int read_loads(struct elf_dynamic *d, struct err *e)
{
	d->load = xcalloc(d->r->segments + 1, sizeof(*d->load));
	for (size_t i = 0; i < d->r->segments; i++) {
		GElf_Phdr p;
		if (!gelf_getphdr(d->r->elf, (int)i, &p))
			return elf_damaged(e, "its program headers");
		if (p.p_type == PT_LOAD && p.p_offset <= d->r->bytes.len && p.p_filesz <= d->r->bytes.len - p.p_offset)
			d->load[d->loads++] = p;
	}
	return 0;
}

// The offset of an address in the file, and how many bytes of its segment follow. False: no segment has it in the file.
static bool find_offset(const struct elf_dynamic *d, uint64_t address, uint64_t *offset, uint64_t *room)
{
	for (size_t i = 0; i < d->loads; i++) {
		const GElf_Phdr *p = &d->load[i];
		if (address < p->p_vaddr || address - p->p_vaddr >= p->p_filesz)
			continue;
		uint64_t in_file = p->p_filesz - (address - p->p_vaddr);
		*offset = p->p_offset + (address - p->p_vaddr);
		*room = elf_reading_room(d->r, *offset);
		*room = *room < in_file ? *room : in_file;
		return *room > 0;
	}
	return false;
}

// The translated bytes at an address. NULL: they are not in the file.
static Elf_Data *data_at(const struct elf_dynamic *d, uint64_t address, uint64_t size, Elf_Type type)
{
	uint64_t offset, room;
	if (!find_offset(d, address, &offset, &room) || size > room || !size)
		return NULL;
	return elf_getdata_rawchunk(d->r->elf, (int64_t)offset, size, type);
}

// The same up to the end of the segment, at most `most` bytes.
static Elf_Data *rest_at(const struct elf_dynamic *d, uint64_t address, uint64_t most, Elf_Type type)
{
	uint64_t offset, room;
	if (!find_offset(d, address, &offset, &room))
		return NULL;
	return elf_getdata_rawchunk(d->r->elf, (int64_t)offset, room < most ? room : most, type);
}

// The string at an offset of DT_STRTAB, copied, of at most `longest` bytes.
static const char *text_at(struct elf_dynamic *d, uint64_t offset, size_t longest, struct err *e)
{
	if (offset >= d->strings.len)
		return elf_damaged(e, "a name is outside of the string table"), NULL;
	const char *begin = d->strings.ptr + offset;
	size_t room = d->strings.len - offset, most = longest + 1, len = strnlen(begin, room < most ? room : most);
	if (len > longest)
		return err_set(e, ERR_LIMIT, "a name in the ELF file is longer than %zu bytes", longest), NULL;
	if (len == room)
		return elf_damaged(e, "a name has no end"), NULL;
	if (len >= d->text_left)
		return err_set(e, ERR_LIMIT, "the names in the ELF file have more than %d bytes", LIMIT_ELF_TEXT), NULL;
	d->text_left -= len + 1;
	if (elf_reading_spend(d->r, len + 1, e) < 0)
		return NULL;
	return arena_copy(&d->out->text, (struct str){begin, len});
}

static const char *string_at(struct elf_dynamic *d, uint64_t offset, struct err *e)
{
	return text_at(d, offset, LIMIT_ELF_STRING, e);
}

// The name of a library or of a version. Each is compared with many others.
static const char *library_at(struct elf_dynamic *d, uint64_t offset, struct err *e)
{
	return text_at(d, offset, LIMIT_ELF_LIBRARY, e);
}

static void take_tag(struct elf_dynamic *d, const GElf_Dyn *entry)
{
	const struct {
		int64_t tag;
		uint64_t *value;
	} others[] = {{DT_VERSYM, &d->versym}, {DT_VERNEED, &d->verneed}, {DT_VERNEEDNUM, &d->verneednum},
		{DT_VERDEF, &d->verdef}, {DT_VERDEFNUM, &d->verdefnum}, {DT_GNU_HASH, &d->gnu_hash}};
	uint64_t value = entry->d_un.d_val;
	if (entry->d_tag == DT_TEXTREL || (entry->d_tag == DT_FLAGS && value & DF_TEXTREL))
		d->out->has_textrel = true;
	if (entry->d_tag >= 0 && entry->d_tag < DT_NUM)
		d->tag[entry->d_tag] = value;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (entry->d_tag == others[i].tag)
			*others[i].value = value;
}

static int take_dynamic_name(struct elf_dynamic *d, const GElf_Dyn *entry, struct err *e)
{
	const char **field = entry->d_tag == DT_SONAME    ? &d->out->soname
			     : entry->d_tag == DT_RPATH   ? &d->out->rpath
			     : entry->d_tag == DT_RUNPATH ? &d->out->runpath
							  : NULL;
	if (!field && entry->d_tag != DT_NEEDED)
		return 0;
	bool is_path = entry->d_tag == DT_RPATH || entry->d_tag == DT_RUNPATH;
	const char *text = (is_path ? string_at : library_at)(d, entry->d_un.d_val, e);
	if (!text)
		return -1;
	if (!field)
		return elf_list_add(&d->out->needed, text, e);
	*field = text;
	return 0;
}

// Whether the file has debugging information alone (objcopy --only-keep-debug): its headers are those of the library,
// but what they lead to is not in the file. No loader loads it.
static bool is_debug_file(const struct elf_dynamic *d)
{
	for (Elf_Scn *s = NULL; (s = elf_nextscn(d->r->elf, s));) {
		GElf_Shdr h;
		if (gelf_getshdr(s, &h) && h.sh_type == SHT_NOBITS && h.sh_addr == d->r->dynamic_address)
			return true;
	}
	return false;
}

// Reads the entries up to DT_NULL twice: for the tags, and then for the names, which need DT_STRTAB.
static int read_entries(struct elf_dynamic *d, struct err *e)
{
	const struct elf_reading *r = d->r;
	Elf_Data *data = NULL;
	GElf_Dyn entry;
	if (r->dynamic_size <= elf_reading_room(r, r->dynamic_offset))
		data = elf_getdata_rawchunk(r->elf, (int64_t)r->dynamic_offset, r->dynamic_size, ELF_T_DYN);
	if (!data && !is_debug_file(d))
		return elf_damaged(e, "its dynamic segment");
	for (int i = 0; gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++)
		take_tag(d, &entry);
	Elf_Data *strings = data_at(d, d->tag[DT_STRTAB], d->tag[DT_STRSZ], ELF_T_BYTE);
	if (!strings && is_debug_file(d)) {
		d->out->is_dynamic = d->out->has_textrel = false;
		return 0;
	}
	if (!strings)
		return elf_damaged(e, "its string table");
	d->strings = (struct str){strings->d_buf, strings->d_size};
	for (int i = 0; gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++)
		if (take_dynamic_name(d, &entry, e) < 0)
			return -1;
	return 0;
}

static int add_version(struct elf_version **list, size_t *count, struct elf_version v, struct err *e)
{
	if (*count >= LIMIT_ELF_STRINGS)
		return err_set(e, ERR_LIMIT, "the ELF file has more than %d versions", LIMIT_ELF_STRINGS);
	if (*count % 64 == 0)
		*list = xreallocarray(*list, *count + 64, sizeof(**list));
	(*list)[(*count)++] = v;
	return 0;
}

static void set_version_index(struct elf_dynamic *d, unsigned index, const char *name, const char *library)
{
	index &= VERSION_INDEX_MASK;
	if (index >= d->version_room) {
		size_t room = 2 * (size_t)index + 16;
		d->version_name = xreallocarray(d->version_name, room, sizeof(*d->version_name));
		d->version_library = xreallocarray(d->version_library, room, sizeof(*d->version_library));
		for (size_t i = d->version_room; i < room; i++)
			d->version_name[i] = d->version_library[i] = NULL;
		d->version_room = room;
	}
	d->version_name[index] = name;
	d->version_library[index] = library;
}

static int read_needed_versions(struct elf_dynamic *d, Elf_Data *data, const GElf_Verneed *n, size_t at, struct err *e)
{
	const char *library = library_at(d, n->vn_file, e);
	if (!library)
		return -1;
	for (unsigned k = 0; k < n->vn_cnt; k++) {
		GElf_Vernaux a;
		if (at > INT32_MAX || !gelf_getvernaux(data, (int)at, &a))
			return elf_damaged(e, "its version requirements");
		struct elf_version v = {library, library_at(d, a.vna_name, e), a.vna_flags & VER_FLG_WEAK};
		if (!v.name || add_version(&d->out->needed_version, &d->out->needed_versions, v, e) < 0)
			return -1;
		set_version_index(d, a.vna_other, v.name, library);
		if (!a.vna_next)
			break;
		at += a.vna_next;
	}
	return 0;
}

static int read_verneed(struct elf_dynamic *d, struct err *e)
{
	Elf_Data *data = d->verneed ? rest_at(d, d->verneed, VERSIONS_MAX, ELF_T_VNEED) : NULL;
	size_t at = 0;
	if (d->verneed && !data)
		return elf_damaged(e, "its version requirements");
	for (uint64_t i = 0; data && i < d->verneednum; i++) {
		GElf_Verneed n;
		if (at > INT32_MAX || !gelf_getverneed(data, (int)at, &n))
			return elf_damaged(e, "its version requirements");
		if (read_needed_versions(d, data, &n, at + n.vn_aux, e) < 0)
			return -1;
		if (!n.vn_next)
			break;
		at += n.vn_next;
	}
	return 0;
}

static int read_verdef(struct elf_dynamic *d, struct err *e)
{
	Elf_Data *data = d->verdef ? rest_at(d, d->verdef, VERSIONS_MAX, ELF_T_VDEF) : NULL;
	size_t at = 0;
	if (d->verdef && !data)
		return elf_damaged(e, "its version definitions");
	for (uint64_t i = 0; data && i < d->verdefnum; i++) {
		GElf_Verdef v;
		GElf_Verdaux a;
		if (at > INT32_MAX || !gelf_getverdef(data, (int)at, &v) || at + v.vd_aux > INT32_MAX ||
			!gelf_getverdaux(data, (int)(at + v.vd_aux), &a))
			return elf_damaged(e, "its version definitions");
		const char *name = library_at(d, a.vda_name, e);
		if (!name)
			return -1;
		struct elf_version version = {NULL, name, v.vd_flags & VER_FLG_WEAK};
		bool is_base = v.vd_flags & VER_FLG_BASE; // the name of the file itself
		if (!is_base && add_version(&d->out->defined_version, &d->out->defined_versions, version, e) < 0)
			return -1;
		if (!is_base)
			set_version_index(d, v.vd_ndx, name, NULL);
		if (!v.vd_next)
			break;
		at += v.vd_next;
	}
	return 0;
}

static uint32_t word_at(Elf_Data *data, uint64_t index)
{
	uint32_t word;
	if (index >= data->d_size / sizeof(word))
		return 0;
	memcpy(&word, (const char *)data->d_buf + index * sizeof(word), sizeof(word)); // translated by libelf
	return word;
}

// The number of symbols by DT_GNU_HASH: the last one of the last chain. The words are: buckets, first symbol, words of
// the filter, shift; then the filter, the buckets and the chains.
static uint64_t count_by_gnu_hash(const struct elf_dynamic *d)
{
	Elf_Data *data = rest_at(d, d->gnu_hash, HASH_MAX, ELF_T_WORD);
	if (!data || data->d_size < 16)
		return 0;
	uint64_t buckets = word_at(data, 0), first = word_at(data, 1), filter = word_at(data, 2);
	uint64_t at = 4 + filter * (d->out->is_64 ? 2 : 1), last = 0, words = data->d_size / 4;
	if (at > words || buckets > words - at)
		return 0;
	for (uint64_t i = 0; i < buckets; i++)
		if (word_at(data, at + i) > last)
			last = word_at(data, at + i);
	if (last < first)
		return first;
	while (at + buckets + (last - first) < words && !(word_at(data, at + buckets + (last - first)) & 1))
		last++;
	return last + 1;
}

// A hash table has no imported symbols, so that one without exported ones tells nothing.
static uint64_t count_symbols(const struct elf_dynamic *d)
{
	Elf_Data *data = d->tag[DT_HASH] ? data_at(d, d->tag[DT_HASH], 8, ELF_T_WORD) : NULL;
	if (data)
		return word_at(data, 1);
	uint64_t count = d->gnu_hash ? count_by_gnu_hash(d) : 0;
	if (count > 1)
		return count;
	for (Elf_Scn *s = NULL; (s = elf_nextscn(d->r->elf, s));) {
		GElf_Shdr h;
		if (gelf_getshdr(s, &h) && h.sh_type == SHT_DYNSYM && h.sh_addr == d->tag[DT_SYMTAB])
			return h.sh_size / gelf_fsize(d->r->elf, ELF_T_SYM, 1, EV_CURRENT);
	}
	return 0;
}

static int read_symbols(struct elf_dynamic *d, struct err *e)
{
	uint64_t count = d->tag[DT_SYMTAB] ? count_symbols(d) : 0;
	if (count > LIMIT_ELF_SYMBOLS)
		return err_set(e, ERR_LIMIT, "the ELF file has more than %d symbols", LIMIT_ELF_SYMBOLS);
	if (count < 2) // the first one is none
		return 0;
	size_t size = gelf_fsize(d->r->elf, ELF_T_SYM, 1, EV_CURRENT);
	Elf_Data *symbols = data_at(d, d->tag[DT_SYMTAB], count * size, ELF_T_SYM);
	Elf_Data *versions = d->versym ? data_at(d, d->versym, count * 2, ELF_T_HALF) : NULL;
	if (!symbols || (d->versym && !versions))
		return elf_damaged(e, "its symbol table");
	if (elf_reading_spend(d->r, count * sizeof(*d->out->symbol), e) < 0)
		return -1;
	d->out->symbol = xcalloc(count, sizeof(*d->out->symbol));
	for (int i = 1; i < (int)count; i++) {
		GElf_Sym s;
		GElf_Versym v = 0;
		if (!gelf_getsym(symbols, i, &s) || (versions && !gelf_getversym(versions, i, &v)))
			return elf_damaged(e, "its symbol table");
		unsigned int version = v;
		unsigned bind = GELF_ST_BIND(s.st_info), type = GELF_ST_TYPE(s.st_info);
		if (bind != STB_LOCAL && s.st_name) {
			struct elf_symbol *out = &d->out->symbol[d->out->symbols];
			unsigned index = version & VERSION_INDEX_MASK;
			*out = (struct elf_symbol){.name = string_at(d, s.st_name, e),
				.version = index < d->version_room ? d->version_name[index] : NULL,
				.library = index < d->version_room ? d->version_library[index] : NULL,
				.is_imported = s.st_shndx == SHN_UNDEF,
				.is_weak = bind == STB_WEAK,
				.is_function = type == STT_FUNC || type == STT_GNU_IFUNC};
			if (!out->name)
				return -1;
			d->out->symbols++;
		}
	}
	return 0;
}

// Reads into r->out. Errors as elf_facts_read; the caller releases r->out.
static int elf_dynamic_read(struct elf_reading *r, struct err *e)
{
	static int (*const steps[])(struct elf_dynamic *, struct err *) = {
		read_loads, read_entries, read_verneed, read_verdef, read_symbols};
	struct elf_dynamic d = {.r = r, .out = r->out, .text_left = LIMIT_ELF_TEXT};
	int result = 0;
	for (size_t i = 0; i < ARRAY_SIZE(steps) && result == 0 && r->out->is_dynamic; i++)
		result = steps[i](&d, e);
	free(d.load);
	free(d.version_name);
	free(d.version_library);
	return result;
}

// --- header, segments, notes, comments ---

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
	// Section 0 may have a larger number, which libelf takes, and no loader: what libelf finds is not what is
	// loaded.
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
		if (n.n_namesz == 4 && memcmp(bytes + name, "GNU", 4) == 0 && n.n_type == NT_GNU_BUILD_ID) {
			if (content.len <= BUILD_ID_MAX)
				for (size_t i = 0; i < content.len; i++)
					snprintf(r->out->build_id + 2 * i, 3, "%02x", (unsigned char)content.ptr[i]);
		}
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

// --- architectures ---

// The machines of the ELF header (System V gABI). Of several names for one, the first is the usual one.
static const struct elf_arch arches[] = {
	{"x86_64", 62, true, false},
	{"i686", 3, false, false},
	{"aarch64", 183, true, false},
	{"armv7l", 40, false, false},
	{"ppc64le", 21, true, false},
	{"ppc64", 21, true, true},
	{"s390x", 22, true, true},
	{"riscv64", 243, true, false},
	{"loongarch64", 258, true, false},
	// Not in the tables of manylinux:
	{"armv6l", 40, false, false},
	{"i386", 3, false, false},
	{"i586", 3, false, false},
	{"mips64", 8, true, true},
	{"mips64el", 8, true, false},
	{"mips64le", 8, true, false},
	{"riscv32", 243, false, false},
	{"sparc64", 43, true, true},
	{"alpha", 0x9026, true, false},
};

bool elf_arch_fits(const struct elf_arch *a, const struct elf_facts *f)
{
	return a->machine == f->machine && a->is_64 == f->is_64 && a->is_big_endian == f->is_big_endian;
}

const struct elf_arch *elf_arch_of(const struct elf_facts *f)
{
	for (size_t i = 0; i < ARRAY_SIZE(arches); i++)
		if (elf_arch_fits(&arches[i], f))
			return &arches[i];
	return NULL;
}

bool elf_arch_is_host(const struct elf_facts *f)
{
	static const unsigned others[] = {0, 190, 224, 247}; // none, CUDA, AMD GPU, BPF
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (f->machine == others[i])
			return false;
	return true;
}

const char *elf_arch(const struct elf_facts *f)
{
	const struct elf_arch *a = elf_arch_of(f);
	return a ? a->name : NULL;
}

const char *elf_arch_name(const struct elf_facts *f, char room[32])
{
	const struct elf_arch *a = elf_arch_of(f);
	if (a)
		return a->name;
	snprintf(room, 32, "ELF machine %u (%d bit)", f->machine, f->is_64 ? 64 : 32);
	return room;
}

const struct elf_arch *elf_arch_find(struct str name)
{
	for (size_t i = 0; i < ARRAY_SIZE(arches); i++)
		if (str_eq(name, str_from(arches[i].name)))
			return &arches[i];
	return NULL;
}
