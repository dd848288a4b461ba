// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/facts/library-name.h"
#include "lib/facts/wheel-facts.h"

static void test_bundled(void **state)
{
	(void)state;
	static const struct {
		const char *path;
		bool is_bundled;
	} rows[] = {
		{"numpy.libs/libgfortran-040039e1.so.5.0.0", true},
		{"nixl.libs/ucx/libuct_ib-nixl-1a2b3c4d.so", true},
		{"numpy/.libs/libopenblas.so", true},
		{"pkg/.dylibs/libz.1.dylib", true},
		{"pkg/core.so", false},
		{"a.libs", false}, // a file
		{"a.libs.d/x.so", false},
		{".dylibs.x/y.so", false},
		{"", false},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (wheel_is_bundled(rows[i].path) != rows[i].is_bundled)
			fail_msg("%s", rows[i].path);
}

static void test_names(void **state)
{
	(void)state;
	static const struct {
		const char *name, *stem, *plain; // plain NULL: no hash
	} rows[] = {
		{"libssl-3a1b2c3d.so.3", "libssl", "libssl.so.3"},
		{"libssl.so.3", "libssl", NULL},
		{"x.libs/libssl-3a1b2c3d.so.3", "libssl", "libssl.so.3"},
		{"libucp-nixl-311e600f.so.0.0.0", "libucp-nixl", "libucp-nixl.so.0.0.0"},
		{"libglib-2-1a2b3c4d.0.so.0", "libglib", "libglib-2.0.so.0"}, // auditwheel splits at the first dot
		{"libglib-2.0.so.0", "libglib", NULL},
		{"libldap-2.5.so.0", "libldap", NULL},
		{"libldap.so.2", "libldap", NULL},
		{"libpython3-0123abcd.11.so.1.0", "libpython3", "libpython3.11.so.1.0"},
		{"libstdc++.so.6", "libstdc++", NULL},
		{"libcudart-c3a75b33.so.12", "libcudart", "libcudart.so.12"},
		{"lib-1a2b3c4.so", "lib-1a2b3c4", NULL},   // seven digits
		{"lib-1A2B3C4D.so", "lib-1A2B3C4D", NULL}, // auditwheel writes lower case
		{"-1a2b3c4d.so", "-1a2b3c4d", NULL},       // nothing is left
		{"libfoo", "libfoo", NULL},
		{"-2.so", "-2", NULL},
		{"", "", NULL},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		CLEANUP(buf_release) struct buf plain;
		buf_init(&plain, 256);
		if (!str_eq(wheel_library_stem(str_from(rows[i].name)), str_from(rows[i].stem)))
			fail_msg("%s: stem", rows[i].name);
		assert_int_equal(wheel_library_is_hashed(str_from(rows[i].name), &plain), rows[i].plain != NULL);
		assert_string_equal(plain.data, rows[i].plain ? rows[i].plain : "");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_bundled), cmocka_unit_test(test_names)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
