// SPDX-License-Identifier: Apache-2.0
// Made facts: which libraries a wheel finds, and which it misses.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/audit/audit-layout.h"
#include "lib/base/limits.h"
#include "tests/unit/support/made-facts.h"

static const struct audit_case libraries_that_are_absent_cases[] = {
	{.name = NAME,
		.elf = {{.path = MODULE, .needed = {"libfoo.so.1"}}},
		.expected = "error missing-library " MODULE,
		.tag = "linux_x86_64",
		.why = "needs libfoo.so.1, which is neither in the wheel nor allowed by manylinux_2_17_x86_64"},
	{.name = NAME,
		.elf = {{.path = MODULE, .needed = {"libc.so.6", "libz.so.1", "ld-linux-x86-64.so.2"}}},
		.expected = "",
		.tag = "manylinux_2_5_x86_64"},
	// Allowed from a tag on.
	{.name = NAME,
		.elf = {{.path = MODULE, .needed = {"libexpat.so.1"}}},
		.expected = "",
		.tag = "manylinux_2_12_x86_64"},
	{.name = NAME,
		.elf = {{.path = MODULE, .needed = {"libmvec.so.1"}}},
		.expected = "error missing-library " MODULE,
		.tag = "manylinux_2_24_x86_64"},
	// Nothing is promised.
	{.name = "cp311-cp311-linux_x86_64",
		.elf = {{.path = MODULE, .needed = {"libfoo.so.1"}}},
		.expected = "",
		.tag = "linux_x86_64"},
	{.name = NAME,
		.elf = {{.path = MODULE, .needed = {"libpython3.11.so.1.0"}}},
		.expected = "error missing-library " MODULE,
		.why = "Debian"},
	{.name = "cp311-cp311-linux_x86_64",
		.elf = {{.path = MODULE, .needed = {"libpython3.11.so.1.0"}}},
		.expected = "warn libpython " MODULE},
	{.name = NAME,
		.elf = {{.path = MODULE, .needed = {"/usr/lib/libfoo.so"}}},
		.expected = "error missing-library " MODULE,
		.why = "by its path"},
	// musl and glibc.
	{.name = "cp311-cp311-musllinux_1_2_x86_64",
		.elf = {{.path = MODULE, .needed = {"libc.musl-x86_64.so.1", "libz.so.1"}}},
		.expected = "",
		.tag = "musllinux_1_2_x86_64"},
	{.name = "cp311-cp311-musllinux_1_1_x86_64.musllinux_1_2_x86_64",
		.elf = {{.path = MODULE, .needed = {"libc.so"}}},
		.expected = "",
		.tag = "musllinux_1_1_x86_64"},
	{.name = "cp311-cp311-musllinux_1_2_x86_64",
		.elf = {{.path = MODULE, .needed = {"libc.so.6"}}},
		.expected = "error missing-library " MODULE,
		.why = "glibc's"},
	{.name = "cp311-cp311-musllinux_1_2_x86_64",
		.elf = {{.path = MODULE, .needed = {"libstdc++.so.6"}}},
		.expected = "error missing-library " MODULE},
	{.name = NAME,
		.elf = {{.path = MODULE, .needed = {"libc.musl-x86_64.so.1"}}},
		.expected = "error missing-library " MODULE,
		.why = "musl's"},
	// Both: both must hold.
	{.name = "py3-none-manylinux_2_17_x86_64.musllinux_1_1_x86_64",
		.elf = {{.path = "demo/tool"}},
		.expected = "",
		.tag = "manylinux_2_5_x86_64.musllinux_1_1_x86_64"},
	{.name = "py3-none-manylinux_2_17_x86_64.musllinux_1_1_x86_64",
		.elf = {{.path = "demo/tool", .needed = {"libc.so.6"}}},
		.expected = "error missing-library demo/tool"},
};

static void test_libraries_that_are_absent(void **state UNUSED)
{
	CHECK_CASES(libraries_that_are_absent_cases);
}

