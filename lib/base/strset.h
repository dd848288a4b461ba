// SPDX-License-Identifier: Apache-2.0
// A set of names: gathered in any order, then sorted. One thread writes; then any number may read.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// All zero is none.
struct names {
	char **item; // after names_sort each once, by strcmp
	size_t count, room;
};

void names_add(struct names *n, const char *name); // a copy of it
void names_sort(struct names *n);
// Of names that are sorted.
bool names_has(const struct names *n, const char *name);
void names_release(struct names *n); // it is empty after it
