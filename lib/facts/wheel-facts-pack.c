// SPDX-License-Identifier: Apache-2.0
// The facts of a wheel as bytes: a version, then a zstd frame of numbers (LEB128) and texts (length, bytes, NUL), in
// the order of the structs. Unpacked texts stay in the unpacked bytes, which the facts own.
#include <stdlib.h>
#include <string.h>

#include "lib/facts/wheel-facts.h"
#include "lib/facts/wheel-reading.h"
#include "lib/base/limits.h"
#include "lib/format/compress.h"

enum { ZSTD_LEVEL = 3 };

// In front of the frame: "WF", the version in decimal, and a NUL.
static void put_facts_head(struct buf *out)
{
	buf_printf(out, "WF%d", WHEEL_FACTS_VERSION);
	buf_putc(out, '\0');
}

// A text that is absent is 0, and otherwise its length + 1 stands in front.

static void pack_number(struct buf *b, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		buf_putc(b, (char)(value | 0x80));
	buf_putc(b, (char)value);
}

static void pack_text(struct buf *b, const char *text)
{
	size_t len = text ? strlen(text) : 0;
	pack_number(b, text ? len + 1 : 0);
	if (text)
		buf_add(b, text, len + 1);
}

static void pack_list(struct buf *b, const struct elf_list *list)
{
	pack_number(b, list->count);
	for (size_t i = 0; i < list->count; i++)
		pack_text(b, list->item[i]);
}

static void pack_versions(struct buf *b, const struct elf_version *version, size_t count)
{
	pack_number(b, count);
	for (size_t i = 0; i < count; i++) {
		pack_text(b, version[i].library);
		pack_text(b, version[i].name);
		pack_number(b, version[i].is_weak);
	}
}

// The versions of a file, in the order of version and library, to find those of its symbols.
struct version_order {
	const struct elf_version *version;
	size_t number; // from 1 on, among the needed ones and then the defined ones
};

static int compare_optional(const char *a, const char *b)
{
	if (a == b)
		return 0;
	return !a ? -1 : !b ? 1 : strcmp(a, b);
}

static int compare_symbol_versions(const void *a, const void *b)
{
	const struct version_order *left = a, *right = b;
	int order = compare_optional(left->version->name, right->version->name);
	return order ? order : compare_optional(left->version->library, right->version->library);
}

static struct version_order *sort_versions(const struct elf_facts *f)
{
	struct version_order *order = xcalloc(f->needed_versions + f->defined_versions + 1, sizeof(*order));
	size_t n = 0;
	for (size_t i = 0; i < f->needed_versions; i++, n++)
		order[n] = (struct version_order){&f->needed_version[i], n + 1};
	for (size_t i = 0; i < f->defined_versions; i++, n++)
		order[n] = (struct version_order){&f->defined_version[i], n + 1};
	qsort(order, n, sizeof(*order), compare_symbol_versions);
	return order;
}

enum { SYMBOL_IMPORTED = 1, SYMBOL_WEAK = 2, SYMBOL_FUNCTION = 4, SYMBOL_VERSION = 3 }; // the last: a shift

enum { ELF_FLAGS = 9 };

// The flags, for packing and unpacking.
static void elf_flags_of(struct elf_facts *f, bool *flag[ELF_FLAGS])
{
	bool *all[ELF_FLAGS] = {&f->is_64, &f->is_big_endian, &f->is_shared, &f->is_relocatable, &f->is_executable,
		&f->is_dynamic, &f->has_stack_mark, &f->is_stack_executable, &f->has_textrel};
	memcpy(flag, all, sizeof(all));
}

static uint64_t elf_flags(const struct elf_facts *f)
{
	bool *flag[ELF_FLAGS];
	uint64_t bits = 0;
	elf_flags_of((struct elf_facts *)(uintptr_t)f, flag);
	for (size_t i = 0; i < ELF_FLAGS; i++)
		bits |= (uint64_t)*flag[i] << i;
	return bits;
}

static void pack_elf(struct buf *b, const struct wheel_elf *w)
{
	const struct elf_facts *f = &w->elf;
	pack_text(b, w->path);
	pack_number(b, w->size);
	buf_add(b, w->sha256, sizeof(w->sha256));
	pack_text(b, w->damage);
	pack_number(b, w->is_beyond_limit);
	if (w->damage)
		return;
	pack_number(b, f->machine);
	pack_number(b, elf_flags(f));
	pack_text(b, f->soname);
	pack_text(b, f->rpath);
	pack_text(b, f->runpath);
	pack_list(b, &f->needed);
	pack_versions(b, f->needed_version, f->needed_versions);
	pack_versions(b, f->defined_version, f->defined_versions);
	CLEANUP(mem_free) struct version_order *order = sort_versions(f);
	size_t versions = f->needed_versions + f->defined_versions;
	pack_number(b, f->symbols);
	for (size_t i = 0; i < f->symbols; i++) {
		const struct elf_symbol *s = &f->symbol[i];
		struct elf_version version = {s->library, s->version, false};
		struct version_order key = {&version, 0}, *found = NULL;
		if (s->version)
			found = bsearch(&key, order, versions, sizeof(*order), compare_symbol_versions);
		pack_number(b, (found ? found->number : 0) << SYMBOL_VERSION | (s->is_imported ? SYMBOL_IMPORTED : 0) |
				       (s->is_weak ? SYMBOL_WEAK : 0) | (s->is_function ? SYMBOL_FUNCTION : 0));
		pack_text(b, s->name);
	}
	pack_list(b, &f->toolchain);
	pack_text(b, f->build_id);
	pack_number(b, f->isa_needed);
	pack_number(b, f->isa_used);
}

