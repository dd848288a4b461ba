// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/text/name-match.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/mem.h"

static void test_reads_what_people_type(void **state UNUSED)
{
	static const struct {
		const char *typed, *text; // NULL: nothing
	} table[] = {
		{"numpy", "numpy"},
		{" NumPy ", "numpy"},
		{"Zope.Interface", "zope-interface"},
		{"scikit learn", "scikit-learn"},
		{"ruamel__.yaml", "ruamel-yaml"},
		{"-num-", "num"},
		{"requests[socks] >= 2", "requests"},
		{"six==1.0; python_version<'3'", "six"},
		{"six@https://example.org", "six"},
		{"<script>", NULL},
		{"a<script>", "a"},
		{"n\xc3\xbcmpy", "nmpy"},
		{"", NULL},
		{"  ", NULL},
		{"[]", NULL},
		{"...", NULL},
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct name_query q;
		bool is_read = name_query_read(str_from(table[i].typed), &q);
		if (is_read != (table[i].text != NULL) || strcmp(q.text, table[i].text ? table[i].text : "") != 0)
			fail_msg("'%s' became '%s'", table[i].typed, q.text);
	}
}

static void test_length_is_limited(void **state UNUSED)
{
	char typed[LIMIT_FILE_NAME + 2];
	struct name_query q;
	memset(typed, 'a', sizeof(typed));
	assert_true(name_query_read((struct str){typed, LIMIT_FILE_NAME}, &q));
	assert_int_equal(q.len, LIMIT_FILE_NAME);
	assert_int_equal(name_query_match(&q, (struct str){typed, LIMIT_FILE_NAME}, true), NAME_MATCH_EXACT);
	assert_int_equal(name_query_match(&q, (struct str){typed, LIMIT_FILE_NAME + 1}, true), NAME_MATCH_PREFIX);
	typed[100] = 'b';
	assert_int_equal(name_query_match(&q, (struct str){typed, LIMIT_FILE_NAME + 1}, true), NAME_MATCH_NONE);
	assert_false(name_query_read((struct str){typed, LIMIT_FILE_NAME + 1}, &q));
}

static void test_ranks(void **state UNUSED)
{
	static const struct {
		const char *typed, *name;
		enum name_match match;
	} table[] = {
		{"numpy", "numpy", NAME_MATCH_EXACT},
		{"num", "numpy", NAME_MATCH_PREFIX},
		{"learn", "scikit-learn", NAME_MATCH_WORD},
		{"an", "banana-an", NAME_MATCH_WORD}, // the best place counts
		{"earn", "scikit-learn", NAME_MATCH_PART},
		{"scikitlearn", "scikit-learn", NAME_MATCH_JOINED},
		{"py-yaml", "pyyaml", NAME_MATCH_JOINED},
		{"nunpy", "numpy", NAME_MATCH_NEAR},
		{"nmupy", "numpy", NAME_MATCH_NEAR},
		{"numppy", "numpy", NAME_MATCH_NEAR},
		{"nupy", "numpy", NAME_MATCH_NEAR},
		{"tensroflwo", "tensorflow", NAME_MATCH_FAR},
		{"reqeusts", "requests", NAME_MATCH_NEAR},
		{"rqeeusts", "requests", NAME_MATCH_FAR},
		{"mumqy", "numpy", NAME_MATCH_NONE}, // two letters of five
		{"si", "six", NAME_MATCH_PREFIX},
		{"sx", "six", NAME_MATCH_NONE}, // too short to be wrong
		{"zzz", "numpy", NAME_MATCH_NONE},
		{"pandas", "a", NAME_MATCH_NONE},
		{"a", "", NAME_MATCH_NONE},
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct name_query q;
		assert_true(name_query_read(str_from(table[i].typed), &q));
		enum name_match match = name_query_match(&q, str_from(table[i].name), true);
		if (match != table[i].match)
			fail_msg("%s in %s: %s", table[i].typed, table[i].name, name_match_name[match]);
		if (match > NAME_MATCH_JOINED)
			assert_int_equal(name_query_match(&q, str_from(table[i].name), false), NAME_MATCH_NONE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reads_what_people_type),
		cmocka_unit_test(test_length_is_limited),
		cmocka_unit_test(test_ranks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
