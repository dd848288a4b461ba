// SPDX-License-Identifier: Apache-2.0
// Test reports: what is read has lines that are whole, short and harmless, and one more passed test is one more.
#include "lib/domain/promotion/junit.h"

#include <string.h>

#include "lib/base/buf.h"
#include "lib/base/limits.h"
#include "tests/fuzz/fuzz.h"

static void check_line(const char *line)
{
	HOLDS(strlen(line) <= LIMIT_JUNIT_NAME);
	HOLDS(str_is_utf8(str_from(line)));
	for (const char *c = line; *c; c++)
		HOLDS((unsigned char)*c >= ' ' && *c != 0x7f);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static const char end[] = "</testsuites>", more[] = "<testsuite><testcase name='x'/></testsuite></testsuites>";
	struct err e = ERR_INIT;
	CLEANUP(junit_release) struct junit j = {0}, k = {0};
	CLEANUP(buf_release) struct buf longer = {0};
	struct str text = fuzz_text(bytes, size);
	if (junit_read(text, &j, &e) < 0) {
		HOLDS(e.kind == ERR_INVALID || e.kind == ERR_LIMIT);
		return 0;
	}
	HOLDS(j.failures <= j.failed && j.failures <= LIMIT_JUNIT_FAILURES);
	for (size_t i = 0; i < j.failures; i++) {
		check_line(j.failure[i].name);
		check_line(j.failure[i].message);
	}
	if (!str_ends(text, STR("</testsuites>")))
		return 0;
	buf_init(&longer, size + sizeof(more));
	buf_str(&longer, str_slice(text, 0, text.len - strlen(end)));
	buf_puts(&longer, more);
	HOLDS(junit_read(buf_view(&longer), &k, &e) == 0);
	HOLDS(k.passed == j.passed + 1 && k.failed == j.failed && k.skipped == j.skipped);
	return 0;
}
