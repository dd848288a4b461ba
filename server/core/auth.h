// SPDX-License-Identifier: Apache-2.0
// Authentication and rights: HTTP Basic (RFC 7617) with a token as the password of any user name. Any thread, also an
// event loop: the functions block at most for a read of a local file.
//
// A valid token is accepted however many wrong ones came from the same address, since the clients of a proxy share one,
// and no client can guess 256 random bits. Wrong tokens are limited: after some tries they get 429.
#pragma once

#include "lib/state/access/tokens.h"
#include "server/core/server-context.h"

struct auth;

struct auth *auth_new(const char *tokens_path);
void auth_free(struct auth *a); // NULL is fine

// NULL: allowed. Otherwise the answer, which the caller drops: 401 without a token or with an unknown one, 403 with a
// token that lacks the right or where no token has it, 429 after too many tries, 503 where the tokens cannot be read.
// project: see tokens_check(). *who gets the name of the token, which the caller frees, or NULL; who may be NULL.
struct reply *auth_check(struct server_context *s, const struct request *r, enum token_right right,
	const char *platform, const char *project, char **who);
// The same for a right wherever the token has it, of a view (NULL: of any). The caller releases *out after NULL.
struct reply *auth_grant(struct server_context *s, const struct request *r, enum token_right right, const char *view,
	struct token_grant *out, char **who);
// For a browser, which asks its user when it gets a 401: NULL if the token may read something; 401 also with one that
// may not, so that the user can give another; else as auth_check().
struct reply *auth_sign_in(struct server_context *s, const struct request *r);
// The name of the request's token, whatever its rights, which the caller frees; NULL: it has none that is known.
char *auth_token(struct server_context *s, const struct request *r);
// What the request's token may read; nothing, without an answer, if it has none. The caller releases *out.
void auth_read_grant(struct server_context *s, const struct request *r, struct token_grant *out);
// The same for a platform or view that does not exist: without the right to read private platforms, a client cannot
// tell it from a private one. NULL: the answer may be 404, as always where no platform is private.
struct reply *auth_unknown(struct server_context *s, const struct request *r, enum token_right right, struct str name,
	const char *project);
// Whether the client may know of the platform: it is public, or the request has a token to read it.
bool auth_sees(struct server_context *s, const struct request *r, const struct platform *p);
// Like auth_check() for the right to read all private platforms of a view. project NULL: the list of projects. For the
// view itself; what a name of a view is answered with is auth_named_view()'s.
struct reply *auth_read(struct server_context *s, const struct request *r, const struct view *view,
	const char *project);
// The same for what a client calls by a name. *view NULL: there is none. A view that the client may not read becomes
// NULL, and the answer is that to a name of nothing: a token may be for names like it.
struct reply *auth_named_view(struct server_context *s, const struct request *r, struct str name,
	const struct view **view, const char *project);