static void pack_facts(struct buf *b, const struct wheel_facts *f)
{
	pack_number(b, f->is_purelib);
	pack_number(b, f->is_cut);
	pack_text(b, f->cut);
	pack_number(b, f->elfs);
	for (size_t i = 0; i < f->elfs; i++)
		pack_elf(b, &f->elf[i]);
	pack_number(b, f->components);
	for (size_t i = 0; i < f->components; i++) {
		const struct wheel_component *c = &f->component[i];
		pack_text(b, c->member);
		pack_text(b, c->name);
		pack_text(b, c->version);
		pack_text(b, c->purl);
	}
	pack_number(b, f->odds);
	for (size_t i = 0; i < f->odds; i++) {
		pack_number(b, f->odd[i].oddity);
		pack_text(b, f->odd[i].path);
		pack_text(b, f->odd[i].detail);
	}
	pack_number(b, f->members);
	for (size_t i = 0; i < f->members; i++)
		pack_text(b, f->member[i]);
}

int wheel_facts_pack_by(struct wheel_reader *r, const struct wheel_facts *f, struct buf *out, struct err *e)
{
	CLEANUP(buf_release) struct buf plain = buf_up_to(LIMIT_FACTS);
	pack_facts(&plain, f);
	if (plain.failed)
		return err_set(e, ERR_LIMIT, "the facts of the wheel have more than %d bytes", LIMIT_FACTS);
	put_facts_head(out);
	return compress_zstd_by(r->pack, buf_view(&plain), ZSTD_LEVEL, out, e);
}

int wheel_facts_pack(const struct wheel_facts *f, struct buf *out, struct err *e)
{
	struct wheel_reader *r = wheel_reader_new();
	int result = wheel_facts_pack_by(r, f, out, e);
	wheel_reader_free(r);
	return result;
}

// What is still to be unpacked. After a failure every number is 0 and every text NULL.
struct unpacking {
	char *at, *end;
	size_t room; // bytes that arrays may still take
	bool failed;
};

static uint64_t unpack_number(struct unpacking *u)
{
	uint64_t value = 0;
	for (unsigned shift = 0; shift < 64 && u->at < u->end; shift += 7) {
		unsigned char byte = (unsigned char)*u->at++;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return u->failed ? 0 : value;
	}
	u->failed = true;
	return 0;
}

static const char *unpack_text(struct unpacking *u)
{
	uint64_t len = unpack_number(u);
	if (!len)
		return NULL;
	if (len > (uint64_t)(u->end - u->at) || u->at[len - 1] || memchr(u->at, '\0', len - 1)) {
		u->failed = true;
		return NULL;
	}
	const char *text = u->at;
	u->at += len;
	return text;
}

// A text that is never NULL.
static const char *unpack_name(struct unpacking *u)
{
	const char *text = unpack_text(u);
	u->failed |= !text;
	return text ? text : "";
}

// The number of elements of some bytes in memory that follow.
static size_t unpack_count(struct unpacking *u, size_t size)
{
	uint64_t count = unpack_number(u);
	if (count <= (uint64_t)(u->end - u->at) && count <= u->room / size) {
		u->room -= (size_t)count * size;
		return (size_t)count;
	}
	u->failed = true;
	return 0;
}

static void unpack_list(struct unpacking *u, struct elf_list *list)
{
	list->count = unpack_count(u, sizeof(*list->item));
	list->item = xcalloc(list->count + 1, sizeof(*list->item));
	for (size_t i = 0; i < list->count; i++)
		list->item[i] = unpack_name(u);
}

static struct elf_version *unpack_versions(struct unpacking *u, size_t *count)
{
	*count = unpack_count(u, sizeof(struct elf_version));
	struct elf_version *version = xcalloc(*count + 1, sizeof(*version));
	for (size_t i = 0; i < *count; i++) {
		version[i].library = unpack_text(u);
		version[i].name = unpack_name(u);
		version[i].is_weak = unpack_number(u);
	}
	return version;
}

