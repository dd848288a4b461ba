// SPDX-License-Identifier: Apache-2.0
#include "lib/view/view.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

enum { DEBIAN, ALPINE, UNKNOWN, MACHINES };

static char names[MACHINES][32] = {"debian-12-x86_64", "alpine-3.20-aarch64", "wheels"};
static struct platform machine[MACHINES];

static int make_machines(void **state UNUSED)
{
	struct err e = ERR_INIT;
	for (size_t i = 0; i < MACHINES; i++) {
		machine[i].name = names[i];
		if (profile_init(&machine[i].profile, names[i], &(struct profile_keys){0}, &e) < 0)
			return -1;
	}
	return 0;
}

static int release_machines(void **state UNUSED)
{
	for (size_t i = 0; i < MACHINES; i++)
		profile_release(&machine[i].profile);
	return 0;
}

// Whether a wheel runs on Debian 12 (glibc 2.36) of x86_64, and whether it runs there or on Alpine 3.20 (musl 1.2) of
// aarch64.
static const struct {
	const char *filename;
	bool on_debian, on_either;
} cases[] = {
	{"foo-1.0-py3-none-any.whl", true, true},
	{"foo-1.0-cp314-cp314t-linux_x86_64.whl", true, true}, // the Python tag is ignored
	{"foo-1.0-cp27-cp27mu-manylinux1_x86_64.whl", true, true},
	{"foo-1.0-1-cp311-cp311-manylinux_2_36_x86_64.whl", true, true},
	{"foo-1.0-cp311-cp311-manylinux_2_37_x86_64.whl", false, false},
	{"foo-1.0-cp311-cp311-musllinux_1_2_x86_64.whl", false, false},
	{"foo-1.0-cp311-cp311-manylinux2014_aarch64.whl", false, false},
	{"foo-1.0-cp311-cp311-musllinux_1_2_aarch64.whl", false, true},
	{"foo-1.0-cp311-cp311-linux_aarch64.whl", false, true},
	{"foo-1.0-cp311-cp311-win32.whl", false, false},
	{"foo-1.0-cp311-cp311-macosx_10_9_universal2.whl", false, false},
	// Compressed sets: one tag is enough, at any position.
	{"foo-1.0-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl", true, true},
	{"foo-1.0-cp311-cp311-win32.win_amd64.whl", false, false},
	{"foo-1.0-cp311-cp311-macosx_10_9_x86_64.manylinux2014_x86_64.whl", true, true},
	{"foo-1.0-cp311-cp311-manylinux2014_x86_64.win32.whl", true, true},
	{"foo-1.0-py3-none-win32.any.whl", true, true},
	{"foo-1.0-py3-none-win32..any.whl", true, true},
	// Tags in any case.
	{"foo-1.0-PY3-NONE-ANY.whl", true, true},
	{"foo-1.0-cp311-cp311-Manylinux2014_X86_64.whl", true, true},
	{"foo-1.0-cp311-cp311-Linux_AArch64.whl", false, true},
	{"foo-1.0-cp311-cp311-WIN32.whl", false, false},
	// Files that are not wheels, and a wheel by its ending alone.
	{"foo-1.0.tar.gz", true, true},
	{"foo-1.0-win32.zip", true, true},
	{"foo-1.0.win-amd64-py2.7.exe", true, true},
	{"foo-1.0-py2.7-win32.egg", true, true},
	{"foo-1.0-py3-none-win32.whl.asc", true, true},
	{"foo-1.0-py3-none-win32.WHL", true, true}, // no client treats it as a wheel
	{"foo-1.0-any.whl", true, true},
	{"any.whl", true, true},
	{"foo.whl", false, false},
	{".whl", false, false},
	{"-.whl", false, false},
	{"foo-1.0-py3-none-.whl", false, false},
	{"foo-1.0-py3-none-any_.whl", false, false},
	{"foo-1.0-py3-none-an.whl", false, false},
	{"foo-1.0-py3-none-manylinux_2_17_x86_64_and_so_on_longer_than_any.whl", false, false},
};

static void test_wheels(void **state UNUSED)
{
	const struct platform *both[] = {&machine[DEBIAN], &machine[ALPINE]};
	CLEANUP(wheel_filter_release) struct wheel_filter debian, either;
	wheel_filter_init(&debian, both, 1);
	wheel_filter_init(&either, both, 2);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		if (wheel_filter_admits(&debian, cases[i].filename) != cases[i].on_debian)
			fail_msg("%s on Debian", cases[i].filename);
		if (wheel_filter_admits(&either, cases[i].filename) != cases[i].on_either)
			fail_msg("%s on either", cases[i].filename);
	}
}

// With an unknown platform the filter admits every wheel.
static void test_unknown_platforms(void **state UNUSED)
{
	const struct platform *all[] = {&machine[DEBIAN], &machine[UNKNOWN], &machine[ALPINE]};
	CLEANUP(wheel_filter_release) struct wheel_filter unknown, none;
	const struct wheel_filter unwanted = {0};
	wheel_filter_init(&unknown, all, 3);
	wheel_filter_init(&none, NULL, 0);
	assert_ptr_equal(unknown.unknown, &machine[UNKNOWN]);
	assert_null(none.unknown);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_true(wheel_filter_admits(&unknown, cases[i].filename));
		assert_true(wheel_filter_admits(&none, cases[i].filename));
		assert_true(wheel_filter_admits(&unwanted, cases[i].filename));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wheels),
		cmocka_unit_test(test_unknown_platforms),
	};
	return cmocka_run_group_tests(tests, make_machines, release_machines);
}
