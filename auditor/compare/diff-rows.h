// SPDX-License-Identifier: Apache-2.0
// What two wheels have of one kind, row by row: equal by meaning, different, or in one of them only. Bounded: rows that
// differ are listed first of all, and what is not listed is counted. Texts are borrowed, or copied into the arena that
// the caller names. One thread at a time.
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct diff_row {
	const char *name;
	const char *a, *b; // NULL: it has none
	bool is_equal;
};

struct diff_rows {
	struct diff_row *row; // owned
	size_t count, room;
	size_t equal;     // number of equal rows, listed or not
	size_t different; // number of the others, listed or not
	size_t listed_equal;
};

void diff_rows_release(struct diff_rows *r);
// a, b NULL: it has none; both NULL: nothing is added.
void diff_rows_add(struct diff_rows *r, const char *name, const char *a, const char *b, bool is_equal);
// The same, where the texts decide.
void diff_rows_add_text(struct diff_rows *r, const char *name, const char *a, const char *b);

// One of several values that a wheel has of a kind.
struct diff_value {
	const char *name; // of the row
	const char *text; // as shown
	const char *same; // values with the same text here are equal
	const char *pair; // of the others, those with the same text here share a row; NULL: none
};

struct diff_values {
	struct diff_value *value; // owned
	size_t count, room;
};

void diff_values_add(struct diff_values *v, struct diff_value value);
void diff_values_release(struct diff_values *v); // for CLEANUP
// Compares two sets: a value that is there twice counts once.
void diff_rows_add_sets(struct diff_rows *r, const struct diff_values *a, const struct diff_values *b);
// Sorts the rows: by name, then by text.
void diff_rows_sort(struct diff_rows *r);
