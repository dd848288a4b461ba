// SPDX-License-Identifier: Apache-2.0
// A set of names: gathered in any order, then sorted. One thread writes; then any number may read.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// All zero is none.
struct strset {
	char **item; // after strset_sort each once, by strcmp
	size_t count, room;
};

void strset_add(struct strset *n, const char *name); // a copy of it
void strset_sort(struct strset *n);
// Of names that are sorted.
bool strset_has(const struct strset *n, const char *name);
void strset_release(struct strset *n); // it is empty after it
