// SPDX-License-Identifier: Apache-2.0
// How well the name of a project answers what a person types into a search. Pure; any thread.
#pragma once

#include <stdbool.h>

#include "lib/base/limits.h"
#include "lib/base/str.h"

// The best first.
enum name_match {
	NAME_MATCH_EXACT,
	NAME_MATCH_PREFIX, // the name begins with it
	NAME_MATCH_WORD,   // a word of the name, behind a "-", begins with it
	NAME_MATCH_PART,   // it is somewhere in the name
	NAME_MATCH_JOINED, // it is, if no "-" counts: "scikitlearn"
	NAME_MATCH_NEAR,   // one letter is wrong, missing, too many, or exchanged with the next one
	NAME_MATCH_FAR,    // two are
	NAME_MATCH_NONE,
	NAME_MATCH_COUNT,
};
extern const char *const name_match_name[NAME_MATCH_COUNT]; // "exact", "prefix", …

// What is searched for.
struct name_query {
	char text[LIMIT_FILE_NAME + 1];   // as a name is spelled in normal form; "": nothing
	char joined[LIMIT_FILE_NAME + 1]; // the same without "-"
	size_t len, joined_len;
	size_t most_wrong; // letters
};

// Reads what was typed: a name, some words of it, or a requirement, of which the name counts. False: it has no letter
// and no digit, or it is too long.
bool name_query_read(struct str typed, struct name_query *out);
// name: in normal form. NAME_MATCH_NEAR and worse are looked for only if wants_near, because they take longer.
enum name_match name_query_match(const struct name_query *q, struct str name, bool wants_near);
