// SPDX-License-Identifier: Apache-2.0
// A JSON object that a client posts, and its values: what has another type than it must have is ERR_INVALID, and named.
// Pure; one thread at a time.
#pragma once

#include "lib/base/err.h"
#include "lib/format/jsondoc.h"

struct posted_object {
	const char *what; // "promotion", for messages
	const struct jsondoc *object;
};

// A text of one line, at most so many bytes; *out, which is borrowed, stays as it is where there is none.
int posted_object_line(const struct posted_object *p, const char *key, size_t limit, const char **out,
	struct err *e) MUST_CHECK;
int posted_object_flag(const struct posted_object *p, const char *key, bool *out, struct err *e) MUST_CHECK;
// *out NULL: there is none. ERR_LIMIT: more entries.
int posted_object_list(const struct posted_object *p, const char *key, size_t most, const struct jsondoc **out,
	struct err *e) MUST_CHECK;
// Words that select files: an array of the caller's, with strings of the document. NULL, and 0: there is no such key.
// ERR_INVALID: the array is empty, or has what can be no name and no path; ERR_LIMIT: more than so many.
int posted_object_select(const struct posted_object *p, size_t most, const char ***out, size_t *count,
	struct err *e) MUST_CHECK;
