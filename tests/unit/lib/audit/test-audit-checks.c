// SPDX-License-Identifier: Apache-2.0
// Made facts, cases for each code but those of libraries, and for what is near to it but right.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/limits.h"
#include "tests/unit/support/made-facts.h"

static const struct audit_case tags_cases[] = {
	{.name = NAME,
		.elf = {{.path = MODULE, .needed = {"libc.so.6"}, .versions = {"libc.so.6 GLIBC_2.17"}}},
		.expected = "",
		.tag = "manylinux_2_17_x86_64"},
	{.name = NAME,
		.elf = {{.path = MODULE, .needed = {"libc.so.6"}, .versions = {"libc.so.6 GLIBC_2.34"}}},
		.expected = "error tag-too-low " MODULE,
		.tag = "manylinux_2_34_x86_64",
		.why = "needs GLIBC_2.34 of libc.so.6, but manylinux_2_17_x86_64 promises only up to GLIBC_2.17"},
	// A weak version may be absent; the loader's own are not judged.
	{.name = NAME,
		.elf = {{.path = MODULE, .versions = {"?libc.so.6 GLIBC_2.34", "ld-linux-x86-64.so.2 GLIBC_2.35"}}},
		.expected = "",
		.tag = "manylinux_2_5_x86_64"},
	{.name = NAME,
		.elf = {{.path = MODULE, .versions = {"libc.so.6 GLIBC_PRIVATE"}}},
		.expected = "error tag-too-low " MODULE,
		.tag = "linux_x86_64",
		.why = "no manylinux tag allows"},
	{.name = NAME,
		.elf = {{.path = MODULE, .versions = {"libstdc++.so.6 GLIBCXX_3.4.20"}}},
		.expected = "error tag-too-low " MODULE,
		.tag = "manylinux_2_24_x86_64",
		.why = "only up to GLIBCXX_3.4.19"},
	// Names of versions that no table has are not judged.
	{.name = NAME,
		.elf = {{.path = MODULE, .versions = {"libc.so.6 OPENSSL_9.0.0"}}},
		.expected = "",
		.tag = "manylinux_2_5_x86_64"},
	// The lowest tag must hold, in whatever order; the old names have their glibc.
	{.name = "cp311-cp311-manylinux_2_28_x86_64.manylinux2014_x86_64",
		.elf = {{.path = MODULE, .versions = {"libc.so.6 GLIBC_2.28"}}},
		.expected = "error tag-too-low " MODULE,
		.tag = "manylinux_2_28_x86_64",
		.why = "manylinux2014_x86_64 promises"},
	{.name = "cp311-cp311-manylinux1_x86_64",
		.elf = {{.path = MODULE, .versions = {"libc.so.6 GLIBC_2.6"}}},
		.expected = "error tag-too-low " MODULE,
		.tag = "manylinux_2_12_x86_64"},
	{.name = "cp311-cp311-manylinux2010_x86_64",
		.elf = {{.path = MODULE, .versions = {"libc.so.6 GLIBC_2.12"}}},
		.expected = "",
		.tag = "manylinux_2_12_x86_64"},
	// aarch64 has an exception.
	{.name = "cp311-cp311-manylinux_2_17_aarch64",
		.elf = {{.path = MODULE, .machine = AARCH64, .versions = {"libc.so.6 GLIBC_2.18"}}},
		.expected = "",
		.tag = "manylinux_2_17_aarch64"},
	// The tables have no row for 2.33, and end with 2.41.
	{.name = "cp311-cp311-manylinux_2_33_x86_64",
		.elf = {{.path = MODULE, .versions = {"libc.so.6 GLIBC_2.33"}}},
		.expected = "",
		.tag = "manylinux_2_34_x86_64"},
	{.name = "cp311-cp311-manylinux_2_50_x86_64",
		.elf = {{.path = MODULE, .versions = {"libc.so.6 GLIBC_2.50", "libstdc++.so.6 GLIBCXX_3.4.99"}}},
		.expected = ""},
	{.name = "cp311-cp311-manylinux_2_50_x86_64",
		.elf = {{.path = MODULE, .versions = {"libc.so.6 GLIBC_2.51"}}},
		.expected = "error tag-too-low " MODULE,
		.tag = "manylinux_2_51_x86_64"},
	{.name = "cp311-cp311-linux_x86_64",
		.elf = {{.path = MODULE, .versions = {"libc.so.6 GLIBC_2.34"}}},
		.expected = "",
		.tag = "manylinux_2_34_x86_64"},
	// A symbol without a version, private to zlib; not if the wheel has it, or may do without it.
	{.name = NAME,
		.elf = {{.path = MODULE, .needed = {"libz.so.1"}, .symbols = {"z_errmsg"}}},
		.expected = "error tag-too-low " MODULE,
		.tag = "linux_x86_64",
		.why = "needs the symbol z_errmsg of libz.so.1"},
	{.name = NAME,
		.elf = {{.path = MODULE, .needed = {"libz.so.1"}, .symbols = {"?z_errmsg"}}},
		.expected = "",
		.tag = "manylinux_2_5_x86_64"},
	{.name = NAME,
		.elf = {{.path = MODULE, .needed = {"libz.so.1"}, .symbols = {"z_errmsg"}},
			{.path = "demo/n.so", .symbols = {"+z_errmsg"}}},
		.expected = "",
		.tag = "manylinux_2_5_x86_64"},
	{.name = "py3-none-any", .expected = "", .tag = "any"},
	{.name = "cp311-cp311-macosx_11_0_arm64", .expected = "", .tag = ""},
};

