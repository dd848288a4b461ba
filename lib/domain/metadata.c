// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/metadata.h"

#include "lib/domain/headerfields.h"

enum { NEWEST_MAJOR = 2, NEWEST_MINOR = 6 };

// Metadata-Version is "<major>.<minor>"; -1 where a part is no small number.
static int small_number(struct str digits)
{
	int n = 0;
	if (!digits.len || digits.len > 4)
		return -1;
	for (size_t i = 0; i < digits.len; i++) {
		if (!ascii_is_digit(digits.ptr[i]))
			return -1;
		n = n * 10 + (digits.ptr[i] - '0');
	}
	return n;
}

// Consumers must fail on a greater major and warn on a greater minor. 2.0 was never valid, and PyPI has many.
static int check_version(struct str version, enum strictness strictness, struct findings *findings, struct err *e)
{
	if (!version.len)
		return findings_judge(findings, strictness, e, "core metadata: no Metadata-Version");
	struct str rest = version;
	int major = small_number(str_cut(&rest, '.')), minor = small_number(rest);
	if (major < 1 || minor < 0 || major > NEWEST_MAJOR)
		return err_set(e, ERR_INVALID, "core metadata: unknown Metadata-Version");
	if ((major == NEWEST_MAJOR && (minor == 0 || minor > NEWEST_MINOR)) || (major == 1 && minor > 2))
		findings_add(findings, "core metadata: Metadata-Version %d.%d", major, minor);
	return 0;
}

int metadata_parse(struct str text, enum strictness strictness, struct findings *findings, struct metadata *out,
	struct err *e)
{
	const struct {
		struct str name;
		struct str *value;
		bool required;
	} fields[] = {
		{STR("Metadata-Version"), &out->metadata_version, false},
		{STR("Name"), &out->name, true},
		{STR("Version"), &out->version, true},
		{STR("Requires-Python"), &out->requires_python, false},
	};
	*out = (struct metadata){0};
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		bool found = headerfields_first(text, fields[i].name, fields[i].value);
		*fields[i].value = found ? str_trim(*fields[i].value) : STR("");
		if (fields[i].required && !fields[i].value->len)
			return err_set(e, ERR_INVALID, "core metadata: no " STR_FMT, STR_ARG(fields[i].name));
		// Readers differ in which one they take.
		if (found && headerfields_count(text, fields[i].name) > 1 &&
			findings_judge(findings, strictness, e, "core metadata: several " STR_FMT,
				STR_ARG(fields[i].name)) < 0)
			return -1;
	}
	if (!str_is_utf8(text) && findings_judge(findings, strictness, e, "core metadata: not UTF-8") < 0)
		return -1;
	return check_version(out->metadata_version, strictness, findings, e);
}