static const struct audit_case libraries_that_are_in_the_wheel_cases[] = {
	{.name = NAME,
		.elf = {{.path = MODULE, .needed = {"libfoo.so.1"}, .runpath = "$ORIGIN/../demo.libs"},
			{.path = "demo.libs/libfoo.so.1"}},
		.expected = "",
		.tag = "manylinux_2_5_x86_64"},
	{.name = NAME,
		.elf = {{.path = MODULE, .needed = {"libfoo.so.1"}, .rpath = "${ORIGIN}/."},
			{.path = "demo/libfoo.so.1"}},
		.expected = ""},
	// Folders of NAME.data are installed elsewhere.
	{.name = NAME,
		.elf = {{.path = "demo-1.data/platlib/demo/m.so",
				.needed = {"libfoo.so.1"},
				.rpath = "$ORIGIN/../demo.libs"},
			{.path = "demo.libs/libfoo.so.1"}},
		.expected = ""},
	{.name = NAME,
		.elf = {{.path = "demo-1.data/scripts/tool", .needed = {"libfoo.so.1"}, .rpath = "$ORIGIN/../lib"},
			{.path = "demo-1.data/data/lib/libfoo.so.1"}},
		.expected = ""},
	// In the wheel, but on no path: by its file name, or by its SONAME; the empty path is none.
	{.name = NAME,
		.elf = {{.path = MODULE, .needed = {"libfoo.so.1"}, .rpath = ""}, {.path = "demo/libfoo.so.1"}},
		.expected = "warn loose-library " MODULE},
	{.name = NAME,
		.elf = {{.path = MODULE, .needed = {"libfoo.so.1"}, .rpath = "$ORIGIN"},
			{.path = "demo/libfoo.so", .soname = "libfoo.so.1"}},
		.expected = "warn loose-library " MODULE},
	// DT_RUNPATH is for the file itself, and hides its DT_RPATH.
	{.name = NAME,
		.elf = {{.path = MODULE, .needed = {"libfoo.so.1"}, .rpath = "$ORIGIN", .runpath = "$ORIGIN/x"},
			{.path = "demo/libfoo.so.1"}},
		.expected = "warn loose-library " MODULE},
	// DT_RPATH of a file that loads it.
	{.name = NAME,
		.elf = {{.path = MODULE, .needed = {"liba.so"}, .rpath = "$ORIGIN"},
			{.path = "demo/liba.so", .needed = {"libb.so"}}, {.path = "demo/libb.so"}},
		.expected = ""},
	{.name = NAME,
		.elf = {{.path = MODULE, .needed = {"liba.so"}, .runpath = "$ORIGIN"},
			{.path = "demo/liba.so", .needed = {"libb.so"}}, {.path = "demo/libb.so"}},
		.expected = "warn loose-library demo/liba.so"},
	// The file that loads it has loaded the other one before.
	{.name = NAME,
		.elf = {{.path = MODULE, .needed = {"liba.so", "libb.so"}, .runpath = "$ORIGIN"},
			{.path = "demo/liba.so", .needed = {"libb.so"}}, {.path = "demo/libb.so"}},
		.expected = ""},
	// Through two files.
	{.name = NAME,
		.elf = {{.path = MODULE, .needed = {"liba.so"}, .rpath = "$ORIGIN"},
			{.path = "demo/liba.so", .needed = {"libb.so"}},
			{.path = "demo/libb.so", .needed = {"libc.so"}}, {.path = "demo/libc.so", .soname = "libc.so"}},
		.expected = ""},
	// Of another machine.
	{.name = NAME,
		.elf = {{.path = MODULE, .needed = {"libfoo.so.1"}, .rpath = "$ORIGIN"},
			{.path = "demo/libfoo.so.1", .machine = AARCH64}},
		.expected = "warn loose-library " MODULE "\nwarn foreign-file demo/libfoo.so.1"},
	// A hashed copy, and the plain name.
	{.name = NAME,
		.elf = {{.path = MODULE, .needed = {"libfoo.so.1"}, .rpath = "$ORIGIN/../demo.libs"},
			{.path = "demo.libs/libfoo-0123abcd.so.1.2.3"}},
		.expected = "error unhashed-name " MODULE,
		.why = "libfoo-0123abcd.so.1.2.3"},
	{.name = NAME,
		.elf = {{.path = MODULE, .needed = {"libfoo-0123abcd.so.1.2.3"}, .rpath = "$ORIGIN/../demo.libs"},
			{.path = "demo.libs/libfoo-0123abcd.so.1.2.3"}},
		.expected = ""},
	{.name = NAME,
		.elf = {{.path = MODULE, .needed = {"libfoo.so.2"}, .rpath = "$ORIGIN/../demo.libs"},
			{.path = "demo.libs/libfoo-0123abcd.so.1.2.3"}},
		.expected = "error missing-library " MODULE},
	// Another package may have it.
	{.name = NAME,
		.elf = {{.path = MODULE, .needed = {"libfoo.so.1"}, .rpath = "$ORIGIN/../other/lib"}},
		.expected = "warn rpath " MODULE},
	// Another wheel may put it into a folder of the package: PyQt6 and PyQt6-Qt6, or nvidia.
	{.name = NAME,
		.elf = {{.path = MODULE, .needed = {"libfoo.so.1"}, .rpath = "$ORIGIN/Qt6/lib"}},
		.expected = "warn loose-library " MODULE,
		.why = "another wheel"},
	{.name = NAME,
		.elf = {{.path = MODULE, .needed = {"libfoo.so.1"}, .rpath = "$ORIGIN/lib"},
			{.path = "demo/lib/libbar.so"}},
		.expected = "error missing-library " MODULE},
	// One that cannot be read is there.
	{.name = NAME,
		.elf = {{.path = MODULE, .needed = {"libfoo.so.1"}, .rpath = "$ORIGIN"},
			{.path = "demo/libfoo.so.1", .damage = "damaged ELF: its header"}},
		.expected = "error damaged demo/libfoo.so.1"},
	// Versions of a bundled library are its own affair, but it must have them.
	{.name = NAME,
		.elf = {{.path = MODULE,
				.needed = {"libssl.so.3"},
				.rpath = "$ORIGIN",
				.versions = {"libssl.so.3 GLIBC_2.40"}},
			{.path = "demo/libssl.so.3", .defines = {"GLIBC_2.40"}}},
		.expected = "",
		.tag = "manylinux_2_5_x86_64"},
	{.name = NAME,
		.elf = {{.path = MODULE,
				.needed = {"libssl.so.3"},
				.rpath = "$ORIGIN",
				.versions = {"libssl.so.3 OPENSSL_3.2.0"}},
			{.path = "demo/libssl.so.3", .defines = {"OPENSSL_3.0.0"}}},
		.expected = "error missing-library " MODULE,
		.why = "OPENSSL_3.2.0 of libssl.so.3, which the wheel's demo/libssl.so.3 does not have"},
	{.name = NAME,
		.elf = {{.path = MODULE,
				.needed = {"libssl.so.3"},
				.rpath = "$ORIGIN",
				.versions = {"libssl.so.3 OPENSSL_3.2.0"}},
			{.path = "demo/libssl.so.3"}},
		.expected = ""},
};

