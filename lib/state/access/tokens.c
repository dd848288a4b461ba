// SPDX-License-Identifier: Apache-2.0
#include "lib/state/access/tokens.h"

#include <errno.h>
#include <fnmatch.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base/log.h"
#include "lib/os/clock.h"
#include "lib/os/fs.h"

struct tokens {
	char *path;
	pthread_mutex_t lock; // of all below
	struct tokenfile file;
	struct stat seen;   // of the file that was read; zeros: it was missing or could not be read
	struct err trouble; // why it cannot be read
};

char *tokens_path(const struct config *c, const char *catalog_path)
{
	return c->tokens ? xstrdup(c->tokens) : xasprintf("%s.tokens", catalog_path);
}

struct tokens *tokens_new(const char *path)
{
	struct tokens *t = xcalloc(1, sizeof(*t));
	t->path = xstrdup(path);
	pthread_mutex_init(&t->lock, NULL);
	return t;
}

void tokens_free(struct tokens *t)
{
	if (!t)
		return;
	tokenfile_release(&t->file);
	pthread_mutex_destroy(&t->lock);
	free(t->path);
	free(t);
}

static bool is_same_stat(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       fs_mtime_ns(a) == fs_mtime_ns(b) && a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
	       a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

// A file that cannot be read grants nothing.
static void drop_tokens(struct tokens *t)
{
	tokenfile_release(&t->file);
	t->seen = (struct stat){0};
}

static void reload_tokens(struct tokens *t, const struct stat *now)
{
	drop_tokens(t);
	if (tokenfile_read(t->path, &t->file, &t->trouble) < 0)
		return;
	t->seen = *now; // from before the read: a write in between causes another read
	for (size_t i = 0; i < t->file.damage_count; i++)
		log_error("%s", t->file.damage[i]);
}

static void reload_if_changed(struct tokens *t)
{
	struct stat now;
	t->trouble.kind = ERR_NONE;
	if (stat(t->path, &now) == 0) {
		if (!is_same_stat(&now, &t->seen))
			reload_tokens(t, &now);
		return;
	}
	drop_tokens(t);
	if (errno != ENOENT)
		err_errno(&t->trouble, ERR_IO, "tokens: %s", t->path);
}

static const char *const verb_of[TOKEN_RIGHT_COUNT] = {[TOKEN_UPLOAD] = "upload",
	[TOKEN_READ] = "read",
	[TOKEN_EVIDENCE] = "send evidence",
	[TOKEN_PROMOTE] = "promote",
	[TOKEN_OVERRIDE] = "override",
	[TOKEN_YANK] = "yank"};

static bool may_read_list(const struct token *t)
{
	return strcmp(t->project, "*") == 0;
}

static bool token_applies(const struct token *t, enum token_right right, const char *platform, const char *project)
{
	if (fnmatch(t->platform, platform, 0) != 0)
		return false;
	if (!project)
		return right == TOKEN_UPLOAD || may_read_list(t);
	return fnmatch(t->project, project, 0) == 0;
}

static enum tokens_answer refuse_token(const struct token *t, enum token_right right, const char *platform,
	const char *project, struct err *e)
{
	const char *verb = verb_of[right], *name = token_name(t);
	if (!(t->rights & 1u << right))
		err_set(e, ERR_DENIED, "the token \"%s\" has no right to %s", name, verb);
	else if (project)
		err_set(e, ERR_DENIED, "the token \"%s\" may not %s %s on %s, but %s on %s", name, verb, project,
			platform, t->project, t->platform);
	else
		err_set(e, ERR_DENIED, "the token \"%s\" may not %s all of %s, but %s on %s", name, verb, platform,
			t->project, t->platform);
	return TOKENS_FORBIDDEN;
}

static enum tokens_answer judge_token(const struct token *t, enum token_right right, const char *platform,
	const char *project, struct err *e)
{
	char when[CLOCK_TEXT];
	if (token_is_expired(t, clock_wall_seconds())) {
		clock_write(t->expires, when);
		err_set(e, ERR_DENIED, "the token \"%s\" expired at %s", token_name(t), when);
		return TOKENS_UNKNOWN;
	}
	if (t->rights & 1u << right && token_applies(t, right, platform, project))
		return TOKENS_GRANTED;
	return refuse_token(t, right, platform, project, e);
}

static bool has_token_with(const struct tokenfile *f, enum token_right right)
{
	for (size_t i = 0; i < f->count; i++)
		if (f->token[i].rights & 1u << right)
			return true;
	return false;
}

// Compares every line, so that the time reveals nothing. A token may have several lines; the best answer counts.
static enum tokens_answer find_token(const struct tokenfile *f, const uint8_t sha256[SHA256_SIZE],
	enum token_right right, const char *platform, const char *project, const struct token **token, struct err *e)
{
	enum tokens_answer best = TOKENS_NONE;
	for (size_t i = 0; i < f->count; i++) {
		struct err why = ERR_INIT;
		if (!digest_equal(f->token[i].sha256, sha256))
			continue;
		enum tokens_answer answer = judge_token(&f->token[i], right, platform, project, &why);
		if (answer <= best)
			continue;
		best = answer;
		*token = &f->token[i];
		*e = why;
	}
	if (best != TOKENS_NONE)
		return best;
	err_set(e, ERR_DENIED, "this token is not known here");
	return TOKENS_UNKNOWN;
}

static enum tokens_answer check_secret(struct tokens *t, const uint8_t sha256[SHA256_SIZE], enum token_right right,
	const char *platform, const char *project, const struct token **token, struct err *e)
{
	reload_if_changed(t);
	if (t->trouble.kind != ERR_NONE) {
		*e = t->trouble;
		return TOKENS_FAILED;
	}
	if (has_token_with(&t->file, right))
		return find_token(&t->file, sha256, right, platform, project, token, e);
	err_set(e, ERR_DENIED, "no token is defined that may %s", verb_of[right]);
	return TOKENS_NONE;
}

enum tokens_answer tokens_check(struct tokens *t, struct str secret, enum token_right right, const char *platform,
	const char *project, char **who, struct err *e)
{
	uint8_t sha256[SHA256_SIZE];
	const struct token *token = NULL;
	struct err why = ERR_INIT;
	digest_sha256(secret, sha256);
	pthread_mutex_lock(&t->lock);
	enum tokens_answer answer = check_secret(t, sha256, right, platform, project, &token, &why);
	if (who)
		*who = token ? xstrdup(token_name(token)) : NULL;
	pthread_mutex_unlock(&t->lock);
	if (answer != TOKENS_GRANTED)
		*e = why;
	return answer;
}

// --- what a token may do in views ---

void token_grant_release(struct token_grant *g)
{
	while (g->count)
		token_release(&g->token[--g->count]);
	free(g->token);
	*g = (struct token_grant){0};
}

static void copy_granted(const struct tokenfile *f, const uint8_t sha256[SHA256_SIZE], enum token_right right,
	const char *view, struct token_grant *out)
{
	size_t room = 0;
	for (size_t i = 0; i < f->count; i++) {
		const struct token *t = &f->token[i];
		if (!digest_equal(t->sha256, sha256) || !(t->rights & 1u << right) ||
			token_is_expired(t, clock_wall_seconds()) || (view && !token_is_of_view(t, view)))
			continue;
		GROW(out->token, out->count, room);
		token_copy(t, &out->token[out->count++]);
	}
}

// The first line that knows the secret says why it is not granted.
static enum tokens_answer refuse_view(const struct token *t, enum token_right right, const char *view, struct err *e)
{
	char when[CLOCK_TEXT];
	const char *verb = verb_of[right];
	if (token_is_expired(t, clock_wall_seconds())) {
		clock_write(t->expires, when);
		err_set(e, ERR_DENIED, "the token \"%s\" expired at %s", token_name(t), when);
		return TOKENS_UNKNOWN;
	}
	if (!(t->rights & 1u << right) || !view)
		err_set(e, ERR_DENIED, "the token \"%s\" has no right to %s", token_name(t), verb);
	else
		err_set(e, ERR_DENIED, "the token \"%s\" may %s for %s, but not for %s", token_name(t), verb, t->views,
			view);
	return TOKENS_FORBIDDEN;
}

static const struct token *find_secret(const struct tokenfile *f, const uint8_t sha256[SHA256_SIZE])
{
	const struct token *found = NULL;
	for (size_t i = f->count; i-- > 0;)
		if (digest_equal(f->token[i].sha256, sha256))
			found = &f->token[i];
	return found;
}

static enum tokens_answer grant_secret(struct tokens *t, const uint8_t sha256[SHA256_SIZE], enum token_right right,
	const char *view, struct token_grant *out, char **who, struct err *e)
{
	reload_if_changed(t);
	if (t->trouble.kind != ERR_NONE) {
		*e = t->trouble;
		return TOKENS_FAILED;
	}
	const struct token *token = find_secret(&t->file, sha256);
	*who = token ? xstrdup(token_name(token)) : NULL;
	copy_granted(&t->file, sha256, right, view, out);
	if (out->count)
		return TOKENS_GRANTED;
	if (!has_token_with(&t->file, right)) {
		err_set(e, ERR_DENIED, "no token is defined that may %s", verb_of[right]);
		return TOKENS_NONE;
	}
	if (token)
		return refuse_view(token, right, view, e);
	err_set(e, ERR_DENIED, "this token is not known here");
	return TOKENS_UNKNOWN;
}

enum tokens_answer tokens_grant(struct tokens *t, struct str secret, enum token_right right, const char *view,
	struct token_grant *out, char **who, struct err *e)
{
	uint8_t sha256[SHA256_SIZE];
	struct err why = ERR_INIT;
	*out = (struct token_grant){0};
	digest_sha256(secret, sha256);
	pthread_mutex_lock(&t->lock);
	enum tokens_answer answer = grant_secret(t, sha256, right, view, out, who, &why);
	pthread_mutex_unlock(&t->lock);
	if (answer != TOKENS_GRANTED)
		*e = why;
	return answer;
}

static bool line_fits(const struct token *t, const char *platform, const char *project)
{
	return fnmatch(t->platform, platform, 0) == 0 && (!project || fnmatch(t->project, project, 0) == 0);
}

bool token_grant_has(const struct token_grant *g, const char *platform, const char *project)
{
	for (size_t i = 0; i < g->count; i++)
		if (line_fits(&g->token[i], platform, project))
			return true;
	return false;
}

bool token_grant_reads(const struct token_grant *g, const char *platform, const char *project)
{
	for (size_t i = 0; i < g->count; i++)
		if (token_applies(&g->token[i], TOKEN_READ, platform, project))
			return true;
	return false;
}

bool token_grant_views(const struct token_grant *g, const char *platform, const char *const *project, size_t projects,
	struct buf *out)
{
	bool has_any = false;
	for (size_t i = 0; i < g->count; i++) {
		size_t fitting = 0;
		while (fitting < projects && line_fits(&g->token[i], platform, project[fitting]))
			fitting++;
		if (fitting < projects)
			continue;
		buf_puts(out, has_any ? " " : "");
		buf_puts(out, g->token[i].views);
		has_any = true;
	}
	return has_any;
}
