// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/wheel/metadata.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/base/limits.h"

#define HEAD "Metadata-Version: 2.1\nName: a\n"

static void takes_body_or_field(void **state UNUSED)
{
	static const struct {
		const char *metadata, *type, *text;
	} of[] = {
		{HEAD "\n# A\n\nb\n", "", "# A\n\nb\n"},
		{HEAD "Description-Content-Type: text/markdown; charset=UTF-8; variant=GFM\n\nb",
			"text/markdown; charset=UTF-8; variant=GFM", "b"},
		{HEAD "description-content-type:  text/x-rst\r\n\r\nb\r\n", "text/x-rst", "b\r\n"},
		{HEAD "Description: A\n        =\n        \n          b\n        c\nLicense: MIT\n", "",
			"A\n=\n\n  b\nc"},
		{HEAD "Description: A\n       |=\n       |\n       |  b\nLicense: MIT\n", "", "A\n=\n\n  b"},
		{HEAD "Description: A\n  b\n", "", "A\n  b"},
		{HEAD "Description: field\n\nbody\n", "", "body\n"},
		{HEAD "Description: UNKNOWN\nLicense: MIT\n", "", ""},
		{HEAD "\nUNKNOWN\n\n", "", ""},
		{HEAD "Description: field\n\nUNKNOWN\n", "", ""},
		{HEAD, "", ""},
		{HEAD "\n \n", "", ""},
		{"", "", ""},
	};
	for (size_t i = 0; i < ARRAY_SIZE(of); i++) {
		CLEANUP(buf_release) struct buf text;
		buf_init(&text, LIMIT_METADATA);
		struct str type = description_take(str_from(of[i].metadata), &text);
		assert_true(str_eq(type, str_from(of[i].type)));
		assert_string_equal(text.data, of[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_body_or_field),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
