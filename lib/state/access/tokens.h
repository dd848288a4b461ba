// SPDX-License-Identifier: Apache-2.0
// The tokens of a running server: who may do what. The file is looked at again when it has changed,
// so what `wheelcache token` does counts at once. Thread-safe.
#pragma once

#include "lib/base/str.h"
#include "lib/state/access/tokenfile.h"
#include "lib/state/config/config.h"

struct tokens;

// Where they are: as configured, or beside the catalog. To be freed by the caller.
char *tokens_path(const struct config *c, const char *catalog_path);

// The file may be missing, and may come later.
struct tokens *tokens_new(const char *path);
void tokens_free(struct tokens *t); // NULL is fine

enum tokens_answer {
	TOKENS_FAILED,    // the file cannot be read
	TOKENS_NONE,      // no token is defined that has this right
	TOKENS_UNKNOWN,   // nobody's, or expired
	TOKENS_FORBIDDEN, // has no such right, or not here
	TOKENS_GRANTED,
};
// Whether the token may do this. Projects are in their normal form; project NULL: to upload, which one is not known
// yet; to read, the list of all. Every answer but GRANTED sets *e to the reason, in words for whoever sent the token
// (TOKENS_FAILED: for the log). *who becomes the token's name where it is known, to be freed, else NULL; who may be
// NULL. The file is asked each time whether it has changed: that much it costs to ask on the event loop.
enum tokens_answer tokens_check(struct tokens *t, struct str secret, enum token_right right, const char *platform,
	const char *project, char **who, struct err *e);