static void test_tags(void **state UNUSED)
{
	CHECK_CASES(tags_cases);
}

static const struct audit_case machines_cases[] = {
	{.name = NAME,
		.elf = {{.path = MODULE, .machine = AARCH64}},
		.expected = "error wrong-machine " MODULE,
		.why = "is for aarch64"},
	{.name = NAME,
		.elf = {{.path = MODULE}, {.path = "demo/n.so", .machine = AARCH64, .symbols = {"+PyInit_n"}}},
		.expected = "error wrong-machine demo/n.so"},
	{.name = NAME,
		.elf = {{.path = MODULE}, {.path = "demo.libs/libfoo.so", .machine = I386}},
		.expected = "error wrong-machine demo.libs/libfoo.so"},
	{.name = NAME,
		.elf = {{.path = MODULE}, {.path = "demo/helper", .machine = AARCH64}},
		.expected = "warn foreign-file demo/helper"},
	{.name = NAME,
		.elf = {{.path = MODULE}, {.path = "demo/probe.o", .machine = BPF, .is_object = true}},
		.expected = ""},
	{.name = "py3-none-manylinux_2_17_x86_64.manylinux_2_17_aarch64",
		.elf = {{.path = MODULE}, {.path = "demo/n.so", .machine = AARCH64}},
		.expected = "",
		.tag = "manylinux_2_5_x86_64.manylinux_2_17_aarch64"},
	{.name = "cp311-cp311-linux_x86_64",
		.elf = {{.path = MODULE, .machine = I386}},
		.expected = "error wrong-machine " MODULE},
	// What is not known is not judged.
	{.name = "cp311-cp311-linux_vax", .elf = {{.path = MODULE, .machine = 75}}, .expected = ""},
	{.name = "cp311-cp311-macosx_11_0_arm64",
		.elf = {{.path = "demo/m.so", .symbols = {"+PyInit_m"}}},
		.expected = "error wrong-machine demo/m.so",
		.tag = ""},
	{.name = "cp311-cp311-win_amd64",
		.elf = {{.path = "demo/attach_linux.so", .needed = {"libfoo.so"}}},
		.expected = "warn foreign-file demo/attach_linux.so"},
	{.name = "py3-none-any",
		.elf = {{.path = MODULE}},
		.expected = "error native-in-pure " MODULE,
		.tag = "manylinux_2_5_x86_64"},
	{.name = "py3-none-any",
		.elf = {{.path = "demo/x.o", .is_object = true}},
		.expected = "warn foreign-file demo/x.o"},
	{.name = "py3-none-any",
		.elf = {{.path = "demo/probe.o", .machine = BPF, .is_object = true}},
		.expected = "",
		.tag = "any"},
	{.name = NAME, .elf = {{.path = MODULE}}, .expected = "warn purelib " MODULE, .is_purelib = true},
	{.name = NAME,
		.elf = {{.path = "demo-1.data/purelib/m.so"}},
		.expected = "warn purelib demo-1.data/purelib/m.so"},
	{.name = NAME, .elf = {{.path = "demo-1.data/platlib/m.so"}}, .expected = "", .is_purelib = true},
	{.name = NAME,
		.elf = {{.path = MODULE, .damage = "damaged ELF: its header"}},
		.expected = "error damaged " MODULE,
		.tag = "any",
		.why = "damaged ELF: its header"},
	{.name = NAME,
		.elf = {{.path = "demo/tests/broken.bin", .damage = "damaged ELF: its header"}},
		.expected = "warn damaged-data demo/tests/broken.bin"},
};

