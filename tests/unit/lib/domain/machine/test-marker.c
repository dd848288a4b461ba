// SPDX-License-Identifier: Apache-2.0
// What older versions of packaging read differently, and the limits. test-oracle.py compares the rest with packaging.
#include "lib/domain/machine/marker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/buf.h"
#include "lib/base/limits.h"

#define ALWAYS UINT64_MAX

static uint64_t ask(const char *marker, const char *python)
{
	struct err e = ERR_INIT;
	struct python p;
	uint64_t micros;
	assert_int_equal(python_parse(str_from(python), &p, &e), 0);
	if (marker_micros(str_from(marker), &(struct machine){.arch = "x86_64"}, &p, &micros, &e) < 0)
		fail_msg("%s: %s", marker, e.msg);
	return micros;
}

static void what_markers_mean(void **state UNUSED)
{
	static const struct {
		const char *marker;
		uint64_t micros;
	} table[] = {
		{"python_version in '3.9 3.10'", ALWAYS}, {"python_version in '3.9, 3.1'", 0},
		{"'3.1' in python_version", ALWAYS}, // a part of the text
		{"python_version > '3.1'", ALWAYS}, {"python_version === '3.10'", ALWAYS},
		{"python_version == '3.10.*'", ALWAYS}, {"python_version ~= '3.8'", ALWAYS},
		{"sys_platform >= 'linux'", ALWAYS}, // of texts, only equality counts
		{"sys_platform > 'linu'", 0}, {"sys_platform == 'linux2'", 0}, {"platform_system == 'linux'", 0},
		{"os.name == 'posix'", ALWAYS}, {"python_implementation == 'CPython'", ALWAYS},
		{"platform_release >= '20'", 0}, // unknown
		{"extra == 'x'", 0}, {"extra != 'x'", ALWAYS}, {"'x' in extras or 'x' in dependency_groups", 0},
		{"'x' not in extras", ALWAYS},
		{"os_name=='nt' and os_name=='nt' or os_name=='posix'", ALWAYS}, // and binds before or
		{"os_name=='nt' and (os_name=='nt' or os_name=='posix')", 0},
		{"python_full_version >= '3.10.60'", ALWAYS << 60}, {"python_full_version < '3.10.4'", 0xf},
		{"python_full_version < '3.10.4' or os_name == 'posix'", ALWAYS},
		{"implementation_version == '3.10.1'", 0x2},
		{"python_version >= '3.8,<4'", 0}, // one specifier, not a set
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (ask(table[i].marker, "3.10") != table[i].micros)
			fail_msg("%s: %#jx", table[i].marker, (uintmax_t)ask(table[i].marker, "3.10"));
	assert_true(ask("python_full_version >= '3.11.0' and implementation_name == 'pypy'", "pp311") == ALWAYS);
	assert_true(ask("implementation_version >= '3'", "pp311") == 0);
	assert_true(ask("python_version == '3.13'", "3.13t") == ALWAYS);
}

static void what_is_no_marker(void **state UNUSED)
{
	static const struct {
		const char *marker, *why;
	} table[] = {
		{"", "the marker ends where a variable or a quoted text is expected"},
		{"os_name", "the marker ends where an operator is expected"},
		{"os_name == ", "the marker ends where a variable or a quoted text is expected"},
		{"os_name = 'posix'", "the marker has \"= 'posix'\" where an operator is expected"},
		{"os_name == 'posix", "the marker has a quote without an end"},
		{"os_name == 'a\\n'", "the marker has a backslash in a text"},
		{"os_name not 'posix'", "the marker has \"'posix'\" where \"in\" is expected"},
		{"python == '3'", "the marker has \"python == '3'\" where a variable or a quoted text is expected"},
		{"(os_name == 'posix'", "the marker ends where \")\" is expected"},
		{"os_name == 'posix') ", "the marker has \") \" where its end is expected"},
		{"os_name == 'posix' and", "the marker ends where a variable or a quoted text is expected"},
		{"'a' == 'a'", "the marker compares two texts, not a variable with a text"},
		{"os_name == sys_platform", "the marker compares two variables, not a variable with a text"},
		{"os_name ~= 'posix'", "the marker compares \"posix\" and \"posix\" by ~=, which only versions can be"},
		{"extras == 'x'", "the marker asks a set something else than what is in it"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct err e = ERR_INIT;
		assert_int_equal(marker_check(str_from(table[i].marker), &e), -1);
		assert_int_equal(e.kind, ERR_INVALID);
		assert_string_equal(e.msg, table[i].why);
	}
}

static void test_what_is_chosen_holds(void **state UNUSED)
{
	const char *const cli[] = {"Cli_1"}, *const dev[] = {"dev"};
	const struct marker_choice none = {0}, all = {.all_extras = true, .all_groups = true},
				   some = {.extra = cli, .extras = 1, .group = dev, .groups = 1};
	static const struct {
		const char *marker;
		bool none, some, all;
	} table[] = {
		{"extra == 'cli-1'", false, true, true},
		{"'cli.1' == extra", false, true, true},
		{"extra != 'cli-1'", true, false, true},
		{"extra == 'gui'", false, false, true},
		{"'cli-1' in extras", false, true, true},
		{"'cli-1' not in extras", true, false, true},
		{"'dev' in dependency_groups", false, true, true},
		{"'docs' in dependency_groups", false, false, true},
		{"extra == 'cli-1' and sys_platform == 'win32'", false, false, false},
		{"extra == 'gui' or sys_platform == 'linux'", true, true, true},
		{"extra == 'extra-3-foo-cpu' and extra != 'extra-3-foo-gpu'", true, true, true},
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		const struct marker_choice *const choice[] = {&none, &some, &all};
		const bool holds[] = {table[i].none, table[i].some, table[i].all};
		for (size_t k = 0; k < ARRAY_SIZE(choice); k++) {
			struct err e = ERR_INIT;
			uint64_t micros;
			const struct python p = {.major = 3, .minor = 12};
			assert_int_equal(marker_micros_chosen(str_from(table[i].marker),
						 &(struct machine){.arch = "x86_64"}, &p, choice[k], &micros, &e),
				0);
			if (micros != (holds[k] ? UINT64_MAX : 0))
				fail_msg("%s with choice %zu", table[i].marker, k);
		}
	}
}

static enum err_kind kind_of(const struct buf *marker)
{
	struct err e = ERR_INIT;
	return marker_check(buf_view(marker), &e) < 0 ? e.kind : ERR_NONE;
}

// Exceeds LIMIT_MARKER, LIMIT_MARKER_DEPTH.
static void limits(void **state UNUSED)
{
	for (int more = 0; more < 2; more++) {
		CLEANUP(buf_release) struct buf deep, longer;
		buf_init(&deep, LIMIT_MARKER);
		buf_init(&longer, LIMIT_MARKER + 1);
		for (int i = 0; i < LIMIT_MARKER_DEPTH + more; i++)
			buf_putc(&deep, '(');
		buf_puts(&deep, "os_name=='posix'");
		for (int i = 0; i < LIMIT_MARKER_DEPTH + more; i++)
			buf_putc(&deep, ')');
		assert_int_equal(kind_of(&deep), more ? ERR_LIMIT : ERR_NONE);
		buf_puts(&longer, "os_name=='posix'");
		while (longer.len < (size_t)(LIMIT_MARKER + more))
			buf_putc(&longer, ' ');
		assert_int_equal(kind_of(&longer), more ? ERR_LIMIT : ERR_NONE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_markers_mean),
		cmocka_unit_test(what_is_no_marker),
		cmocka_unit_test(test_what_is_chosen_holds),
		cmocka_unit_test(limits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
