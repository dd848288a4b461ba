// SPDX-License-Identifier: Apache-2.0
// Requirements and constraints files: what a line is made of lies within it and is valid, whatever stands around it.
#include "lib/domain/text/requirements-file.h"

#include <string.h>

#include "lib/base/buf.h"
#include "lib/base/limits.h"
#include "lib/domain/text/name.h"
#include "lib/domain/text/specifier.h"
#include "tests/fuzz/fuzz.h"

struct requirements_seen {
	size_t lines;
	unsigned last;
};

static int on_requirements_line(void *ctx, const struct requirements_line *line, struct err *e UNUSED)
{
	struct requirements_seen *seen = ctx;
	bool is_project = line->kind == REQUIREMENTS_LINE_PROJECT;
	HOLDS(line->number > seen->last);
	HOLDS(is_project == (line->project != NULL));
	HOLDS(!is_project || name_is_normal(str_from(line->project)));
	HOLDS(!line->specifier.len || specifier_set_is_valid(line->specifier));
	HOLDS(!line->specifier.len || !line->url.len);
	HOLDS(is_project || !line->hashes);
	HOLDS(line->kind == REQUIREMENTS_LINE_PROJECT || line->kind == REQUIREMENTS_LINE_PRE || line->argument.len);
	for (size_t i = 0; i < line->hashes; i++)
		HOLDS(str_find(line->hash[i], ':') > 0);
	seen->lines++;
	seen->last = line->number;
	return 0;
}

static bool read_text(struct str text, struct requirements_seen *seen)
{
	struct err e = ERR_INIT;
	*seen = (struct requirements_seen){0};
	if (requirements_file_read(text, "file", on_requirements_line, seen, &e) == 0)
		return true;
	HOLDS(e.kind == ERR_USAGE);
	HOLDS(strncmp(e.msg, "file:", 5) == 0);
	return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct str text = fuzz_text(bytes, size);
	struct requirements_seen seen, more;
	CLEANUP(buf_release) struct buf longer;
	buf_init(&longer, size + 64);
	if (!read_text(text, &seen) || str_starts(text, STR("\xEF\xBB\xBF")))
		return 0;
	buf_puts(&longer, "# a comment\nfirst==1\n");
	buf_str(&longer, text);
	HOLDS(read_text(buf_view(&longer), &more));
	HOLDS(more.lines == seen.lines + 1);
	return 0;
}
