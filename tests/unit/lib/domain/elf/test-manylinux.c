// SPDX-License-Identifier: Apache-2.0
// test-auditwheel.py compares the tables with auditwheel's; this file tests the rules.
#include "lib/domain/elf/manylinux.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/mem.h"

static const struct manylinux *tag_of(const char *arch, const char *glibc)
{
	const struct manylinux *tag = NULL;
	while ((tag = manylinux_next(arch, tag)))
		if (strcmp(tag->glibc, glibc) == 0)
			return tag;
	fail_msg("no %s for %s", glibc, arch);
	return NULL;
}

static void test_tags_are_in_order(void **state UNUSED)
{
	static const char *const archs[] = {
		"aarch64", "armv7l", "i686", "loongarch64", "ppc64le", "riscv64", "s390x", "x86_64"};
	for (size_t i = 0; i < ARRAY_SIZE(archs); i++) {
		const struct manylinux *tag = manylinux_next(archs[i], NULL), *last = NULL;
		for (; tag; last = tag, tag = manylinux_next(archs[i], tag))
			assert_true(!last || strlen(last->glibc) < strlen(tag->glibc) ||
				    strcmp(last->glibc, tag->glibc) < 0);
		assert_non_null(last);
	}
	assert_string_equal(manylinux_next("x86_64", NULL)->glibc, "2.5");
	assert_string_equal(manylinux_next("aarch64", NULL)->glibc, "2.17");
	assert_null(manylinux_next("sparc", NULL)); // no tag at all
	assert_null(manylinux_next("", NULL));
}

static void test_versions(void **state UNUSED)
{
	static const struct {
		const char *arch, *glibc, *version;
		bool is_allowed;
	} rows[] = {
		{"x86_64", "2.17", "GLIBC_2.17", true},
		{"x86_64", "2.17", "GLIBC_2.2.5", true},
		{"x86_64", "2.17", "GLIBC_2.3.4", true},
		{"x86_64", "2.17", "GLIBC_2.18", false},
		{"x86_64", "2.5", "GLIBC_2.17", false},  // numbers, not texts
		{"aarch64", "2.17", "GLIBC_2.18", true}, // the exception of aarch64
		{"aarch64", "2.17", "GLIBC_2.19", false},
		{"x86_64", "2.41", "GLIBC_PRIVATE", false},
		{"x86_64", "2.41", "GLIBC_", false},
		{"x86_64", "2.41", "GLIBC", false},
		{"x86_64", "2.41", "GLIBC_2.x", false},
		{"x86_64", "2.41", "GLIBC_2.99999999999999999999", false},
		{"x86_64", "2.35", "GLIBC_ABI_DT_RELR", false},
		{"x86_64", "2.36", "GLIBC_ABI_DT_RELR", true},
		{"x86_64", "2.17", "GLIBCXX_3.4.19", true},
		{"x86_64", "2.17", "GLIBCXX_3.4.20", false},
		{"x86_64", "2.17", "CXXABI_TM_1", true},
		{"x86_64", "2.17", "GCC_3.0", true},
		{"x86_64", "2.17", "GCC_7.0.0", false},
		{"x86_64", "2.17", "OPENSSL_3.0.0", true}, // not judged
		{"x86_64", "2.17", "", true},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (manylinux_allows_version(tag_of(rows[i].arch, rows[i].glibc), str_from(rows[i].version)) !=
			rows[i].is_allowed)
			fail_msg("%s for %s %s", rows[i].version, rows[i].arch, rows[i].glibc);
}

static void test_libraries(void **state UNUSED)
{
	const struct manylinux *old = tag_of("x86_64", "2.5"), *middle = tag_of("x86_64", "2.17"),
			       *recent = tag_of("x86_64", "2.28");
	assert_true(manylinux_allows_library(old, STR("libc.so.6")));
	assert_true(manylinux_allows_library(old, STR("libz.so.1")));
	assert_false(manylinux_allows_library(old, STR("libexpat.so.1")));
	assert_true(manylinux_allows_library(middle, STR("libexpat.so.1")));
	assert_false(manylinux_allows_library(middle, STR("libmvec.so.1")));
	assert_true(manylinux_allows_library(recent, STR("libmvec.so.1")));
	assert_false(manylinux_allows_library(recent, STR("libssl.so.3")));
	assert_false(manylinux_allows_library(recent, STR("libc.so")));
	assert_false(manylinux_allows_library(recent, STR("")));
	assert_true(musllinux_allows_library("x86_64", STR("libc.musl-x86_64.so.1")));
	assert_true(musllinux_allows_library("i686", STR("libc.musl-x86.so.1")));
	assert_true(musllinux_allows_library("armv7l", STR("libc.musl-armv7.so.1")));
	assert_true(musllinux_allows_library("x86_64", STR("libz.so.1")));
	assert_false(musllinux_allows_library("x86_64", STR("libc.musl-aarch64.so.1")));
	assert_false(musllinux_allows_library("x86_64", STR("libc.so.6")));
	assert_false(musllinux_allows_library("x86_64", STR("libstdc++.so.6")));
	assert_true(manylinux_is_loader(STR("ld-linux-x86-64.so.2")) && manylinux_is_loader(STR("ld-linux.so.2")));
	assert_true(manylinux_is_loader(STR("ld64.so.1")) && manylinux_is_loader(STR("ld64.so.2")));
	assert_false(manylinux_is_loader(STR("libld-linux.so")) || manylinux_is_loader(STR("ld64.so.3")));
}

static void test_forbidden_symbols(void **state UNUSED)
{
	static const struct {
		const char *glibc, *library, *symbol;
		bool is_allowed;
	} rows[] = {
		{"2.41", "libz.so.1", "inflate_table", false}, // private in every version
		{"2.41", "libz.so.1", "zcfree", false},        // the last one of the table
		{"2.34", "libz.so.1", "uncompress2", true},
		{"2.31", "libz.so.1", "uncompress2", false},
		{"2.5", "libz.so.1", "inflate", true},
		{"2.17", "libc.so.6", "__cxa_thread_atexit_impl", false}, // the first one
		{"2.24", "libc.so.6", "__cxa_thread_atexit_impl", true},
		{"2.17", "libm.so.6", "__issignaling", false}, // in two libraries
		{"2.17", "libc.so.6", "__issignaling", false},
		{"2.17", "libx.so.6", "__issignaling", true},
		{"2.17", "libz.so.1", "", true},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (manylinux_allows_symbol(tag_of("x86_64", rows[i].glibc), str_from(rows[i].library),
			    str_from(rows[i].symbol)) != rows[i].is_allowed)
			fail_msg("%s of %s, %s", rows[i].symbol, rows[i].library, rows[i].glibc);
	assert_false(musllinux_allows_symbol(STR("libz.so.1"), STR("inflate_table")));
	assert_true(musllinux_allows_symbol(STR("libz.so.1"), STR("inflate")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tags_are_in_order),
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_libraries),
		cmocka_unit_test(test_forbidden_symbols),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
