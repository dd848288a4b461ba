// SPDX-License-Identifier: Apache-2.0
#include "server/core/auth.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/log.h"
#include "lib/base/mem.h"
#include "lib/format/base64.h"
#include "lib/os/clock.h"
#include "server/core/rate-limit.h"

enum { CREDENTIALS_MOST = 512 };

struct auth {
	struct tokens *tokens;
	struct rate_limit *rate_limit;
};

struct auth *auth_new(const char *tokens_path)
{
	struct auth *a = xcalloc(1, sizeof(*a));
	a->tokens = tokens_new(tokens_path);
	a->rate_limit = rate_limit_new(RATE_LIMIT_AT_ONCE, RATE_LIMIT_MS);
	return a;
}

void auth_free(struct auth *a)
{
	if (!a)
		return;
	tokens_free(a->tokens);
	rate_limit_free(a->rate_limit);
	free(a);
}

// The password of "Basic <base64 of user:password>", decoded into room; empty where there is none.
static struct str read_password(const char *header, char room[CREDENTIALS_MOST])
{
	static const struct str scheme = STR("Basic ");
	struct str text = str_from(header ? header : "");
	if (text.len < scheme.len || !str_eq_nocase(str_slice(text, 0, scheme.len), scheme))
		return STR("");
	text = str_trim(str_slice(text, scheme.len, text.len));
	size_t size = base64_size(text);
	if (size > CREDENTIALS_MOST || !base64_decode(text, BASE64_PLAIN, (uint8_t *)room))
		return STR("");
	struct str rest = {room, size};
	str_cut(&rest, ':');
	return rest.ptr ? rest : STR("");
}

static struct reply *forbid_caching(struct reply *r)
{
	reply_header(r, "Cache-Control", "no-store");
	return r;
}

static const char ask_operator[] = "the operator makes another: wheelcache token add";

static struct reply *reply_token_needed(const char *words, const char *advice)
{
	struct reply *r = forbid_caching(reply_text(401, "401 Unauthorized: %s; %s", words, advice));
	reply_header(r, "WWW-Authenticate", "Basic realm=\"wheelcache\"");
	return r;
}

static struct reply *reply_wrong_token(struct server_context *s, const struct request *r, const struct err *why)
{
	const char *peer = r->peer ? r->peer : "unix";
	int64_t wait = rate_limit_take(s->auth->rate_limit, peer, 1, clock_ms());
	if (!wait) {
		log_info("%s: %s", peer, why->msg);
		return reply_token_needed(why->msg, ask_operator);
	}
	struct reply *reply = forbid_caching(reply_text(429,
		"429 Too Many Requests: %s, and too many wrong tokens came from this address; wait a minute",
		why->msg));
	reply_header(reply, "Retry-After", "%d", (int)(wait / 1000) + 1);
	return reply;
}

static struct reply *reply_unreadable_tokens(const struct err *e)
{
	log_error("%s", e->msg);
	struct reply *r = forbid_caching(reply_text(503,
		"503 Service Unavailable: the tokens cannot be read; the log of the server says why"));
	reply_header(r, "Retry-After", "10");
	return r;
}

static struct reply *reply_no_token_defined(enum token_right right)
{
	static const char *const words[TOKEN_RIGHT_COUNT] = {
		[TOKEN_UPLOAD] = "uploads are off, for no token is defined that may upload: "
				 "\"wheelcache token add\" on the server makes one",
		[TOKEN_READ] = "this is private, and no token is defined that may read it: "
			       "\"wheelcache token add --read\" on the server makes one",
		[TOKEN_EVIDENCE] = "no token is defined that may send evidence: "
				   "\"wheelcache token add --right evidence --view VIEW\" on the server makes one",
		[TOKEN_PROMOTE] = "no token is defined that may promote: "
				  "\"wheelcache token add --right promote --view VIEW\" on the server makes one",
		[TOKEN_OVERRIDE] = "no token is defined that may override: "
				   "\"wheelcache token add --right override --view VIEW\" on the server makes one",
		[TOKEN_YANK] = "no token is defined that may yank: "
			       "\"wheelcache token add --right yank\" on the server makes one",
	};
	return forbid_caching(reply_text(403, "403 Forbidden: %s", words[right]));
}

