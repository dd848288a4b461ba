// SPDX-License-Identifier: Apache-2.0
// The refusal of a name that is none of those that exist: it says which one was meant, or which ones there are. A value of
// the caller. One thread.
#pragma once

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/nearest.h"

struct name_choice {
	struct nearest nearest;
	struct buf names; // those that fit into a message
	size_t count, named;
};

// typed is the name that does not exist; borrowed.
void name_choice_init(struct name_choice *c, struct str typed);
void name_choice_release(struct name_choice *c); // for CLEANUP
// Offers a name that exists; borrowed.
void name_choice_offer(struct name_choice *c, const char *name);
// Adds "; did you mean NAME?", or "; there are NAME, NAME and 3 more", or nothing where none was offered.
void name_choice_hint(const struct name_choice *c, struct buf *out);
// Sets the error "WHAT TYPED", with the hint. Returns -1.
int name_choice_refuse(const struct name_choice *c, enum err_kind kind, const char *what, struct err *e);
