// SPDX-License-Identifier: Apache-2.0
// Who may do what: HTTP Basic (RFC 7617) with a token as the password of any user name. Never blocks for longer than a
// look at a local file, so it may be asked on the event loop. Thread-safe.
//
// A token that is good passes, however many wrong ones came from the same address: a proxy's clients have one address,
// and nobody guesses 256 random bits. What is held up is the noise: wrong ones are told 429 after some tries.
#pragma once

#include "lib/state/access/tokens.h"
#include "server/core/server-context.h"

struct auth;

struct auth *auth_new(const char *tokens_path);
void auth_free(struct auth *a); // NULL is fine

// NULL: allowed; else what the client is told: 401 without a token or with one that is not known, 403 with one that may
// not do this or where there is none that may, 429 after too many tries, 503 where the tokens cannot be read. project
// as tokens_check() has it. *who becomes the token's name where it is known, to be freed, else NULL; who may be NULL.
struct reply *auth_check(struct server_context *s, const struct request *r, enum token_right right,
	const char *platform, const char *project, char **who);
// The same for a platform or view of a name that there is not, which is told apart from a private one by nobody who may not read
// that. NULL: it may be said that there is none, as everywhere where nothing is private.
struct reply *auth_unknown(struct server_context *s, const struct request *r, enum token_right right, struct str name,
	const char *project);
// Whether the client sees that there is such a platform: it is public, or the request has a token to read it.
bool auth_sees(struct server_context *s, const struct request *r, const struct platform *p);
// Whether a view may be read: all of its private platforms. project NULL: the list of all.
struct reply *auth_read(struct server_context *s, const struct request *r, const struct view *view,
	const char *project);
