// SPDX-License-Identifier: Apache-2.0
// What two wheels have of one kind, row by row: equal by meaning, different, or in one of them only. Bounded: rows that
// differ are listed first of all, and what is not listed is counted. Texts are borrowed, or copied into the arena that
// the caller names. One thread at a time.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/arena.h"

// Pairs the items of two lists that have the same key, each item once: the members of two wheels, their symbols, the
// lines of their METADATA. Sorts, so that long lists cost little. Pure functions; any thread.

struct pairing_item {
	const char *key; // NULL: it has no pair
	size_t at;       // the caller's number of the item; of items with equal keys the lower number comes first
};

struct pairing_list {
	struct arena *in; // for its items
	struct pairing_item *item;
	size_t count, room;
};

// Borrows the key.
void pairing_add(struct pairing_list *l, const char *key, size_t at);
// Sorts by key, and drops all but the first item of each key.
void pairing_unique(struct pairing_list *l);

// Called for each pair, in the order of the keys.
typedef void pairing_fn(void *ctx, size_t a, size_t b);
// Calls fn for each pair, and leaves the items without one in the lists, sorted by key, then number.
void pairing_take(struct pairing_list *a, struct pairing_list *b, pairing_fn *fn, void *ctx);

struct diff_row {
	const char *name;
	const char *a, *b; // NULL: it has none
	bool is_equal;
};

struct diff_rows {
	struct arena *in; // for its rows
	struct diff_row *row;
	size_t count, room;
	size_t equal;     // number of equal rows, listed or not
	size_t different; // number of the others, listed or not
	size_t listed_equal;
};

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
	struct arena *in; // for its values
	struct diff_value *value;
	size_t count, room;
};

void diff_values_add(struct diff_values *v, struct diff_value value);
// Compares two sets: a value that is there twice counts once.
void diff_rows_add_sets(struct diff_rows *r, const struct diff_values *a, const struct diff_values *b);
// Sorts the rows: by name, then by text.
void diff_rows_sort(struct diff_rows *r);
