// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/wheel/metadata.h"

#include <limits.h>

#include "lib/base/decimal.h"
#include "lib/domain/text/pyspace.h"
#include "lib/domain/text/rfc822-fields.h"

enum {
	NEWEST_MAJOR = 2,
	NEWEST_MINOR = 6,
	LICENCE_BYTES = 200, // some files have the whole text as their License
};

// Parses a part of Metadata-Version, which is "<major>.<minor>". -1 if it is not a number of at most four digits.
static int parse_small_number(struct str digits)
{
	uint64_t n;
	return digits.len <= 4 && decimal_parse(digits, INT_MAX, &n) ? (int)n : -1;
}

// Consumers must fail on a greater major and warn on a greater minor. 2.0 was never valid, but PyPI has many such
// files.
static int check_metadata_version(struct str version, enum strictness strictness, struct findings *findings,
	struct err *e)
{
	if (!version.len)
		return findings_add_or_fail(findings, strictness, e, "core metadata: no Metadata-Version");
	struct str rest = version;
	int major = parse_small_number(str_cut(&rest, '.')), minor = parse_small_number(rest);
	if (major < 1 || minor < 0 || major > NEWEST_MAJOR)
		return err_set(e, ERR_INVALID, "core metadata: unknown Metadata-Version");
	if ((major == NEWEST_MAJOR && (minor == 0 || minor > NEWEST_MINOR)) || (major == 1 && minor > 2))
		findings_add(findings, "core metadata: Metadata-Version %d.%d", major, minor);
	return 0;
}

enum { FIELD_METADATA_VERSION, FIELD_NAME, FIELD_VERSION, FIELD_REQUIRES_PYTHON, FIELD_COUNT };

static const struct str field_name[FIELD_COUNT] = {
	[FIELD_METADATA_VERSION] = STR("Metadata-Version"),
	[FIELD_NAME] = STR("Name"),
	[FIELD_VERSION] = STR("Version"),
	[FIELD_REQUIRES_PYTHON] = STR("Requires-Python"),
};

// The first value of each field, and how often the field occurs.
static void collect_fields(struct str text, struct str value[FIELD_COUNT], unsigned count[FIELD_COUNT])
{
	struct rfc822_field field;
	while (rfc822_fields_next(&text, &field))
		for (size_t i = 0; i < FIELD_COUNT; i++)
			if (str_eq_nocase(field.name, field_name[i]) && count[i]++ == 0)
				value[i] = str_trim(field.value);
}

int metadata_parse(struct str text, enum strictness strictness, struct findings *findings, struct metadata *out,
	struct err *e)
{
	struct str value[FIELD_COUNT] = {{0}};
	unsigned count[FIELD_COUNT] = {0};
	collect_fields(text, value, count);
	for (size_t i = FIELD_NAME; i <= FIELD_VERSION; i++)
		if (!value[i].len)
			return err_set(e, ERR_INVALID, "core metadata: no " STR_FMT, STR_ARG(field_name[i]));
	for (size_t i = 0; i < FIELD_COUNT; i++) // readers differ in which one they use
		if (count[i] > 1 && findings_add_or_fail(findings, strictness, e, "core metadata: several " STR_FMT,
					    STR_ARG(field_name[i])) < 0)
			return -1;
	if (!str_is_utf8(text) && findings_add_or_fail(findings, strictness, e, "core metadata: not UTF-8") < 0)
		return -1;
	*out = (struct metadata){
		.metadata_version = value[FIELD_METADATA_VERSION],
		.name = value[FIELD_NAME],
		.version = value[FIELD_VERSION],
		.requires_python = value[FIELD_REQUIRES_PYTHON],
	};
	return check_metadata_version(out->metadata_version, strictness, findings, e);
}

// --- licence ---

struct str metadata_licence(struct str text)
{
	static const struct str prefix = STR("License :: ");
	struct str classifier = STR(""), licence = STR(""), expression = STR("");
	struct rfc822_field f;
	while (rfc822_fields_next(&text, &f)) {
		if (str_eq_nocase(f.name, STR("License-Expression"))) {
			expression = pyspace_trim(f.value);
		} else if (str_eq_nocase(f.name, STR("License")) && !str_eq_nocase(f.value, STR("UNKNOWN"))) {
			struct str lines = pyspace_trim(f.value);
			licence = pyspace_trim(str_cut(&lines, '\n'));
		} else if (str_eq_nocase(f.name, STR("Classifier")) && str_starts(f.value, prefix)) {
			classifier = pyspace_trim(str_slice(f.value, prefix.len, f.value.len));
		}
	}
	return str_head(expression.len ? expression : licence.len ? licence : classifier, LICENCE_BYTES);
}

// --- description ---

// What tools put in front of the lines of a folded description but the first: as many blanks as the field has in front
// of its first line, or one less and a bar.
#define INDENTATION STR("        ")
#define BARRED STR("       |")

static void add_unfolded(struct buf *out, struct str value)
{
	while (value.ptr) {
		struct str line = str_cut(&value, '\n');
		bool is_indented = str_starts(line, INDENTATION) || str_starts(line, BARRED);
		buf_str(out, is_indented ? str_slice(line, INDENTATION.len, line.len) : line);
		if (value.ptr)
			buf_putc(out, '\n');
	}
}

struct str description_take(struct str metadata, struct buf *out)
{
	struct rfc822_field field;
	struct str type = STR(""), folded = STR(""), rest = metadata;
	while (rfc822_fields_next(&rest, &field)) {
		if (!folded.len && str_eq_nocase(field.name, STR("Description")))
			folded = field.value;
		if (!type.len && str_eq_nocase(field.name, STR("Description-Content-Type")))
			type = str_trim(field.value);
	}
	bool is_body = str_trim(rest).len > 0;
	if (is_body && !str_eq(str_trim(rest), STR("UNKNOWN")))
		buf_str(out, rest);
	else if (!is_body && folded.len && !str_eq(str_trim(folded), STR("UNKNOWN")))
		add_unfolded(out, folded);
	return type;
}
