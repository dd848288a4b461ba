// SPDX-License-Identifier: Apache-2.0
// The file of tokens: a line a token, with the hash of its secret and what it may do. The secret
// itself is nowhere.
//
//   ID SHA256 RIGHTS PLATFORM PROJECT CREATED EXPIRES [NOTE]
//   2c26b46b 2c26b46b68ff… upload,read ubuntu-* * 2026-11-21T17:00:00Z never builder of jammy
//
// ID is the beginning of the hash, so whoever finds a token can find its line (`printf %s TOKEN |
// sha256sum`). PLATFORM and PROJECT are globs as of fnmatch(3); projects are compared in their normal
// form. Lines that begin with "#" are comments. A damaged line grants nothing, and harms no other.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/format/digest.h"

enum token_right { TOKEN_UPLOAD, TOKEN_READ, TOKEN_RIGHT_COUNT };
extern const char *const token_right_name[TOKEN_RIGHT_COUNT];

enum { TOKEN_ID = 8, TOKEN_RANDOM = 32 };

struct token {
	char id[TOKEN_ID + 1];
	uint8_t sha256[SHA256_SIZE];
	unsigned rights; // 1 << enum token_right, each
	char *platform;
	char *project;
	int64_t created; // seconds since 1970
	int64_t expires; // 0: never
	char *note;      // "" where there is none
};
// To whoever reads the audit log: its note, or its id where it has none.
const char *token_name(const struct token *t);
bool token_is_expired(const struct token *t, int64_t now);
void token_release(struct token *t);

// What stands in the file. A plain value.
struct tokenfile {
	struct token *token;
	size_t count;
	char **damage; // "PATH:LINE: what is wrong with it"
	size_t damage_count;
};
// A file that is not there is an empty one.
int tokenfile_read(const char *path, struct tokenfile *out, struct err *e) MUST_CHECK;
void tokenfile_release(struct tokenfile *f);

// Makes a secret, "wc_" and 32 random bytes in base64url, adds it to secret, and its line to the file
// (0600, made where it is missing) with rights, globs, expires and note as in t; fills t->id, sha256
// and created. ERR_USAGE where a glob or note cannot stand in a line. All processes may write at once.
int tokenfile_add(const char *path, struct token *t, struct buf *secret, struct err *e) MUST_CHECK;
// Takes the lines with this id away; who gets the name of the last, to be freed. ERR_NOT_FOUND where
// there is none.
int tokenfile_revoke(const char *path, const char *id, char **who, struct err *e) MUST_CHECK;