static void test_machines(void **state UNUSED)
{
	CHECK_CASES(machines_cases);
}

static const struct audit_case search_paths_cases[] = {
	{.name = NAME,
		.elf = {{.path = MODULE, .rpath = "/opt/lib"}},
		.expected = "error absolute-rpath " MODULE,
		.why = "\"/opt/lib\""},
	{.name = NAME,
		.elf = {{.path = MODULE, .runpath = "$ORIGIN:/opt/lib:/a:/b:/c"}},
		.expected = "error absolute-rpath " MODULE,
		.why = "\"/opt/lib\", \"/a\", \"/b\" and 1 more"},
	{.name = NAME,
		.elf = {{.path = MODULE, .rpath = "/opt/lib", .runpath = "$ORIGIN"}},
		.expected = ""}, // the loader ignores the RPATH
	{.name = NAME,
		.elf = {{.path = MODULE, .rpath = "lib"}},
		.expected = "warn rpath " MODULE,
		.why = "without $ORIGIN"},
	{.name = NAME,
		.elf = {{.path = MODULE, .rpath = "$ORIGIN:"}},
		.expected = "warn rpath " MODULE,
		.why = "an empty name"},
	{.name = NAME,
		.elf = {{.path = MODULE, .rpath = "$ORIGIN/../other"}},
		.expected = "warn rpath " MODULE,
		.why = "another package"},
	{.name = NAME,
		.elf = {{.path = MODULE, .rpath = "$ORIGIN/../../.."}},
		.expected = "warn rpath " MODULE,
		.why = "outside of the installed"},
	{.name = NAME,
		.elf = {{.path = MODULE, .rpath = "$ORIGIN/../../../../../../../../lib"}},
		.expected = "warn rpath " MODULE},
	{.name = NAME,
		.elf = {{.path = MODULE, .rpath = "$ORIGIN/../demo/gone:$ORIGIN/..:$ORIGIN/../$LIB"}},
		.expected = ""},
	{.name = NAME, .elf = {{.path = MODULE, .rpath = "$ORIGINAL/lib"}}, .expected = ""},
};

static void test_search_paths(void **state UNUSED)
{
	CHECK_CASES(search_paths_cases);
}

