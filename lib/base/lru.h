// SPDX-License-Identifier: Apache-2.0
// An index of entries by key that knows which of them was used least recently: the core of a cache with a limit.
// The entries are the caller's: struct lru_entry is the first member of the caller's struct, and nothing here allocates
// or frees them. The buckets double with the entries, so a look-up does not depend on their number. There is no lock:
// one thread at a time.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "lib/base/str.h"

// The caller sets hash, key and weight before lru_add; they stay unchanged until the entry is removed.
struct lru_entry {
	struct lru_entry *next;          // in the same bucket
	struct lru_entry *newer, *older; // by last use
	uint64_t hash;                   // of the key, by hash_of(); the bits from 16 on choose the bucket
	struct str key;                  // borrowed: the bytes live at least as long as the entry
	size_t weight;                   // above 0, in the caller's unit
};

// All zero is an empty index. To visit all entries, follow newer from oldest.
struct lru {
	struct lru_entry **bucket; // owned
	size_t buckets;            // a power of two; 0: nothing was added yet
	size_t count;              // of entries
	struct lru_entry *newest, *oldest;
	size_t weight; // of all entries
};
// Frees the buckets of an empty index.
void lru_release(struct lru *l);

// The entry with this key, or NULL. It does not count as a use.
struct lru_entry *lru_find(const struct lru *l, uint64_t hash, struct str key);
// Makes the entry the most recently used one.
void lru_touch(struct lru *l, struct lru_entry *e);
// Adds an entry as the most recently used one. No entry with its key may be there.
void lru_add(struct lru *l, struct lru_entry *e);
void lru_remove(struct lru *l, struct lru_entry *e);
// Removes the least recently used entry and returns it, if all entries weigh more than limit; otherwise NULL.
// With limit 0 it empties the index, one entry a call.
struct lru_entry *lru_evict(struct lru *l, size_t limit);
