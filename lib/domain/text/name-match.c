// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/text/name-match.h"

#include <string.h>

#include "lib/base/suggest.h"

const char *const name_match_name[NAME_MATCH_COUNT] = {
	"exact", "prefix", "word", "part", "joined", "near", "far", "none"};

enum { SHORT = 3, LONG = 6 }; // letters of a query of which one, or two, may be wrong

static size_t join_letters(struct str name, char *out)
{
	size_t len = 0;
	for (size_t i = 0; i < name.len; i++)
		if (name.ptr[i] != '-')
			out[len++] = name.ptr[i];
	out[len] = '\0';
	return len;
}

// Blanks between words count as "-". Letters of no name are left out.
static size_t normalize_query(struct str typed, char out[LIMIT_FILE_NAME + 1])
{
	size_t len = 0;
	bool is_between = false;
	for (size_t i = 0; i < typed.len; i++) {
		if (strchr("-_. \t", typed.ptr[i])) {
			is_between = len > 0;
		} else if (ascii_is_alnum(typed.ptr[i])) {
			if (is_between)
				out[len++] = '-';
			is_between = false;
			out[len++] = ascii_lower(typed.ptr[i]);
		}
	}
	out[len] = '\0';
	return len;
}

bool name_query_read(struct str typed, struct name_query *out)
{
	// The name of a requirement ends at its extras, its specifier, its marker or its URL.
	size_t len = 0;
	while (len < typed.len && typed.ptr[len] != '\0' && !strchr("[(<>=!~;@,", typed.ptr[len]))
		len++;
	struct str name = str_trim(str_slice(typed, 0, len));
	*out = (struct name_query){0};
	if (name.len > LIMIT_FILE_NAME)
		return false;
	out->len = normalize_query(name, out->text);
	out->joined_len = join_letters((struct str){out->text, out->len}, out->joined);
	out->most_wrong = out->len < SHORT ? 0 : out->len < LONG ? 1 : 2;
	return out->len > 0;
}

// --- ranks ---

static bool has_joined(const struct name_query *q, struct str name)
{
	char joined[LIMIT_FILE_NAME + 1];
	if (name.len > LIMIT_FILE_NAME)
		return false;
	return memmem(joined, join_letters(name, joined), q->joined, q->joined_len) != NULL;
}

// Where the query is in the name: the best place.
static enum name_match match_part(const struct name_query *q, struct str name)
{
	const char *end = name.ptr + name.len;
	enum name_match best = NAME_MATCH_NONE;
	for (const char *at = name.ptr; (at = memmem(at, (size_t)(end - at), q->text, q->len)); at++) {
		if (at == name.ptr)
			return name.len == q->len ? NAME_MATCH_EXACT : NAME_MATCH_PREFIX;
		if (at[-1] == '-')
			return NAME_MATCH_WORD;
		best = NAME_MATCH_PART;
	}
	return best;
}

enum name_match name_query_match(const struct name_query *q, struct str name, bool wants_near)
{
	enum name_match found = match_part(q, name);
	if (found != NAME_MATCH_NONE)
		return found;
	if (has_joined(q, name))
		return NAME_MATCH_JOINED;
	size_t wrong = wants_near && q->most_wrong ? suggest_distance((struct str){q->text, q->len}, name, q->most_wrong)
						   : q->most_wrong + 1;
	return wrong > q->most_wrong ? NAME_MATCH_NONE : wrong < 2 ? NAME_MATCH_NEAR : NAME_MATCH_FAR;
}
