// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "auditor/compare/report-sheet.h"

static void make_sheet(struct report_sheet *s, const char *cell)
{
	static const char *const head[] = {"name", "A", "B"};
	const char *const row[] = {"x", cell, NULL};
	report_sheet_begin(s, cell, "words");
	report_sheet_part(s, "Part", head, 3);
	report_sheet_row(s, row, true);
	report_sheet_note(s, "%d equal: %s", 3, cell);
}

typedef void write_fn(const struct report_sheet *s, struct buf *out);

static const struct {
	write_fn *write;
	const char *cell, *has; // "!": must not be there
} table[] = {
	{report_sheet_text, "a|b", "! x     a|b\n"},
	{report_sheet_text, "a\nb\tc\r", "! x     a b c\n"},
	{report_sheet_text, "\x1b[2J\x7f", "! x     ?[2J?\n"},
	{report_sheet_text,
		"\xc2\x9b"
		"1m\xc3\xa9",
		"! x     ?1m\xc3\xa9\n"},
	{report_sheet_markdown, "a|b\nc", "| **x** | a\\|b c |  |\n"},
	{report_sheet_markdown, "<b>&`*_[l](u)~#@", "&lt;b&gt;&amp;\\`\\*\\_\\[l\\](u)\\~\\#\\@"},
	{report_sheet_html, "<b a=\"1\">&", "&lt;b a=&quot;1&quot;&gt;&amp;"},
	{report_sheet_html, "\x01", "<td class=\"file\">?</td>"},
	{report_sheet_html, "\xff", "<td class=\"file\">?</td>"},
	{report_sheet_text, "a\u202eb\u2028c", "! x     a?b?c\n"},
	{report_sheet_text, "\xc2\x9b\xff", "! x     ???\n"},
};

static void each_form_escapes_cells(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		CLEANUP(report_sheet_release) struct report_sheet s = {0};
		CLEANUP(buf_release) struct buf out;
		buf_init(&out, 1 << 16);
		make_sheet(&s, table[i].cell);
		table[i].write(&s, &out);
		if (!strstr(out.data, table[i].has))
			fail_msg("%zu: %s", i, out.data);
	}
}

static void a_long_cell_is_cut_at_a_character(void **state)
{
	(void)state;
	CLEANUP(report_sheet_release) struct report_sheet s = {0};
	CLEANUP(buf_release) struct buf cell;
	buf_init(&cell, 1 << 16);
	for (int i = 0; i < 1000; i++)
		buf_puts(&cell, "\xc3\xa9");
	make_sheet(&s, cell.data);
	const char *shown = s.part[0].row[0].cell[1];
	assert_true(strlen(shown) < 700);
	assert_true(str_is_utf8(str_from(shown)));
	assert_true(str_ends(str_from(shown), STR("…")));
}

static void a_table_without_rows_has_its_note(void **state)
{
	(void)state;
	static const char *const head[] = {"a"};
	static write_fn *const forms[] = {report_sheet_text, report_sheet_markdown, report_sheet_html};
	CLEANUP(report_sheet_release) struct report_sheet s = {0};
	report_sheet_begin(&s, "t", "w");
	report_sheet_part(&s, "Part", head, 1);
	report_sheet_note(&s, "nothing here");
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		CLEANUP(buf_release) struct buf out;
		buf_init(&out, 4096);
		forms[i](&s, &out);
		assert_non_null(strstr(out.data, "nothing here"));
		assert_null(strstr(out.data, "<table"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_form_escapes_cells),
		cmocka_unit_test(a_long_cell_is_cut_at_a_character),
		cmocka_unit_test(a_table_without_rows_has_its_note),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
