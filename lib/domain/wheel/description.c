// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/wheel/description.h"

#include "lib/domain/text/rfc822-fields.h"

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
