// SPDX-License-Identifier: Apache-2.0
// The result of a scan or a check: numbers, and lists of what an operator should look at. The shape says which.
// One thread at a time.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/base/buf.h"

enum {
	SUMMARY_FIELDS = 3,
	SUMMARY_KEPT = 1000, // items of a list; further ones are only counted
	SUMMARY_MOST_NUMBERS = 24,
	SUMMARY_MOST_LISTS = 11,
};

struct summary_number {
	const char *key;  // in JSON
	const char *text; // in the text form; NULL: left out
	bool always;      // also shown when it is 0
};

struct summary_list {
	const char *key;
	const char *heading; // NULL: the text form leaves it out
	const char *field[SUMMARY_FIELDS];
	bool is_problem; // also printed where only problems are
};

struct summary_shape {
	const struct summary_number *number;
	unsigned number_count;
	unsigned bytes; // which number counts the bytes that were hashed
	const struct summary_list *list;
	unsigned list_count;
};

struct summary_item {
	char *field[SUMMARY_FIELDS];
	bool is_private; // of a private platform: a server's log does not name it
};

struct summary {
	const struct summary_shape *shape;
	uint64_t number[SUMMARY_MOST_NUMBERS];
	double seconds;
	struct {
		struct summary_item *item;
		size_t count, room;
		uint64_t all; // also counts items that were not kept
	} list[SUMMARY_MOST_LISTS];
};

// A summary with a shape and all else zero is empty.
void summary_release(struct summary *s);
// Adds an item; the texts are copied, NULL for fields that the list does not have.
void summary_add(struct summary *s, unsigned list, const char *first, const char *second, const char *third);
void summary_add_private(struct summary *s, unsigned list, bool is_private, const char *first, const char *second,
	const char *third);
// The first field of the first item that is not private, for a server's log; NULL: there is none. Borrowed.
const char *summary_first_public(const struct summary *s, unsigned list);
// Sorts a list by its first field.
void summary_sort(struct summary *s, unsigned list);
// The text form, for people; JSON, for scripts.
void summary_print(const struct summary *s, FILE *out);
// Of the text form the lists of problems alone.
void summary_print_problems(const struct summary *s, FILE *out);
void summary_json(const struct summary *s, struct buf *out);