static const struct audit_case abi3_cases[] = {
	{.name = "cp38-abi3-linux_x86_64",
		.elf = {{.path = MODULE, .symbols = {"PyList_New", "puts", "+PyInit_m"}}},
		.expected = ""},
	{.name = "cp38-abi3-linux_x86_64",
		.elf = {{.path = MODULE, .symbols = {"PyUnicode_AsUTF8"}}},
		.expected = "error abi3 " MODULE,
		.why = "PyUnicode_AsUTF8, outside of the stable ABI"},
	{.name = "cp38-abi3-linux_x86_64",
		.elf = {{.path = MODULE, .symbols = {"PyModule_AddType"}}},
		.expected = "error abi3 " MODULE,
		.why = "PyModule_AddType (of Python 3.10)"},
	{.name = "cp310-abi3-linux_x86_64", .elf = {{.path = MODULE, .symbols = {"PyModule_AddType"}}}, .expected = ""},
	{.name = "cp310.cp38-abi3-linux_x86_64",
		.elf = {{.path = MODULE, .symbols = {"PyModule_AddType"}}},
		.expected = "error abi3 " MODULE},
	{.name = "cp310-abi3.abi3t-linux_x86_64",
		.elf = {{.path = MODULE, .symbols = {"PyObject_Vectorcall"}}},
		.expected = "error abi3 " MODULE},
	{.name = "cp311-cp311-linux_x86_64",
		.elf = {{.path = MODULE, .symbols = {"PyUnicode_AsUTF8"}}},
		.expected = ""},
	// A weak one may be absent; another file of the wheel may have it; one Python alone imports the module.
	{.name = "cp38-abi3-linux_x86_64", .elf = {{.path = MODULE, .symbols = {"?PyUnicode_AsUTF8"}}}, .expected = ""},
	{.name = "cp38-abi3-linux_x86_64",
		.elf = {{.path = MODULE, .symbols = {"PySide_New"}}, {.path = "demo/l.so", .symbols = {"+PySide_New"}}},
		.expected = ""},
	{.name = "cp38-abi3-linux_x86_64",
		.elf = {{.path = "demo/m.cpython-38-x86_64-linux-gnu.so", .symbols = {"PyUnicode_AsUTF8"}}},
		.expected = ""},
	// A library of another wheel may have names like Python's, but not those of Python's families.
	{.name = "cp38-abi3-linux_x86_64",
		.elf = {{.path = MODULE, .needed = {"libshiboken6.abi3.so.6"}, .symbols = {"PyDate_FromDate"}}},
		.expected = ""},
	{.name = "cp38-abi3-linux_x86_64",
		.elf = {{.path = MODULE, .needed = {"libc.so.6"}, .symbols = {"PyDate_FromDate"}}},
		.expected = "error abi3 " MODULE},
	{.name = "cp38-abi3-linux_x86_64",
		.elf = {{.path = MODULE, .needed = {"libshiboken6.abi3.so.6"}, .symbols = {"PyUnicode_AsUTF8"}}},
		.expected = "error abi3 " MODULE},
};

static void test_abi3(void **state UNUSED)
{
	CHECK_CASES(abi3_cases);
}

static const struct audit_case marks_and_twins_cases[] = {
	{.name = NAME,
		.elf = {{.path = MODULE, .has_executable_stack = true}},
		.expected = "warn executable-stack " MODULE},
	{.name = NAME,
		.elf = {{.path = MODULE, .has_no_mark = true}},
		.expected = "warn executable-stack " MODULE,
		.why = "PT_GNU_STACK"},
	{.name = "cp311-cp311-manylinux_2_17_aarch64",
		.elf = {{.path = MODULE, .machine = AARCH64, .has_no_mark = true}},
		.expected = ""},
	{.name = NAME, .elf = {{.path = "demo/x.o", .is_object = true, .has_no_mark = true}}, .expected = ""},
	{.name = NAME, .elf = {{.path = MODULE, .has_textrel = true}}, .expected = "warn textrel " MODULE},
	{.name = NAME,
		.elf = {{.path = "demo/a.so", .soname = "x.so"}, {.path = "demo/b.so", .soname = "x.so"}},
		.expected = "warn twin-soname demo/a.so",
		.why = "demo/b.so"},
	{.name = NAME,
		.elf = {{.path = "demo/a.so", .soname = "x.so"}, {.path = "demo/b.so", .soname = "y.so"}},
		.expected = ""},
	{.name = NAME,
		.elf = {{.path = "demo/a.so", .hash = 1}, {.path = "demo/c.so", .hash = 1},
			{.path = "demo/b.so", .hash = 1}},
		.expected = "warn twin-bytes demo/a.so",
		.why = "demo/b.so, demo/c.so"},
	// The same bytes say the same SONAME.
	{.name = NAME,
		.elf = {{.path = "demo/a.so", .soname = "x.so", .hash = 1},
			{.path = "demo/b.so", .soname = "x.so", .hash = 1}},
		.expected = "warn twin-bytes demo/a.so"},
	// Python loads modules by their paths.
	{.name = NAME,
		.elf = {{.path = "demo/a.so", .soname = "x.so", .symbols = {"+PyInit_a"}},
			{.path = "demo/b.so", .soname = "x.so", .symbols = {"+PyInit_b"}}},
		.expected = ""},
};

static void test_marks_and_twins(void **state UNUSED)
{
	CHECK_CASES(marks_and_twins_cases);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tags),
		cmocka_unit_test(test_machines),
		cmocka_unit_test(test_search_paths),
		cmocka_unit_test(test_abi3),
		cmocka_unit_test(test_marks_and_twins),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
