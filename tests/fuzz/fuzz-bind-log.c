// SPDX-License-Identifier: Apache-2.0
// Lines of the dynamic loader: the parts of a binding lie within its line, in their order, and a line that is written
// of them has the same parts.
#include "builder/probe/bind-check.h"

#include <string.h>

#include "tests/fuzz/fuzz.h"

static void check_written_again(const struct bind_log_line *b)
{
	struct bind_log_line again;
	CLEANUP(mem_free)
	char *line = xasprintf("1:\tbinding file " STR_FMT " [0] to " STR_FMT " [0]: normal symbol `" STR_FMT
			       "'%s" STR_FMT "%s",
		STR_ARG(b->from), STR_ARG(b->to), STR_ARG(b->symbol), b->version.len ? " [" : "", STR_ARG(b->version),
		b->version.len ? "]" : "");
	HOLDS(bind_log_parse(str_from(line), &again));
	HOLDS(str_eq(again.from, b->from) && str_eq(again.to, b->to) && str_eq(again.symbol, b->symbol) &&
		str_eq(again.version, b->version));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct bind_log_line b;
	const struct str line = fuzz_text(bytes, size);
	if (!bind_log_parse(line, &b))
		return 0;
	HOLDS(b.from.len && b.to.len && b.symbol.len);
	HOLDS(fuzz_lies_within(b.from, line) && fuzz_lies_within(b.to, line) && fuzz_lies_within(b.symbol, line) &&
		fuzz_lies_within(b.version, line));
	HOLDS(b.from.ptr + b.from.len <= b.to.ptr && b.to.ptr + b.to.len <= b.symbol.ptr);
	if (!memchr(line.ptr, '\0', line.len))
		check_written_again(&b);
	return 0;
}
