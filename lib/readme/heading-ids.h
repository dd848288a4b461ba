// SPDX-License-Identifier: Apache-2.0
// Ids of headings from their words, as GitHub makes them: lower case, blanks as hyphens, without punctuation; a repeated
// one gets a number. One thread at a time.
#pragma once

#include "lib/base/arena.h"
#include "lib/base/buf.h"

// All zero is ready.
struct heading_ids {
	struct heading_id {
		uint64_t hash;
		struct str id;
		unsigned repeated; // number of headings after it with the same words
	} * item;
	size_t count, room;
	struct arena text;
};

void heading_ids_release(struct heading_ids *ids);
// Appends the id of the next heading to out: letters, digits, hyphens, underscores, and characters that are not ASCII.
// Nothing if the words have none of these, or if there are more than LIMIT_README_IDS headings. Only letters of ASCII
// become lower case.
void heading_ids_add(struct heading_ids *ids, struct str words, struct buf *out);
