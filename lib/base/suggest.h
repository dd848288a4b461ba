// SPDX-License-Identifier: Apache-2.0
// Finds the word of a list that a mistyped one was meant to be: the one with the fewest letters added, left out,
// changed or exchanged with their neighbour; and the refusal of a name that is none of those that exist: it says which
// one was meant, or which ones there are. Values of the caller. One thread at a time.
#pragma once

#include <stddef.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/str.h"

// How many letters are wrong: the distance of Damerau and Levenshtein where no part is changed twice. More than most:
// most + 1, sooner. So too for words of more than LIMIT_FILE_NAME bytes.
size_t suggest_distance(struct str a, struct str b, size_t most);

struct suggest {
	struct str typed; // borrowed
	const char *word; // the best one added so far, borrowed; NULL: none is like it
	size_t distance;  // of word
};
// typed is what was given.
void suggest_init(struct suggest *n, struct str typed);
// Adds a word that exists. It is taken if at most a third of the longer word differs, and no earlier one is as near.
void suggest_add(struct suggest *n, const char *word);

struct name_choice {
	struct suggest suggest;
	struct buf names; // those that fit into a message
	size_t count, named;
};

// typed is the name that does not exist; borrowed.
void name_choice_init(struct name_choice *c, struct str typed);
void name_choice_release(struct name_choice *c); // for CLEANUP
// Adds a name that exists; borrowed.
void name_choice_add(struct name_choice *c, const char *name);
// Adds "; did you mean NAME?", or "; there are NAME, NAME and 3 more", or nothing where none was added.
void name_choice_hint(const struct name_choice *c, struct buf *out);
// Sets the error "WHAT TYPED", with the hint. Returns -1.
int name_choice_refuse(const struct name_choice *c, enum err_kind kind, const char *what, struct err *e);
