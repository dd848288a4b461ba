// SPDX-License-Identifier: Apache-2.0
#include "builder/probe/bind-check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "lib/base/mem.h"

// Recorded with glibc 2.36, except where a comment says otherwise.
static const struct {
	const char *line, *from, *to, *symbol, *version;
} bindings[] = {
	{"     14230:\tbinding file ./libplugin_UCX.so [0] to ./libucp.so.0 [0]: normal symbol `ucp_init_version'",
		"./libplugin_UCX.so", "./libucp.so.0", "ucp_init_version", ""},
	{"     14230:\tbinding file ./libplugin_UCX.so [0] to /lib/x86_64-linux-gnu/libc.so.6 [0]: normal symbol `puts' "
	 "[GLIBC_2.2.5]",
		"./libplugin_UCX.so", "/lib/x86_64-linux-gnu/libc.so.6", "puts", "GLIBC_2.2.5"},
	{"   2134997:\tbinding file /lib64/ld-linux-x86-64.so.2 [0] to /lib/x86_64-linux-gnu/libc.so.6 [0]: normal symbol "
	 "`malloc' [GLIBC_2.2.5]",
		"/lib64/ld-linux-x86-64.so.2", "/lib/x86_64-linux-gnu/libc.so.6", "malloc", "GLIBC_2.2.5"},
	{"      4711:\tbinding file ./a.so [12] to ./b.so [0]: protected symbol `f'", "./a.so", "./b.so", "f", ""},
	{"      4711:\tbinding file ./a.so [0] to ./b.so [0]: normal symbol 'f'", "./a.so", "./b.so", "f",
		""},                                                                                     // made up
	{"      4711:\tbinding file /x [0] y/a b.so [0] to /x [1]/b].so [0]: normal symbol `_ZN1aC1Ev'", // made up
		"/x [0] y/a b.so", "/x [1]/b].so", "_ZN1aC1Ev", ""},
};

static const char *const others[] = {
	"",
	"     14230:\t",
	"     14230:\tcalling init: ./libucp.so.0",
	"     14230:\tbinding file ./a.so [0] to ./b.so [0]: ",
	"     14230:\tbinding file ./a.so [0] to ./b.so [0]: normal symbol `'",
	"     14230:\tbinding file ./a.so [0] to ./b.so [0]: normal symbol `f",
	"     14230:\tbinding file ./a.so [0] to ./b.so []: normal symbol `f'",
	"     14230:\tbinding file [0] to ./b.so [0]: normal symbol `f'",
	"     14230:\tbinding file 0] to 0]: normal symbol `f'",
	"     14230:\tbinding file ./a.so to ./b.so [0]: normal symbol `f'",
	"ERROR: ld.so: object 'x.so' from LD_PRELOAD cannot be preloaded: ignored.",
	"'''''[[[[[]]]]]",
};

static void assert_text(struct str text, const char *expected, const char *line)
{
	if (!str_eq(text, str_from(expected)))
		fail_msg("%s: " STR_FMT, line, STR_ARG(text));
}

static void test_bindings(void **state UNUSED)
{
	struct bind_log_line out;
	for (size_t i = 0; i < ARRAY_SIZE(bindings); i++) {
		const char *line = bindings[i].line;
		if (!bind_log_parse(str_from(line), &out))
			fail_msg("%s", line);
		assert_text(out.from, bindings[i].from, line);
		assert_text(out.to, bindings[i].to, line);
		assert_text(out.symbol, bindings[i].symbol, line);
		assert_text(out.version, bindings[i].version, line);
	}
}

static void test_other_lines(void **state UNUSED)
{
	struct bind_log_line out;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (bind_log_parse(str_from(others[i]), &out))
			fail_msg("%s", others[i]);
}

// Each beginning of a line, in memory that ends with it, so that a sanitizer reports a read behind it.
static void test_every_beginning(void **state UNUSED)
{
	struct bind_log_line out;
	for (size_t i = 0; i < ARRAY_SIZE(bindings); i++)
		for (size_t len = 0; len < strlen(bindings[i].line); len++) {
			char *line = xmalloc(len + !len);
			memcpy(line, bindings[i].line, len);
			bind_log_parse((struct str){line, len}, &out);
			free(line);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bindings),
		cmocka_unit_test(test_other_lines),
		cmocka_unit_test(test_every_beginning),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
