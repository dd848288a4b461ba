// SPDX-License-Identifier: Apache-2.0
// The tokens of a running server. The file is read again when it has changed, so `wheelcache token` takes effect at
// once. Any thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/str.h"
#include "lib/format/digest.h"
#include "lib/state/config/config.h"

// --- the file ---
// The file of tokens: one line per token, with the hash of its secret and its rights. The secret itself is stored
// nowhere. Any thread, any number of processes (record_change(), whose errors there are besides those that are said); a
// struct tokenfile is a plain value.
//
//   ID SHA256 RIGHTS PLATFORM PROJECT CREATED EXPIRES [NOTE]
//   2c26b46b 2c26b46b68ff… upload,read ubuntu-* * 2026-11-21T17:00:00Z never builder of jammy
//
// ID is the beginning of the hash: `printf %s TOKEN | sha256sum` leads to a token's line. PLATFORM and PROJECT are
// globs of fnmatch(3); projects are compared in their normal form. Lines that begin with "#" are comments. A damaged
// line grants nothing and affects no other line.
//
// RIGHTS also names the views of the rights that are for views: "evidence,promote,view=tested,view=nightly-*". An older
// program takes such a line for damaged, and one with a right that it does not know.

enum token_right { TOKEN_UPLOAD, TOKEN_READ, TOKEN_EVIDENCE, TOKEN_PROMOTE, TOKEN_OVERRIDE, TOKEN_YANK, TOKEN_RIGHT_COUNT };
extern const char *const token_right_name[TOKEN_RIGHT_COUNT];
enum { TOKEN_RIGHTS_OF_VIEWS = 1 << TOKEN_EVIDENCE | 1 << TOKEN_PROMOTE | 1 << TOKEN_OVERRIDE };

enum { TOKEN_ID = 8, TOKEN_RANDOM = 32 };

struct token {
	char id[TOKEN_ID + 1];
	uint8_t sha256[SHA256_SIZE];
	unsigned rights; // 1 << enum token_right, each
	char *platform;
	char *project;
	char *views;     // globs with single blanks between; "": it has none of TOKEN_RIGHTS_OF_VIEWS
	int64_t created; // seconds since 1970
	int64_t expires; // 0: never
	char *note;      // "": none
};
// Appends the names of the rights, with commas between.
void token_write_rights(unsigned rights, struct buf *out);
// The token's name in the audit log: its note, else its id. Borrowed.
const char *token_name(const struct token *t);
bool token_is_expired(const struct token *t, int64_t now);
void token_release(struct token *t);

// The lines of the file.
struct tokenfile {
	struct token *token;
	size_t count;
	char **damage; // "PATH:LINE: what is wrong with it"
	size_t damage_count;
};
// A missing file is an empty one. The caller releases *out after success.
int tokenfile_read(const char *path, struct tokenfile *out, struct err *e) MUST_CHECK;
void tokenfile_release(struct tokenfile *f);

// Creates a secret, "wc_" and 32 random bytes in base64url, and appends it to `secret`. Adds its line to the file
// (0600) with rights, globs, expires and note of t; sets t->id, sha256 and created. ERR_USAGE: a glob or the note is
// not allowed in a line.
int tokenfile_add(const char *path, struct token *t, struct buf *secret, struct err *e) MUST_CHECK;
// Removes the lines with this id. *who: the name of the last one, which the caller frees. ERR_NOT_FOUND: there is none.
int tokenfile_revoke(const char *path, const char *id, char **who, struct err *e) MUST_CHECK;

// --- the tokens of a server ---

struct tokens;


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
