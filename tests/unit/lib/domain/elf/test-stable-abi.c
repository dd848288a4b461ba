// SPDX-License-Identifier: Apache-2.0
// test-stable-abi.py compares the table with CPython's own list; this file tests the search.
#include "lib/domain/elf/stable-abi.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/base/mem.h"

static void test_a_symbol_has_the_version_that_added_it(void **state UNUSED)
{
	static const struct {
		const char *symbol;
		int minor;
	} cases[] = {
		{"PyArg_Parse", 2}, // the first and the last of the table
		{"_Py_VaBuildValue_SizeT", 2},
		{"PyList_New", 2},
		{"PyModule_AddType", 10},
		{"PyBuffer_FillInfo", 11}, // was in 3.10 and older, but not stable there
		{"PyObject_Vectorcall", 12},
		{"Py_GetConstant", 13},
		{"PyUnicode_AsUTF8", -1}, // no part of it
		{"PyErr_SetFromWindowsErr", -1},
		{"_Py_RefTotal", -1}, // debug builds only
		{"PyList_Ne", -1},
		{"PyList_New2", -1},
		{"", -1},
		{"zzz", -1},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (stable_abi_since(str_from(cases[i].symbol)) != cases[i].minor)
			fail_msg("%s: %d", cases[i].symbol, stable_abi_since(str_from(cases[i].symbol)));
}

static void test_pythons_symbols_begin_with_py(void **state UNUSED)
{
	assert_true(stable_abi_is_python(STR("PyList_New")));
	assert_true(stable_abi_is_python(STR("_Py_Dealloc")));
	assert_true(stable_abi_is_python(STR("Py_IncRef")));
	assert_false(stable_abi_is_python(STR("__pyx_module")));
	assert_false(stable_abi_is_python(STR("P")));
	assert_false(stable_abi_is_python(STR("")));
}

static void test_families_of_symbols(void **state UNUSED)
{
	assert_true(stable_abi_has_kin(STR("PyUnicode_AsUTF8")));
	assert_true(stable_abi_has_kin(STR("_PyUnicode_Ready")));
	assert_true(stable_abi_has_kin(STR("_Py_RefTotal")));
	assert_false(stable_abi_has_kin(STR("PyDate_FromDate")));
	assert_false(stable_abi_has_kin(STR("PyDateTimeAPI")));
	assert_false(stable_abi_has_kin(STR("PySide_New")));
	assert_false(stable_abi_has_kin(STR("zzz_")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_symbol_has_the_version_that_added_it),
		cmocka_unit_test(test_families_of_symbols),
		cmocka_unit_test(test_pythons_symbols_begin_with_py),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
