// SPDX-License-Identifier: Apache-2.0
// Specifier sets: a set is valid if each of its parts is, and each version can be part of a specifier.
#include "lib/domain/text/specifier.h"

#include "lib/base/buf.h"
#include "lib/domain/text/version.h"
#include "tests/fuzz/fuzz.h"

static bool is_valid_around(const char *before, struct str text, const char *after)
{
	CLEANUP(buf_release) struct buf all;
	buf_init(&all, text.len + 16);
	buf_puts(&all, before);
	buf_str(&all, text);
	buf_puts(&all, after);
	return specifier_set_is_valid(buf_view(&all));
}

static bool all_parts_are_valid(struct str text)
{
	bool are_valid = true;
	while (text.ptr)
		are_valid = specifier_set_is_valid(str_cut(&text, ',')) && are_valid;
	return are_valid;
}

static void check_version(struct str version)
{
	struct err e = ERR_INIT;
	CLEANUP(version_release) struct version v = {0};
	if (version_parse(version, &v, &e) < 0)
		return;
	HOLDS(is_valid_around("==", version, ""));
	HOLDS(is_valid_around("!=", version, ""));
	HOLDS(is_valid_around("===", version, ""));
	HOLDS(is_valid_around(">=", version, "") == !v.is_local);
	HOLDS(is_valid_around("<", version, "") == !v.is_local);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct str text = fuzz_text(bytes, size);
	bool is_valid = specifier_set_is_valid(text);
	HOLDS(!is_valid || str_is_utf8(text));
	HOLDS(is_valid == all_parts_are_valid(text));
	HOLDS(is_valid == is_valid_around(" ", text, "\t,"));
	HOLDS(is_valid == is_valid_around(">=3,", text, ""));
	HOLDS(!is_valid_around("", text, ",3"));
	check_version(text);
	return 0;
}
