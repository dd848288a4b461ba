// SPDX-License-Identifier: Apache-2.0
// Pairs the items of two lists that have the same key, each item once: the members of two wheels, their symbols, the
// lines of their METADATA. Sorts, so that long lists cost little. Pure functions; any thread.
#pragma once

#include <stddef.h>

struct pairing_item {
	const char *key; // NULL: it has no pair
	size_t at;       // the caller's number of the item; of items with equal keys the lower number comes first
};

struct pairing_list {
	struct pairing_item *item; // owned
	size_t count, room;
};

// Borrows the key until the list is released.
void pairing_add(struct pairing_list *l, const char *key, size_t at);
void pairing_release(struct pairing_list *l); // for CLEANUP
// Sorts by key, and drops all but the first item of each key.
void pairing_unique(struct pairing_list *l);

// Called for each pair, in the order of the keys.
typedef void pairing_fn(void *ctx, size_t a, size_t b);
// Calls fn for each pair, and leaves the items without one in the lists, sorted by key, then number.
void pairing_take(struct pairing_list *a, struct pairing_list *b, pairing_fn *fn, void *ctx);
