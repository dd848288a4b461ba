// SPDX-License-Identifier: Apache-2.0
// What a scan or a check did: numbers, and lists of what somebody should look at. Which ones, its
// shape says. One thread at a time.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/base/buf.h"

enum {
	SUMMARY_FIELDS = 3,
	SUMMARY_KEPT = 1000, // of a list; more are counted only
	SUMMARY_MOST_NUMBERS = 20,
	SUMMARY_MOST_LISTS = 8,
};

struct summary_number {
	const char *key;  // in JSON
	const char *text; // to people; NULL: not said
	bool always;      // also where it is 0
};

struct summary_list {
	const char *key;
	const char *heading;
	const char *field[SUMMARY_FIELDS];
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
		uint64_t all; // with those that were not kept
	} list[SUMMARY_MOST_LISTS];
};

// All zero but the shape is an empty one.
void summary_release(struct summary *s);
// Copies the texts; those that the list does not have are NULL.
void summary_add(struct summary *s, unsigned list, const char *first, const char *second, const char *third);
void summary_add_private(struct summary *s, unsigned list, bool is_private, const char *first, const char *second,
	const char *third);
// The first one that a server's log may name; NULL: there is none.
const char *summary_first_public(const struct summary *s, unsigned list);
// By the first field.
void summary_sort(struct summary *s, unsigned list);
// For people, and for scripts.
void summary_print(const struct summary *s, FILE *out);
void summary_json(const struct summary *s, struct buf *out);
