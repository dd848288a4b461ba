// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "auditor/compare/wheel-compare.h"

#include "lib/base/buf.h"

// The rows that differ, as "NAME A/B|".
static void print_different(const char *a, const char *b, struct buf *out)
{
	struct arena text = {0};
	struct diff_rows r;
	metadata_diff_make(str_from(a), str_from(b), &text, &r);
	for (size_t i = 0; i < r.count; i++)
		if (!r.row[i].is_equal)
			buf_printf(out, "%s %s/%s|", r.row[i].name, r.row[i].a ? r.row[i].a : "",
				r.row[i].b ? r.row[i].b : "");
	arena_release(&text);
}

static const struct {
	const char *a, *b, *different;
} table[] = {
	{"Name: a\n", "name:  a\r\n", ""},
	{"Requires-Python: >=3.8\n", "Requires-Python: >= 3.8.0 , !=3.7.*\n", ""},
	{"Requires-Python: >=3.8\n", "Requires-Python: >=3.8,<4\n", "Requires-Python >=3.8/>=3.8,<4|"},
	{"Requires-Python: >=3.8\n", "", "Requires-Python >=3.8/|"},
	{"Requires-Python: nonsense\n", "Requires-Python: nonsense\n", ""},
	{"Requires-Python: nonsense\n", "Requires-Python: other\n", "Requires-Python nonsense/other|"},
	{"Requires-Dist: Foo.Bar[A,b] (>=1,<2); extra == 'x'\n", "Requires-Dist: foo-bar[A,b]<2,>=1 ; extra==\"x\"\n",
		""},
	{"Requires-Dist: a @ https://h/a;b\n", "Requires-Dist: a @ https://h/a;c\n",
		"Requires-Dist a @ https://h/a;b/a @ https://h/a;c|"},
	{"Requires-Dist: a>=1\nRequires-Dist: b\n", "Requires-Dist: a>=2\nRequires-Dist: c\n",
		"Requires-Dist a>=1/a>=2|Requires-Dist b/|Requires-Dist /c|"},
	{"Classifier: A\nClassifier: B\n", "Classifier: B\nClassifier: C\n", "Classifier A/|Classifier /C|"},
	{"License: one\n        two\n", "License: one two\n", ""},
	{"Project-URL: Home, http://a\n", "Project-URL: Home, http://b\n",
		"Project-URL Home, http://a/Home, http://b|"},
	{"Name: a\n\nText.\n", "Name: a\nDescription: Text.\n", ""},
	{"Name: a\n\nText.\n", "Name: a\n\nOther.\n", "Description Text./Other.|"},
	{"", "", ""},
};

static void fields_are_compared_by_meaning(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		CLEANUP(buf_release) struct buf out;
		buf_init(&out, 4096);
		buf_puts(&out, "");
		print_different(table[i].a, table[i].b, &out);
		assert_string_equal(out.data, table[i].different);
	}
}

static void a_long_text_is_shown_by_its_hash(void **state)
{
	(void)state;
	CLEANUP(buf_release) struct buf a, out;
	buf_init(&a, 4096);
	buf_init(&out, 4096);
	buf_puts(&a, "Name: a\n\n");
	for (int i = 0; i < 300; i++)
		buf_putc(&a, 'x');
	print_different(a.data, "Name: a\n", &out);
	assert_non_null(strstr(out.data, "Description 300 bytes, SHA-256 "));
}

// A hundred thousand lines, and specifiers beyond any real number.
static void hostile_metadata_costs_little(void **state)
{
	(void)state;
	CLEANUP(buf_release) struct buf a, b, out;
	buf_init(&a, 16 << 20);
	buf_init(&b, 16 << 20);
	buf_init(&out, 4 << 20);
	buf_puts(&a, "Requires-Dist: a ");
	for (int i = 0; i < 100000; i++)
		buf_printf(&a, "!=%d,", i);
	buf_puts(&a, "!=x\n");
	for (int i = 0; i < 100000; i++) {
		buf_printf(&a, "Requires-Dist: p%d>=1\n", i);
		buf_printf(&b, "Requires-Dist: p%d>=2\n", i);
	}
	print_different(a.data, b.data, &out);
	assert_non_null(strstr(out.data, "p1000>=1/p1000>=2|"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_are_compared_by_meaning),
		cmocka_unit_test(a_long_text_is_shown_by_its_hash),
		cmocka_unit_test(hostile_metadata_costs_little),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
