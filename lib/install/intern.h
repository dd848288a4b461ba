// SPDX-License-Identifier: Apache-2.0
// Numbers strings: the same string has the same number, from 0. A balanced tree, so that no choice of strings makes it
// slow. One thread at a time.
#pragma once

#include <stddef.h>

#include "lib/base/arena.h"

struct interned;

// All zero is empty.
struct intern {
	void *tree;                   // of search.h: points to item
	const struct interned **item; // in the order of their numbers
	size_t count, room;
	struct arena text;
};

// The number of a string, which is added if it is new.
size_t intern_add(struct intern *i, struct str text);
const char *intern_text(const struct intern *i, size_t number);
void intern_release(struct intern *i);
