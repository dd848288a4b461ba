// SPDX-License-Identifier: Apache-2.0
// A report for people as tables: written as text for a terminal, as Markdown, and as HTML. Cells hold any text, also of
// wheels: each form escapes it, control characters become "?", and a long one is cut. One thread at a time.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/arena.h"
#include "lib/base/buf.h"

enum { SHEET_COLUMNS = 5 };

struct sheet_row {
	const char *cell[SHEET_COLUMNS]; // NULL: empty
	bool is_marked;                  // it matters most
};

struct sheet_part {
	const char *title; // borrowed
	const char *head[SHEET_COLUMNS];
	size_t columns;
	struct sheet_row *row;
	size_t rows, room;
	const char *note; // a sentence below the table; NULL: none
};

// Zeros at first. Owns its texts; what it is given is copied, except titles and heads.
struct report_sheet {
	const char *title, *words;
	struct sheet_part *part;
	size_t parts, room;
	struct arena text;
};

void report_sheet_release(struct report_sheet *s); // for CLEANUP
// title: what comes first, such as a verdict. words: a line below it.
void report_sheet_begin(struct report_sheet *s, const char *title, const char *words);
// A new table; the rows and notes that follow are its. head: the columns' names.
void report_sheet_part(struct report_sheet *s, const char *title, const char *const *head, size_t columns);
void report_sheet_row(struct report_sheet *s, const char *const *cell, bool is_marked);
void report_sheet_note(struct report_sheet *s, const char *fmt, ...) PRINTF_LIKE(2, 3);

// Each appends the whole sheet to out, up to its ceiling.
void report_sheet_text(const struct report_sheet *s, struct buf *out);
void report_sheet_markdown(const struct report_sheet *s, struct buf *out);
// Without the title: the tables alone, as part of a page.
void report_sheet_html(const struct report_sheet *s, struct buf *out);