static void unpack_symbols(struct unpacking *u, struct elf_facts *f)
{
	f->symbols = unpack_count(u, sizeof(*f->symbol));
	f->symbol = xcalloc(f->symbols + 1, sizeof(*f->symbol));
	for (size_t i = 0; i < f->symbols && !u->failed; i++) {
		uint64_t flags = unpack_number(u), number = flags >> SYMBOL_VERSION;
		const struct elf_version *version = NULL;
		if (number > f->needed_versions + f->defined_versions)
			u->failed = true;
		else if (number)
			version = number <= f->needed_versions ? &f->needed_version[number - 1]
							       : &f->defined_version[number - 1 - f->needed_versions];
		f->symbol[i] = (struct elf_symbol){.name = unpack_name(u),
			.version = version ? version->name : NULL,
			.library = version ? version->library : NULL,
			.is_imported = flags & SYMBOL_IMPORTED,
			.is_weak = flags & SYMBOL_WEAK,
			.is_function = flags & SYMBOL_FUNCTION};
	}
}

static void unpack_bytes(struct unpacking *u, void *out, size_t len)
{
	if ((size_t)(u->end - u->at) < len) {
		u->failed = true;
		return;
	}
	memcpy(out, u->at, len);
	u->at += len;
}

static void unpack_elf_facts(struct unpacking *u, struct elf_facts *f)
{
	bool *flag[ELF_FLAGS];
	f->machine = (unsigned)unpack_number(u);
	elf_flags_of(f, flag);
	uint64_t bits = unpack_number(u);
	for (size_t i = 0; i < ELF_FLAGS; i++)
		*flag[i] = bits >> i & 1;
	f->soname = unpack_text(u);
	f->rpath = unpack_text(u);
	f->runpath = unpack_text(u);
	unpack_list(u, &f->needed);
	f->needed_version = unpack_versions(u, &f->needed_versions);
	f->defined_version = unpack_versions(u, &f->defined_versions);
	unpack_symbols(u, f);
	unpack_list(u, &f->toolchain);
	const char *id = unpack_name(u);
	size_t len = strlen(id);
	if (len < sizeof(f->build_id))
		memcpy(f->build_id, id, len + 1);
	else
		u->failed = true;
	f->isa_needed = (uint32_t)unpack_number(u);
	f->isa_used = (uint32_t)unpack_number(u);
}

static void unpack_facts(struct unpacking *u, struct wheel_facts *f)
{
	f->is_purelib = unpack_number(u);
	f->is_cut = unpack_number(u);
	f->cut = unpack_text(u);
	f->elfs = unpack_count(u, sizeof(*f->elf));
	f->elf = ARENA_NEW(&f->text, struct wheel_elf, f->elfs);
	for (size_t i = 0; i < f->elfs && !u->failed; i++) {
		struct wheel_elf *w = &f->elf[i];
		w->path = unpack_name(u);
		w->size = unpack_number(u);
		unpack_bytes(u, w->sha256, sizeof(w->sha256));
		w->damage = unpack_text(u);
		w->is_beyond_limit = unpack_number(u);
		if (!w->damage)
			unpack_elf_facts(u, &w->elf);
	}
	f->components = unpack_count(u, sizeof(*f->component));
	f->component = ARENA_NEW(&f->text, struct wheel_component, f->components);
	for (size_t i = 0; i < f->components; i++) {
		struct wheel_component *c = &f->component[i];
		c->member = unpack_name(u);
		c->name = unpack_name(u);
		c->version = unpack_text(u);
		c->purl = unpack_text(u);
	}
	f->odds = unpack_count(u, sizeof(*f->odd));
	f->odd = ARENA_NEW(&f->text, struct wheel_odd_member, f->odds);
	for (size_t i = 0; i < f->odds; i++) {
		uint64_t kind = unpack_number(u);
		u->failed |= kind >= WHEEL_ODDITY_COUNT;
		f->odd[i].oddity = u->failed ? 0 : (enum wheel_oddity)kind;
		f->odd[i].path = unpack_name(u);
		f->odd[i].detail = unpack_text(u);
	}
	f->members = unpack_count(u, sizeof(*f->member));
	const char **names = ARENA_NEW(&f->text, const char *, f->members);
	for (size_t i = 0; i < f->members; i++)
		names[i] = unpack_name(u);
	f->member = names;
}

int wheel_facts_unpack(struct str packed, struct wheel_facts *out, struct err *e)
{
	return wheel_facts_unpack_most(packed, LIMIT_FACTS, out, e);
}

int wheel_facts_unpack_most(struct str packed, size_t most, struct wheel_facts *out, struct err *e)
{
	CLEANUP(buf_release) struct buf head = buf_up_to(SIZE_MAX / 2);
	CLEANUP(buf_release) struct buf plain = buf_up_to(most);
	put_facts_head(&head);
	if (!str_starts(packed, buf_view(&head)))
		return err_set(e, ERR_INVALID, "the facts are of another version");
	if (decompress_zstd(str_slice(packed, head.len, packed.len), &plain, e) < 0)
		return -1;
	*out = (struct wheel_facts){0};
	char *bytes = arena_alloc(&out->text, plain.len + 1);
	memcpy(bytes, plain.data, plain.len);
	struct unpacking u = {bytes, bytes + plain.len, most + most / 2, false};
	unpack_facts(&u, out);
	if (!u.failed && u.at == u.end)
		return 0;
	wheel_facts_release(out);
	return err_set(e, ERR_INVALID, "the facts are damaged");
}
