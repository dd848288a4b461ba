// SPDX-License-Identifier: Apache-2.0
// Finds the word of a list that a mistyped one was meant to be: the one with the fewest letters added, left out, changed
// or exchanged with their neighbour. A value of the caller; nothing is allocated. Any thread.
#pragma once

#include <stddef.h>

#include "lib/base/str.h"

struct nearest {
	struct str typed; // borrowed
	const char *word; // the best one offered so far, borrowed; NULL: none is like it
	size_t distance;  // of word
};

// typed is what was given.
void nearest_init(struct nearest *n, struct str typed);
// Offers a word that exists. It is taken if at most a third of the longer word differs, and no earlier one is as near.
void nearest_offer(struct nearest *n, const char *word);
