// SPDX-License-Identifier: Apache-2.0
#include "lib/os/library.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdatomic.h>
#include <string.h>
#include <zlib.h>

#include "lib/base/mem.h"

#define FUNCTIONS(F) F(crc32) F(zlibVersion)

static struct {
	FUNCTIONS(LIBRARY_POINTER)
} z;
static const char *const names[] = {FUNCTIONS(LIBRARY_NAME)};

static void test_functions_of_a_library_are_found(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct library l = LIBRARY("libz.so.1", names, z);
	assert_int_equal(library_load(&l, &e), 0);
	assert_string_equal(z.zlibVersion(), zlibVersion());
	assert_int_equal(z.crc32(0, (const Bytef *)"123456789", 9), 0xcbf43926);
	z.crc32 = NULL;
	assert_int_equal(library_load(&l, &e), 0); // it is loaded once
	assert_null(z.crc32);
}

static void test_an_absent_library_or_function_is_an_error(void **state UNUSED)
{
	static const char *const wrong[] = {"crc32", "no_such_function"};
	static const struct {
		const char *file;
		const char *const *names;
		const char *says;
	} table[] = {
		{"libnosuchlibrary.so.7", names, "libnosuchlibrary.so.7: cannot open"},
		{"libz.so.1", wrong, "libz.so.1 has no no_such_function"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct err e = ERR_INIT;
		struct library l = {table[i].file, table[i].names, 2, &z, PTHREAD_MUTEX_INITIALIZER, false};
		assert_int_equal(library_load(&l, &e), -1);
		assert_int_equal(e.kind, ERR_IO);
		assert_non_null(strstr(e.msg, table[i].says));
		assert_false(atomic_load(&l.is_loaded));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions_of_a_library_are_found),
		cmocka_unit_test(test_an_absent_library_or_function_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
