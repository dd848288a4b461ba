// SPDX-License-Identifier: Apache-2.0
// Whole wheels, all named demo-1.0-py3-none-any.whl: each that can be installed has facts, and packing keeps them.
#include "lib/facts/wheel-facts.h"

#include <string.h>

#include "lib/base/limits.h"
#include "lib/domain/wheel/wheel.h"
#include "tests/fuzz/fuzz.h"

enum { PACKED_MAX = 64 << 20 };

static void check_wheel_facts(const struct wheel_facts *f)
{
	size_t odds[WHEEL_ODDITY_COUNT] = {0};
	for (size_t i = 1; i < f->members; i++)
		HOLDS(str_cmp(str_from(f->member[i - 1]), str_from(f->member[i])) < 0);
	for (size_t i = 0; i < f->elfs; i++)
		HOLDS(f->elf[i].path && (!f->elf[i].damage || !f->elf[i].elf.symbols));
	for (size_t i = 0; i < f->components; i++)
		HOLDS(f->component[i].member && f->component[i].name);
	for (size_t i = 0; i < f->odds; i++)
		HOLDS(f->odd[i].path && ++odds[f->odd[i].oddity] <= LIMIT_ODDITIES);
	HOLDS(f->is_cut == (f->cut != NULL));
}

static void check_packing(const struct wheel_facts *f)
{
	CLEANUP(buf_release) struct buf packed, again;
	CLEANUP(wheel_facts_release) struct wheel_facts unpacked = {0};
	struct err e = ERR_INIT;
	buf_init(&packed, PACKED_MAX);
	buf_init(&again, PACKED_MAX);
	HOLDS(wheel_facts_pack(f, &packed, &e) == 0 && wheel_facts_unpack(buf_view(&packed), &unpacked, &e) == 0);
	check_wheel_facts(&unpacked);
	HOLDS(wheel_facts_pack(&unpacked, &again, &e) == 0 && str_eq(buf_view(&packed), buf_view(&again)));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct err e = ERR_INIT;
	struct byte_source s = byte_source_memory(fuzz_text(bytes, size));
	CLEANUP(filename_release) struct filename name = {0};
	CLEANUP(wheel_release) struct wheel wheel;
	struct wheel_facts facts;
	HOLDS(filename_parse(STR("demo-1.0-py3-none-any.whl"), &name, &e) == 0);
	wheel_init(&wheel);
	bool is_good = wheel_examine(&s, &name, LENIENT, &wheel, &e) == 0;
	e = (struct err)ERR_INIT;
	if (wheel_facts_read(&s, &name, &facts, &e) < 0) {
		HOLDS(!is_good && (e.kind == ERR_INVALID || e.kind == ERR_LIMIT) && e.msg[0]);
		return 0;
	}
	HOLDS(e.kind == ERR_NONE);
	check_wheel_facts(&facts);
	check_packing(&facts);
	wheel_facts_release(&facts);
	return 0;
}
