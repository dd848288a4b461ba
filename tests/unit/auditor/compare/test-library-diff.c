// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "auditor/compare/library-diff.h"

#include "lib/base/limits.h"

static const char *needed_one[] = {"libssl-3a1b2c3d.so.3", "libc.so.6", "libre2.so.9"};
static const char *needed_other[] = {"libssl-99999999.so.3", "libc.so.6", "libre2.so.11", "libm.so.6"};
static struct elf_version versions_one[] = {
	{"libc.so.6", "GLIBC_2.9", false}, {"libc.so.6", "GLIBC_2.17", false}, {"libstdc++.so.6", "CXXABI_1.3", false}};
static struct elf_version versions_other[] = {{"libc.so.6", "GLIBC_2.28", false}, {"libc.so.6", "GLIBC_2.4", false},
	{"libstdc++.so.6", "CXXABI_1.3", false}, {"libstdc++.so.6", "GLIBCXX_3.4", false}};
static struct elf_symbol symbols_one[] = {{.name = "both"}, {.name = "gone", .version = "V_1"},
	{.name = "taken", .is_imported = true}, {.name = "gone", .version = "V_1"}};
static struct elf_symbol symbols_other[] = {{.name = "both"}, {.name = "gone", .version = "V_2"}, {.name = "taken"}};

static struct wheel_elf make_one(void)
{
	return (struct wheel_elf){.path = "p.libs/libx-0a0a0a0a.so",
		.elf = {.machine = 62,
			.soname = "libx-0a0a0a0a.so",
			.rpath = "$ORIGIN",
			.needed = {needed_one, 3},
			.needed_version = versions_one,
			.needed_versions = 3,
			.symbol = symbols_one,
			.symbols = 4}};
}

static struct wheel_elf make_other(void)
{
	return (struct wheel_elf){.path = "p.libs/libx-1b1b1b1b.so",
		.elf = {.machine = 62,
			.soname = "libx-1b1b1b1b.so",
			.rpath = "/opt",
			.has_textrel = true,
			.needed = {needed_other, 4},
			.needed_version = versions_other,
			.needed_versions = 4,
			.symbol = symbols_other,
			.symbols = 3}};
}

static const struct diff_row *find_row(const struct library_diff *d, const char *name, const char *b)
{
	for (size_t i = 0; i < d->rows.count; i++)
		if (strcmp(d->rows.row[i].name, name) == 0 && d->rows.row[i].b && strcmp(d->rows.row[i].b, b) == 0)
			return &d->rows.row[i];
	fail_msg("no row %s with %s", name, b);
	return NULL;
}

static void facts_are_compared_by_meaning(void **state)
{
	(void)state;
	struct arena text = {0};
	struct library_diff d;
	const struct wheel_elf a = make_one(), b = make_other();
	library_diff_make(&a, &b, &text, &d);
	assert_true(find_row(&d, "SONAME", "libx-1b1b1b1b.so")->is_equal);
	assert_true(find_row(&d, "NEEDED", "libssl-99999999.so.3")->is_equal);
	assert_string_equal(find_row(&d, "NEEDED", "libre2.so.11")->a, "libre2.so.9");
	assert_null(find_row(&d, "NEEDED", "libm.so.6")->a);
	assert_string_equal(find_row(&d, "RPATH", "/opt")->a, "$ORIGIN");
	assert_null(find_row(&d, "TEXTREL", "yes")->a);
	assert_string_equal(find_row(&d, "needs of libc.so.6", "GLIBC_2.28")->a, "GLIBC_2.17");
	assert_true(find_row(&d, "needs of libstdc++.so.6", "CXXABI_1.3")->is_equal);
	assert_null(find_row(&d, "needs of libstdc++.so.6", "GLIBCXX_3.4")->a);
	assert_int_equal(d.gone.count, 1);
	assert_string_equal(d.gone.name[0], "gone@V_1");
	assert_int_equal(d.added.count, 2);
	assert_string_equal(d.added.name[0], "gone@V_2");
	assert_string_equal(d.added.name[1], "taken");
	arena_release(&text);
}

static void a_damaged_or_absent_side_has_nothing(void **state)
{
	(void)state;
	struct arena text = {0};
	struct library_diff d;
	const struct wheel_elf a = make_one(), b = {.path = "x", .damage = "no section"};
	library_diff_make(&a, &b, &text, &d);
	assert_true(d.is_unreadable);
	assert_int_equal(d.gone.count + d.added.count, 0);
	library_diff_make(NULL, &a, &text, &d);
	assert_false(d.is_unreadable);
	assert_int_equal(d.added.count, 0);
	assert_null(find_row(&d, "NEEDED", "libc.so.6")->a);
	arena_release(&text);
}

// Exceeds LIMIT_COMPARE_SYMBOLS.
static void many_symbols_are_counted(void **state)
{
	(void)state;
	enum { COUNT = 200000 };
	struct arena text = {0};
	struct library_diff d;
	struct elf_symbol *symbol = xcalloc(COUNT, sizeof(*symbol));
	for (int i = 0; i < COUNT; i++) {
		char name[16];
		snprintf(name, sizeof(name), "s%d", i);
		symbol[i].name = arena_copy(&text, str_from(name));
	}
	const struct wheel_elf a = {.path = "x", .elf = {.symbol = symbol, .symbols = COUNT}}, b = {.path = "x"};
	library_diff_make(&a, &b, &text, &d);
	assert_int_equal(d.gone.count, COUNT);
	assert_int_equal(d.gone.listed, LIMIT_COMPARE_SYMBOLS);
	arena_release(&text);
	free(symbol);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(facts_are_compared_by_meaning),
		cmocka_unit_test(a_damaged_or_absent_side_has_nothing),
		cmocka_unit_test(many_symbols_are_counted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