// NULL: granted.
static struct reply *reply_answer(struct server_context *s, const struct request *r, enum token_right right,
	enum tokens_answer answer, const struct err *why)
{
	if (answer == TOKENS_GRANTED)
		return NULL;
	if (answer == TOKENS_FAILED)
		return reply_unreadable_tokens(why);
	if (answer == TOKENS_NONE)
		return reply_no_token_defined(right);
	if (answer == TOKENS_FORBIDDEN && right == TOKEN_READ) // the message would name the platforms of a view
		return forbid_caching(reply_text(403,
			"403 Forbidden: this token may not read it; the operator makes one that may: "
			"wheelcache token add --read"));
	if (answer == TOKENS_FORBIDDEN)
		return forbid_caching(reply_text(403, "403 Forbidden: %s; %s", why->msg, ask_operator));
	return r->header[HEADER_AUTHORIZATION]
		       ? reply_wrong_token(s, r, why)
		       : reply_token_needed("a token is needed, as the password of any user name",
				 "\"wheelcache client-config --token\" says where clients take it from");
}

// What the request's token may: all of a right, which goes to grant, or with grant NULL that on a platform.
static enum tokens_answer ask_tokens(struct server_context *s, const struct request *r, enum token_right right,
	struct token_grant *grant, const char *place, const char *project, char **who, struct err *e)
{
	char room[CREDENTIALS_MOST];
	struct str secret = read_password(r->header[HEADER_AUTHORIZATION], room);
	enum tokens_answer answer = grant ? tokens_grant(s->auth->tokens, secret, right, place, grant, who, e)
					  : tokens_check(s->auth->tokens, secret, right, place, project, who, e);
	explicit_bzero(room, sizeof(room));
	return answer;
}

char *auth_token(struct server_context *s, const struct request *r)
{
	char *who = NULL;
	struct err e = ERR_INIT;
	if (!r->header[HEADER_AUTHORIZATION])
		return NULL;
	enum tokens_answer answer = ask_tokens(s, r, TOKEN_READ, NULL, "", NULL, &who, &e);
	if (answer != TOKENS_GRANTED && answer != TOKENS_FORBIDDEN) // or its holder, who has it no more, would use up its share
		mem_free(&who);
	return who;
}

struct reply *auth_check(struct server_context *s, const struct request *r, enum token_right right,
	const char *platform, const char *project, char **who)
{
	struct err e = ERR_INIT;
	return reply_answer(s, r, right, ask_tokens(s, r, right, NULL, platform, project, who, &e), &e);
}

struct reply *auth_grant(struct server_context *s, const struct request *r, enum token_right right, const char *view,
	struct token_grant *out, char **who)
{
	struct err e = ERR_INIT;
	return reply_answer(s, r, right, ask_tokens(s, r, right, out, view, NULL, who, &e), &e);
}

struct reply *auth_sign_in(struct server_context *s, const struct request *r)
{
	struct err e = ERR_INIT;
	CLEANUP(mem_free) char *who = NULL;
	CLEANUP(token_grant_release) struct token_grant grant = {0};
	enum tokens_answer answer = ask_tokens(s, r, TOKEN_READ, &grant, NULL, NULL, &who, &e);
	return answer == TOKENS_FORBIDDEN ? reply_token_needed("this token may not read", ask_operator)
					  : reply_answer(s, r, TOKEN_READ, answer, &e);
}

void auth_read_grant(struct server_context *s, const struct request *r, struct token_grant *out)
{
	CLEANUP(mem_free) char *who = NULL;
	struct err none = ERR_INIT;
	ask_tokens(s, r, TOKEN_READ, out, NULL, NULL, &who, &none);
}

struct reply *auth_unknown(struct server_context *s, const struct request *r, enum token_right right, struct str name,
	const char *project)
{
	CLEANUP(mem_free) char *platform = xstrndup(name.ptr ? name.ptr : "", name.len);
	return server_context_site(s)->has_private ? auth_check(s, r, right, platform, project, NULL) : NULL;
}

bool auth_sees(struct server_context *s, const struct request *r, const struct platform *p)
{
	if (!p->is_private)
		return true;
	CLEANUP(reply_cleanup)
	struct reply *refused =
		r->header[HEADER_AUTHORIZATION] ? auth_check(s, r, TOKEN_READ, p->name, NULL, NULL) : NULL;
	return r->header[HEADER_AUTHORIZATION] && !refused;
}

struct reply *auth_read(struct server_context *s, const struct request *r, const struct view *view, const char *project)
{
	struct reply *refusal = NULL;
	for (size_t i = 0; i < view->platform_count && !refusal; i++)
		if (view->platform[i]->is_private)
			refusal = auth_check(s, r, TOKEN_READ, view->platform[i]->name, project, NULL);
	return refusal;
}

struct reply *auth_named_view(struct server_context *s, const struct request *r, struct str name,
	const struct view **view, const char *project)
{
	struct reply *refused = *view && (*view)->is_private ? auth_read(s, r, *view, project) : NULL;
	if (*view && !refused)
		return NULL;
	*view = NULL;
	if (refused && refused->status != 403) // a wrong token counts once
		return refused;
	if (refused)
		reply_unref(refused);
	return auth_unknown(s, r, TOKEN_READ, name, project);
}
