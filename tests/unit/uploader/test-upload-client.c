// SPDX-License-Identifier: Apache-2.0
#include "uploader/upload-client.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/base/mem.h"

static void pauses_grow_and_follow_the_server(void **state UNUSED)
{
	static const struct {
		unsigned try;
		uint64_t asked;
		int64_t pause;
	} rows[] = {{0, 0, 250}, {1, 0, 500}, {6, 0, 16000}, {4000000000, 0, 16000}, {0, 3, 3000}, {6, 3, 16000},
		{0, 600, 600000}, {0, 601, -1}, {0, UINT64_MAX, -1}};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(retry_pause(rows[i].try, rows[i].asked), rows[i].pause);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(pauses_grow_and_follow_the_server)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
