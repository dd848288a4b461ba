// SPDX-License-Identifier: Apache-2.0
// A set of strings: collected in any order, sorted once, then searched. One thread at a time until strset_sort has
// returned; then any number of threads may read. Memory that runs out ends the process.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// All zero is an empty set.
struct strset {
	char **item; // owned; after strset_sort in the order of strcmp and without duplicates
	size_t count, room;
};

void strset_add(struct strset *n, const char *name); // adds a copy
void strset_sort(struct strset *n);
bool strset_has(const struct strset *n, const char *name); // after strset_sort
void strset_release(struct strset *n);                     // leaves it empty
