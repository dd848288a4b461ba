// SPDX-License-Identifier: Apache-2.0
// What a statement about a build never has: passwords of URLs.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "builder/step/build-statement.h"

static const struct {
	const char *text, *hidden;
} table[] = {
	{"", ""},
	{"pip wheel %s", "pip wheel %s"},
	{"https://host/simple/", "https://host/simple/"},
	{"https://me:secret@host/simple/", "https://***@host/simple/"},
	{"https://token@host", "https://***@host"},
	{"a http://u:p@h/x b ftp://v:q@i c", "a http://***@h/x b ftp://***@i c"},
	{"https://u:p@ss@host/", "https://***@host/"},
	{"'https://u:p@host/'", "'https://***@host/'"},
	{"https://host/a@b", "https://host/a@b"},
	{"https://host?a@b", "https://host?a@b"},
	{"https://host me@there", "https://host me@there"},
	{"://", "://"},
	{"://@", "://***@"},
	{"https://a://b:c@d", "https://a://***@d"},
};

static void passwords_are_hidden(void **state UNUSED)
{
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		CLEANUP(buf_release) struct buf out;
		buf_init(&out, 1000);
		build_statement_hide_passwords(str_from(table[i].text), &out);
		assert_string_equal(out.data, table[i].hidden);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(passwords_are_hidden)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
