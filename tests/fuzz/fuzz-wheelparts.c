// SPDX-License-Identifier: Apache-2.0
// The files of a wheel's .dist-info in a ZIP that is always valid, because mutations of compressed bytes hardly ever
// reach them. An input is METADATA, WHEEL, RECORD and the name of a further member, separated by form feeds.
#include "lib/domain/wheel/wheel.h"

#include <string.h>

#include "lib/domain/text/specifier.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/support/zipmake.h"

#define INFO "demo-1.0.dist-info/"

static bool examine_demo(const struct zipmake *zip, enum strictness strictness, struct wheel *out)
{
	struct err e = ERR_INIT;
	struct byte_source s = byte_source_memory(buf_view(&zip->bytes));
	CLEANUP(filename_release) struct filename name = {0};
	HOLDS(filename_parse(STR("demo-1.0-py3-none-any.whl"), &name, &e) == 0);
	wheel_init(out);
	if (wheel_examine(&s, &name, strictness, out, &e) == 0)
		return true;
	HOLDS((e.kind == ERR_INVALID || e.kind == ERR_LIMIT) && e.msg[0]);
	return false;
}

static void add_member(struct zipmake *zip, const char *name, const char *content)
{
	if (name && content)
		zipmake_add(zip, &(struct zipmake_member){.name = name, .content = content});
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct str rest = fuzz_text(bytes, size);
	CLEANUP(mem_free) char *metadata = fuzz_take(&rest, '\f');
	CLEANUP(mem_free) char *wheel = fuzz_take(&rest, '\f');
	CLEANUP(mem_free) char *record = fuzz_take(&rest, '\f');
	CLEANUP(mem_free) char *further = fuzz_take(&rest, '\f');
	CLEANUP(zipmake_release) struct zipmake zip;
	CLEANUP(wheel_release) struct wheel lenient, strict;
	zipmake_init(&zip);
	add_member(&zip, further, "");
	add_member(&zip, INFO "METADATA", metadata);
	add_member(&zip, INFO "WHEEL", wheel);
	add_member(&zip, INFO "RECORD", record);
	zipmake_end(&zip, "");
	bool is_good = examine_demo(&zip, LENIENT, &lenient);
	if (is_good) {
		HOLDS(str_eq(buf_view(&lenient.metadata), str_from(metadata)));
		HOLDS(!lenient.requires_python || specifier_set_is_valid(str_from(lenient.requires_python)));
	}
	if (examine_demo(&zip, STRICT, &strict))
		HOLDS(is_good && record && !lenient.requires_python == !strict.requires_python);
	return 0;
}
