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

// What the lines of a token allow with one of TOKEN_RIGHTS_OF_VIEWS, or with another right on some platform. A plain
// value that owns its tokens; any thread may read it.
struct token_grant {
	struct token *token; // the lines that have the right, and are not expired
	size_t count;
};
// Finds what the secret grants, wherever it is. view NULL: for any view; else a token for other views only is
// TOKENS_FORBIDDEN. Answers as tokens_check(); after GRANTED the caller releases *out. *who as there.
enum tokens_answer tokens_grant(struct tokens *t, struct str secret, enum token_right right, const char *view,
	struct token_grant *out, char **who, struct err *e);
void token_grant_release(struct token_grant *g); // for CLEANUP
// Whether the token has the right for this project on this platform. project NULL: for some project.
bool token_grant_has(const struct token_grant *g, const char *platform, const char *project);
// Whether a grant to read has it, as tokens_check() would say. project NULL: the list of all projects.
bool token_grant_reads(const struct token_grant *g, const char *platform, const char *project);
// Appends the globs of views, with blanks between, of the lines that fit the platform and each project. False: none.
bool token_grant_views(const struct token_grant *g, const char *platform, const char *const *project, size_t projects,
	struct buf *out);