static void test_libraries_that_are_in_the_wheel(void **state UNUSED)
{
	CHECK_CASES(libraries_that_are_in_the_wheel_cases);
}

// The library is in the last folder of the search path. Behind LIMIT_AUDIT_SEARCH_PATHS folders it is not looked for.
// Exceeds LIMIT_AUDIT_SEARCH_PATHS.
static void test_search_paths_are_bounded(void **state UNUSED)
{
	for (size_t more = 0; more < 2; more++) {
		CLEANUP(buf_release) struct buf path;
		buf_init(&path, LIMIT_ELF_STRING);
		for (size_t i = 1; i < LIMIT_AUDIT_SEARCH_PATHS + more; i++)
			buf_printf(&path, "$ORIGIN/%zu:", i);
		buf_puts(&path, "$ORIGIN/../demo.libs");
		const struct audit_case one = {.name = NAME,
			.elf = {{.path = MODULE, .needed = {"libfoo.so.1"}, .runpath = path.data},
				{.path = "demo.libs/libfoo.so.1"}},
			.expected = more ? "warn loose-library " MODULE : ""};
		check_case(&one, more);
	}
}

// Exceeds LIMIT_AUDIT_STEPS. Each of many libraries is looked for in many folders, among many files of its name
// elsewhere.
static void test_a_search_without_end_is_cut(void **state UNUSED)
{
	enum { COPIES = 1024, NEEDED = 2 * (LIMIT_AUDIT_STEPS / COPIES / LAYOUT_PATHS) };
	static struct wheel_elf elf[LAYOUT_PATHS + COPIES + 1];
	static const char *needed[NEEDED];
	struct audit_report report;
	CLEANUP(arena_release) struct arena names = {0};
	CLEANUP(buf_release) struct buf path, found;
	buf_init(&path, LIMIT_ELF_STRING);
	buf_init(&found, 1 << 20);
	for (size_t i = 0; i < NEEDED; i++)
		needed[i] = "libfoo.so.1";
	for (size_t i = 1; i < ARRAY_SIZE(elf); i++) {
		CLEANUP(mem_free)
		char *name = xasprintf(i <= LAYOUT_PATHS ? "demo/%zu/x.so" : "demo/other/%zu/libfoo.so.1", i);
		if (i <= LAYOUT_PATHS)
			buf_printf(&path, "$ORIGIN/%zu:", i);
		elf[i] = (struct wheel_elf){.path = arena_copy(&names, str_from(name)),
			.elf = {.is_64 = true, .machine = X86_64, .is_dynamic = true}};
	}
	elf[0] = (struct wheel_elf){.path = MODULE,
		.elf = {.is_64 = true,
			.machine = X86_64,
			.is_dynamic = true,
			.needed = {needed, NEEDED},
			.runpath = path.data}};
	const struct wheel_facts facts = {.elf = elf, .elfs = ARRAY_SIZE(elf)};
	audit_made(&facts, NAME, &(struct audit_options){0}, &report);
	list_findings(&report, &found);
	if (!strstr(found.data, "too-complex"))
		fail_msg("%zu findings, %.200s", report.count, found.data);
	audit_report_release(&report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_libraries_that_are_absent),
		cmocka_unit_test(test_libraries_that_are_in_the_wheel),
		cmocka_unit_test(test_search_paths_are_bounded),
		cmocka_unit_test(test_a_search_without_end_is_cut),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
