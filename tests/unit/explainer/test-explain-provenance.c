// SPDX-License-Identifier: Apache-2.0
#include "explainer/explain-parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/base/limits.h"

// The catalog, of which there is none here, is not asked.
// Exceeds LIMIT_EXPLAIN_STATEMENTS.
static void statements_of_a_project_are_bounded(void **state UNUSED)
{
	struct err e = ERR_INIT;
	size_t bytes = LIMIT_EXPLAIN_STATEMENTS + (size_t)1;
	const uint8_t sha256[SHA256_SIZE] = {0};
	const struct catalog_history file = {.state = FILE_IS_LISTED, .statement = sha256, .provenance = sha256};
	CLEANUP(jsondoc_cleanup) struct jsondoc *row = jsondoc_object();
	assert_int_equal(explain_provenance_put(NULL, &file, true, &bytes, row, &e), 0);
	assert_null(jsondoc_get(row, "provenance"));
	assert_true(jsondoc_is_true(row, "attestations"));
	assert_int_equal(bytes, LIMIT_EXPLAIN_STATEMENTS + (size_t)1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(statements_of_a_project_are_bounded)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
