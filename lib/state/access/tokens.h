// SPDX-License-Identifier: Apache-2.0
// The tokens of a running server. The file is read again when it has changed, so `wheelcache token` takes effect at
// once. Any thread.
#pragma once

#include "lib/base/str.h"
#include "lib/state/access/tokenfile.h"
#include "lib/state/config/config.h"

struct tokens;

// The path of the file: as configured, else beside the catalog. The caller frees it.
char *tokens_path(const struct config *c, const char *catalog_path);

// The file may be missing, and may be created later.
struct tokens *tokens_new(const char *path);
void tokens_free(struct tokens *t); // NULL is fine

enum tokens_answer {
	TOKENS_FAILED,    // the file cannot be read
	TOKENS_NONE,      // no token is defined that has this right
	TOKENS_UNKNOWN,   // no token has this secret, or it has expired
	TOKENS_FORBIDDEN, // the token does not have this right here
	TOKENS_GRANTED,
};
// Whether the secret grants the right. project is normalised. NULL for an upload: not known yet; for a read: the list
// of all projects. Every answer but GRANTED sets *e to the reason, in words for the client (TOKENS_FAILED: for the
// log). *who becomes the token's name, which the caller frees, or NULL if it is unknown; who may be NULL. Costs one
// stat(2), so it may be called on the event loop.
enum tokens_answer tokens_check(struct tokens *t, struct str secret, enum token_right right, const char *platform,
	const char *project, char **who, struct err *e);
