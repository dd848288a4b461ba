// SPDX-License-Identifier: Apache-2.0
// Whole wheels, all named demo-1.0-py3-none-any.whl: the facts are those of METADATA, under both strictnesses.
#include "lib/domain/wheel/wheel.h"

#include <string.h>

#include "lib/domain/text/specifier.h"
#include "tests/fuzz/fuzz.h"

static void check_facts(const struct wheel *w, enum strictness strictness)
{
	uint8_t sha256[SHA256_SIZE];
	digest_sha256(buf_view(&w->metadata), sha256);
	HOLDS(w->metadata.len > 0 && memcmp(sha256, w->metadata_sha256, SHA256_SIZE) == 0);
	HOLDS(w->has_content == (strictness == STRICT));
	if (w->requires_python)
		HOLDS(specifier_set_is_valid(str_from(w->requires_python)));
}

static bool examine_demo(struct str bytes, const struct filename *name, enum strictness strictness, struct wheel *out)
{
	struct err e = ERR_INIT;
	struct byte_source s = byte_source_memory(bytes);
	wheel_init(out);
	if (wheel_examine(&s, name, strictness, out, &e) < 0) {
		HOLDS((e.kind == ERR_INVALID || e.kind == ERR_LIMIT) && e.msg[0]);
		return false;
	}
	HOLDS(e.kind == ERR_NONE);
	check_facts(out, strictness);
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct err e = ERR_INIT;
	struct str text = fuzz_text(bytes, size);
	CLEANUP(filename_release) struct filename name = {0};
	CLEANUP(wheel_release) struct wheel lenient, strict;
	HOLDS(filename_parse(STR("demo-1.0-py3-none-any.whl"), &name, &e) == 0);
	bool is_good = examine_demo(text, &name, LENIENT, &lenient);
	if (!examine_demo(text, &name, STRICT, &strict))
		return 0;
	HOLDS(is_good && str_eq(buf_view(&lenient.metadata), buf_view(&strict.metadata)));
	HOLDS(!lenient.requires_python == !strict.requires_python);
	return 0;
}
