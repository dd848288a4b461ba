// SPDX-License-Identifier: Apache-2.0
// ELF files: the facts of a file and of its parts alone are the same, and packing keeps them.
#include <string.h>

#include "lib/facts/wheel-facts.h"
#include "lib/base/limits.h"
#include "lib/domain/elf/elf-outline.h"
#include "tests/fuzz/fuzz.h"

enum { PACKED_MAX = 64 << 20 };

// Takes over the facts.
static void pack_elf_facts(struct elf_facts *elf, struct buf *out)
{
	struct wheel_elf one = {.path = "a.so", .elf = *elf};
	struct wheel_facts f = {.elf = &one, .elfs = 1};
	struct err e = ERR_INIT;
	buf_init(out, PACKED_MAX);
	HOLDS(wheel_facts_pack(&f, out, &e) == 0);
	wheel_facts_release(&f);
}

static void check_elf_facts(const struct elf_facts *f)
{
	for (size_t i = 0; i < f->needed.count; i++)
		HOLDS(f->needed.item[i]);
	for (size_t i = 0; i < f->toolchain.count; i++)
		HOLDS(f->toolchain.item[i][0]);
	for (size_t i = 0; i < f->needed_versions; i++)
		HOLDS(f->needed_version[i].library && f->needed_version[i].name);
	for (size_t i = 0; i < f->defined_versions; i++)
		HOLDS(!f->defined_version[i].library && f->defined_version[i].name);
	for (size_t i = 0; i < f->symbols; i++)
		HOLDS(f->symbol[i].name && strlen(f->symbol[i].name) <= LIMIT_ELF_STRING);
	HOLDS(f->is_dynamic || (!f->symbols && !f->needed.count && !f->soname && !f->needed_versions));
	HOLDS(f->text.total <= LIMIT_ELF_TEXT + (1 << 20));
}

// False: it cannot be read.
static bool read_facts(struct str bytes, const struct elf_outline *parts, struct buf *packed)
{
	size_t left = LIMIT_FACTS;
	struct err e = ERR_INIT;
	struct elf_facts facts;
	if (elf_facts_read_parts(bytes, parts, &left, &facts, &e) < 0) {
		HOLDS((e.kind == ERR_INVALID || e.kind == ERR_LIMIT) && e.msg[0]);
		return false;
	}
	HOLDS(e.kind == ERR_NONE);
	check_elf_facts(&facts);
	pack_elf_facts(&facts, packed);
	return true;
}

// Whether the parts lie in the file, in order and apart from each other.
static void check_parts(const struct elf_outline *o, size_t size)
{
	uint64_t end = 0;
	for (size_t i = 0; i < o->count; i++) {
		const struct elf_part *p = &o->part[i];
		HOLDS(p->size > 0 && p->offset < size && p->size <= size - p->offset && (!i || p->offset > end));
		end = p->offset + p->size;
		HOLDS(elf_outline_room(o, p->offset) == p->size && elf_outline_room(o, end) == 0);
	}
}

// What is not in a part must not be looked at.
static void compare_parts_alone(struct str text, const struct elf_outline *o)
{
	CLEANUP(mem_free) char *alone = xcalloc(text.len + 1, 1);
	CLEANUP(buf_release) struct buf of_all = {0}, of_parts = {0};
	for (size_t i = 0; i < o->count; i++)
		memcpy(alone + o->part[i].offset, text.ptr + o->part[i].offset, o->part[i].size);
	bool is_good = read_facts(text, o, &of_all);
	HOLDS(read_facts((struct str){alone, text.len}, o, &of_parts) == is_good);
	HOLDS(!is_good || str_eq(buf_view(&of_all), buf_view(&of_parts)));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct str text = fuzz_text(bytes, size);
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf packed = {0};
	CLEANUP(elf_outline_release) struct elf_outline outline = {0};
	if (!elf_is_elf(text))
		return 0;
	read_facts(text, NULL, &packed);
	if (elf_outline_tables(text, text.len, &outline, &e) < 0 || elf_outline_contents(text, &outline, &e) < 0)
		return 0;
	check_parts(&outline, text.len);
	compare_parts_alone(text, &outline);
	return 0;
}
