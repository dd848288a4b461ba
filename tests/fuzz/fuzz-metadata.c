// SPDX-License-Identifier: Apache-2.0
// METADATA: its fields are slices of it, each field ends, LENIENT accepts everything that STRICT does, and fields that
// appear on pages are limited.
#include "lib/domain/wheel/metadata.h"

#include <string.h>

#include "lib/base/limits.h"
#include "lib/domain/text/rfc822-fields.h"
#include "lib/domain/text/specifier.h"
#include "lib/domain/wheel/wheel.h"
#include "tests/fuzz/fuzz.h"

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

// Each line after the first of a folded value begins with a blank.
static void check_value(struct str value)
{
	HOLDS(!value.len || !is_blank(value.ptr[0]));
	HOLDS(!value.len || (value.ptr[value.len - 1] != '\n' && value.ptr[value.len - 1] != '\r'));
	for (size_t i = 0; i + 1 < value.len; i++)
		HOLDS(value.ptr[i] != '\n' || is_blank(value.ptr[i + 1]));
}

static void check_fields(struct str text)
{
	struct rfc822_field field;
	struct str rest = text, value;
	for (size_t left = rest.len; rfc822_fields_next(&rest, &field); left = rest.len) {
		HOLDS(rest.len < left && fuzz_lies_within(rest, text));
		HOLDS(fuzz_lies_within(field.name, text) && fuzz_lies_within(field.value, text));
		HOLDS(field.name.len && str_find(field.name, ':') < 0 && str_find(field.name, ' ') < 0);
		check_value(field.value);
		HOLDS(rfc822_fields_first(text, field.name, &value) && value.ptr <= field.value.ptr);
	}
}

static bool parse_checked(struct str text, enum strictness strictness, struct metadata *out)
{
	struct err e = ERR_INIT;
	CLEANUP(findings_release) struct findings findings;
	findings_init(&findings);
	bool is_good = metadata_parse(text, strictness, &findings, out, &e) == 0;
	HOLDS(is_good == (e.kind == ERR_NONE));
	if (is_good)
		HOLDS(out->name.len && out->version.len);
	return is_good;
}

// A field that is omitted is a finding.
static void check_wheel(struct str text, bool is_good)
{
	struct err e = ERR_INIT;
	struct metadata facts;
	CLEANUP(wheel_release) struct wheel wheel;
	wheel_init(&wheel);
	buf_str(&wheel.metadata, text);
	HOLDS((wheel_take_metadata(&wheel, LENIENT, &facts, &e) == 0) == is_good);
	if (!is_good)
		return;
	HOLDS(wheel.findings.text.len <= LIMIT_FINDINGS);
	if (wheel.requires_python)
		HOLDS(strlen(wheel.requires_python) <= LIMIT_REQUIRES_PYTHON &&
			str_eq(str_from(wheel.requires_python), facts.requires_python) &&
			specifier_set_is_valid(facts.requires_python));
	else
		HOLDS(!facts.requires_python.len || strstr(wheel.findings.text.data, "Requires-Python"));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct str text = fuzz_text(bytes, size);
	struct metadata lenient, strict;
	check_fields(text);
	bool is_good = parse_checked(text, LENIENT, &lenient);
	check_wheel(text, is_good);
	if (!parse_checked(text, STRICT, &strict))
		return 0;
	HOLDS(is_good && str_is_utf8(text));
	HOLDS(str_eq(lenient.name, strict.name) && str_eq(lenient.version, strict.version));
	HOLDS(str_eq(lenient.requires_python, strict.requires_python));
	return 0;
}
