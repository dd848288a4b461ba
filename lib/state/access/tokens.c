// SPDX-License-Identifier: Apache-2.0
#include "lib/state/access/tokens.h"

#include <fnmatch.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/format/base64.h"
#include "lib/os/clock.h"
#include "lib/os/safefile.h"
#include "lib/place/record.h"

struct tokens {
	char *path;
	pthread_mutex_t lock; // of all below
	struct tokenfile file;
	struct place_version seen; // of the file that was read; zeros: it was missing or could not be read
	struct err trouble;        // why it cannot be read
};

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

// A file that cannot be read grants nothing.
static void drop_tokens(struct tokens *t)
{
	tokenfile_release(&t->file);
	t->seen = (struct place_version){0};
}

static void reload_tokens(struct tokens *t, const struct place_version *now)
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
	static const struct place_version missing;
	struct place_version now;
	t->trouble.kind = ERR_NONE;
	if (record_version(t->path, &now, &t->trouble) < 0)
		err_prefix(&t->trouble, "tokens: ");
	if (place_version_match(&now, &missing) == PLACE_SAME)
		drop_tokens(t);
	else if (place_version_match(&now, &t->seen) != PLACE_SAME)
		reload_tokens(t, &now);
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

static enum tokens_answer refuse_expired(const struct token *t, struct err *e)
{
	char when[CLOCK_TEXT];
	clock_write(t->expires, when);
	err_set(e, ERR_DENIED, "the token \"%s\" expired at %s", token_name(t), when);
	return TOKENS_UNKNOWN;
}

static enum tokens_answer judge_token(const struct token *t, enum token_right right, const char *platform,
	const char *project, struct err *e)
{
	if (token_is_expired(t, clock_wall_seconds()))
		return refuse_expired(t, e);
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

static void copy_token(const struct token *t, struct token *out)
{
	*out = *t;
	out->platform = xstrdup(t->platform);
	out->project = xstrdup(t->project);
	out->views = xstrdup(t->views);
	out->note = xstrdup(t->note);
}

// Whether one of the token's globs of views matches.
static bool token_has_view(const struct token *t, const char *view)
{
	struct str rest = str_from(t->views);
	while (rest.len) {
		struct str word = str_cut(&rest, ' ');
		CLEANUP(mem_free) char *glob = xstrndup(word.ptr, word.len);
		if (fnmatch(glob, view, 0) == 0)
			return true;
	}
	return false;
}

static void copy_granted(const struct tokenfile *f, const uint8_t sha256[SHA256_SIZE], enum token_right right,
	const char *view, struct token_grant *out)
{
	size_t room = 0;
	for (size_t i = 0; i < f->count; i++) {
		const struct token *t = &f->token[i];
		if (!digest_equal(t->sha256, sha256) || !(t->rights & 1u << right) ||
			token_is_expired(t, clock_wall_seconds()) || (view && !token_has_view(t, view)))
			continue;
		GROW(out->token, out->count, room);
		copy_token(t, &out->token[out->count++]);
	}
}

// The first line that knows the secret says why it is not granted.
static enum tokens_answer refuse_view(const struct token *t, enum token_right right, const char *view, struct err *e)
{
	const char *verb = verb_of[right];
	if (token_is_expired(t, clock_wall_seconds()))
		return refuse_expired(t, e);
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

// --- the file ---

const char *const token_right_name[TOKEN_RIGHT_COUNT] = {[TOKEN_UPLOAD] = "upload",
	[TOKEN_READ] = "read",
	[TOKEN_EVIDENCE] = "evidence",
	[TOKEN_PROMOTE] = "promote",
	[TOKEN_OVERRIDE] = "override",
	[TOKEN_YANK] = "yank"};
static const struct str view_word = STR("view="); // among the rights

static const char heading[] = "# wheelcache(1): ID SHA256 RIGHTS PLATFORM PROJECT CREATED EXPIRES [NOTE]\n";
static const char never[] = "never";

const char *token_name(const struct token *t)
{
	return t->note[0] ? t->note : t->id;
}

bool token_is_expired(const struct token *t, int64_t now)
{
	return t->expires && t->expires <= now;
}

void token_write_rights(unsigned rights, struct buf *out)
{
	const char *comma = "";
	for (int i = 0; i < TOKEN_RIGHT_COUNT; i++)
		if (rights & 1u << i) {
			buf_puts(out, comma);
			buf_puts(out, token_right_name[i]);
			comma = ",";
		}
}

void token_release(struct token *t)
{
	free(t->platform);
	free(t->project);
	free(t->views);
	free(t->note);
	*t = (struct token){0};
}

void tokenfile_release(struct tokenfile *f)
{
	while (f->count)
		token_release(&f->token[--f->count]);
	while (f->damage_count)
		free(f->damage[--f->damage_count]);
	free(f->token);
	free(f->damage);
	*f = (struct tokenfile){0};
}

// --- a line ---

// One field: visible ASCII.
static bool is_glob(struct str s)
{
	for (size_t i = 0; i < s.len; i++)
		if (s.ptr[i] <= ' ' || s.ptr[i] > '~')
			return false;
	return s.len > 0 && s.len <= LIMIT_NOTE;
}

// No normalised name has these characters: such a glob could never match.
static bool is_project_glob(struct str s)
{
	for (size_t i = 0; i < s.len; i++)
		if (s.ptr[i] == '.' || s.ptr[i] == '_' || ascii_lower(s.ptr[i]) != s.ptr[i])
			return false;
	return is_glob(s);
}

static bool is_note(struct str s)
{
	for (size_t i = 0; i < s.len; i++)
		if ((unsigned char)s.ptr[i] < ' ' || s.ptr[i] == 127)
			return false;
	return s.len <= LIMIT_NOTE && str_is_utf8(s) && str_eq(s, str_trim(s));
}

// A comma would end it.
static bool is_view_glob(struct str s)
{
	return is_glob(s) && !memchr(s.ptr, ',', s.len);
}

static bool are_view_globs(struct str views)
{
	bool is_good = views.len <= LIMIT_TOKEN_VIEWS;
	while (views.ptr)
		is_good = is_view_glob(str_cut(&views, ' ')) && is_good;
	return is_good;
}

static bool read_right(struct str name, unsigned *rights)
{
	int right = 0;
	while (right < TOKEN_RIGHT_COUNT && !str_eq(name, str_from(token_right_name[right])))
		right++;
	if (right == TOKEN_RIGHT_COUNT)
		return false;
	*rights |= 1u << right;
	return true;
}

// Rights that are for views are not without one, nor is a view without such a right.
static bool has_right_views(unsigned rights, struct str views)
{
	return views.len ? rights & TOKEN_RIGHTS_OF_VIEWS && are_view_globs(views) : !(rights & TOKEN_RIGHTS_OF_VIEWS);
}

static bool read_rights(struct str text, unsigned *rights, struct buf *views)
{
	while (text.ptr) {
		struct str word = str_cut(&text, ',');
		if (!str_starts(word, view_word)) {
			if (!read_right(word, rights))
				return false;
			continue;
		}
		buf_puts(views, views->len ? " " : "");
		buf_str(views, str_slice(word, view_word.len, word.len));
	}
	return *rights && !views->failed && has_right_views(*rights, buf_view(views));
}

static bool read_time(struct str text, int64_t *seconds)
{
	char copy[CLOCK_TEXT];
	if (text.len >= sizeof(copy))
		return false;
	memcpy(copy, text.ptr, text.len);
	copy[text.len] = '\0';
	return clock_read(copy, seconds);
}

// The hash of an empty secret is refused: every client has that secret.
static bool read_hash(struct str id, struct str hash, struct token *t)
{
	char hex[SHA256_HEX];
	uint8_t nothing[SHA256_SIZE];
	digest_sha256(STR(""), nothing);
	if (!hex_decode(hash, t->sha256, SHA256_SIZE) || digest_equal(t->sha256, nothing))
		return false;
	hex_encode(t->sha256, SHA256_SIZE, hex);
	memcpy(t->id, hex, TOKEN_ID);
	return str_eq(id, str_from(t->id));
}

// NULL, or why the line is damaged.
static const char *parse_token_line(struct str line, struct token *t)
{
	CLEANUP(buf_release) struct buf views;
	buf_init(&views, LIMIT_TOKEN_VIEWS);
	struct str id = str_cut(&line, ' '), hash = str_cut(&line, ' ');
	struct str rights = str_cut(&line, ' ');
	struct str platform = str_cut(&line, ' '), project = str_cut(&line, ' ');
	struct str created = str_cut(&line, ' '), expires = str_cut(&line, ' ');
	if (!expires.ptr)
		return "it has too few fields";
	if (!read_hash(id, hash, t))
		return "its id is not the beginning of a SHA-256";
	if (!read_rights(rights, &t->rights, &views))
		return "its rights are not upload, read, yank, evidence, promote or override, the last three with a view";
	if (!is_glob(platform) || !is_project_glob(project))
		return "a glob could match no name";
	if (!read_time(created, &t->created) ||
		(!str_eq(expires, str_from(never)) && (!read_time(expires, &t->expires) || !t->expires)))
		return "a time is not as 2026-01-02T03:04:05Z";
	if (!is_note(line))
		return "its note is not plain text";
	t->platform = xstrndup(platform.ptr, platform.len);
	t->project = xstrndup(project.ptr, project.len);
	t->views = xstrndup(views.data ? views.data : "", views.len);
	t->note = line.ptr ? xstrndup(line.ptr, line.len) : xstrdup("");
	return NULL;
}

static void write_views(struct str views, struct buf *out)
{
	while (views.len) {
		buf_putc(out, ',');
		buf_str(out, view_word);
		buf_str(out, str_cut(&views, ' '));
	}
}

static void write_line(const struct token *t, struct buf *out)
{
	char hex[SHA256_HEX + 1] = "", created[CLOCK_TEXT], expires[CLOCK_TEXT];
	hex_encode(t->sha256, SHA256_SIZE, hex);
	clock_write(t->created, created);
	clock_write(t->expires, expires);
	buf_printf(out, "%s %s ", t->id, hex);
	token_write_rights(t->rights, out);
	write_views(str_from(t->views), out);
	buf_printf(out, " %s %s %s %s%s%s\n", t->platform, t->project, created, t->expires ? expires : never,
		t->note[0] ? " " : "", t->note);
}

// --- the file ---

static bool is_skipped(struct str line)
{
	return !line.len || line.ptr[0] == '#';
}

int tokenfile_read(const char *path, struct tokenfile *out, struct err *e)
{
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, LIMIT_TOKENS);
	struct err missing = ERR_INIT;
	if (safefile_read(path, &text, &missing) < 0 && err_unless_missing(e, &missing) < 0)
		return err_prefix(e, "tokens: ");
	struct tokenfile f = {0};
	size_t room = 0, damage_room = 0, number = 0;
	struct str rest = buf_view(&text);
	while (rest.ptr) {
		struct token t = {0};
		struct str line = str_cut(&rest, '\n');
		number++;
		if (is_skipped(line))
			continue;
		const char *wrong = parse_token_line(line, &t);
		if (wrong) {
			GROW(f.damage, f.damage_count, damage_room);
			f.damage[f.damage_count++] = xasprintf("%s:%zu: no token, for %s", path, number, wrong);
			continue;
		}
		GROW(f.token, f.count, room);
		f.token[f.count++] = t;
	}
	*out = f;
	return 0;
}

static int make_secret(struct token *t, struct buf *secret, struct err *e)
{
	uint8_t random[TOKEN_RANDOM];
	char hex[SHA256_HEX];
	size_t begin = secret->len;
	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return err_errno(e, ERR_IO, "no random bytes");
	buf_puts(secret, "wc_");
	base64_encode(random, sizeof(random), BASE64_URL, secret);
	explicit_bzero(random, sizeof(random));
	digest_sha256(str_slice(buf_view(secret), begin, secret->len), t->sha256);
	hex_encode(t->sha256, SHA256_SIZE, hex);
	memcpy(t->id, hex, TOKEN_ID);
	t->id[TOKEN_ID] = '\0';
	return 0;
}

static bool has_id(struct str text, const char *id)
{
	while (text.ptr)
		if (str_starts(str_cut(&text, '\n'), str_from(id)))
			return true;
	return false;
}

static int check_words(const struct token *t, struct err *e)
{
	if (!is_glob(str_from(t->platform)))
		return err_set(e, ERR_USAGE, "platform \"%s\": not a glob without blanks", t->platform);
	if (!is_project_glob(str_from(t->project)))
		return err_set(e, ERR_USAGE,
			"project \"%s\": names are compared in their normal form, in lower case and with "
			"\"-\" for each of . and _",
			t->project);
	if (!has_right_views(t->rights, str_from(t->views)))
		return err_set(e, ERR_USAGE,
			"view \"%s\": not a glob without blanks and commas, or for no right of a view", t->views);
	if (!is_note(str_from(t->note)))
		return err_set(e, ERR_USAGE, "note: not %d bytes of plain text at most", LIMIT_NOTE);
	return 0;
}

struct adding_token {
	struct token *token;
	struct buf *secret;
	size_t begin; // of the secret
};

static int add_token_line(void *ctx, struct str before, struct place_write *now, struct err *e)
{
	const struct adding_token *a = ctx;
	CLEANUP(buf_release) struct buf line = buf_up_to(LIMIT_TOKENS);
	do { // until the id is unused
		a->secret->len = a->begin;
		if (make_secret(a->token, a->secret, e) < 0)
			return -1;
	} while (has_id(before, a->token->id));
	a->token->created = clock_wall_seconds();
	buf_puts(&line, !before.len ? heading : str_ends(before, STR("\n")) ? "" : "\n");
	write_line(a->token, &line);
	return place_write_add(now, before, e) < 0 || place_write_add(now, buf_view(&line), e) < 0 ? -1 : 1;
}

int tokenfile_add(const char *path, struct token *t, struct buf *secret, struct err *e)
{
	struct adding_token a = {t, secret, secret->len};
	return check_words(t, e) < 0 ? -1 : record_change(path, true, LIMIT_TOKENS, add_token_line, &a, e);
}

struct revoking {
	const char *path, *id;
	char *name; // of the token; NULL: there is none
};

static void revoking_release(struct revoking *r)
{
	free(r->name);
}

static int leave_out_lines(void *ctx, struct str before, struct place_write *now, struct err *e)
{
	struct revoking *r = ctx;
	CLEANUP(buf_release) struct buf kept = buf_up_to(LIMIT_TOKENS);
	mem_free(&r->name);
	while (before.ptr) {
		CLEANUP(token_release) struct token t = {0};
		struct str line = str_cut(&before, '\n'), behind = line;
		if (is_skipped(line) || !str_eq(str_cut(&behind, ' '), str_from(r->id))) {
			buf_str(&kept, line);
			buf_puts(&kept, before.ptr ? "\n" : "");
			continue;
		}
		free(r->name);
		r->name = xstrdup(parse_token_line(line, &t) ? r->id : token_name(&t));
	}
	if (!r->name)
		return err_set(e, ERR_NOT_FOUND, "no token %s in %s", r->id, r->path);
	return place_write_add(now, buf_view(&kept), e) < 0 ? -1 : 1;
}

int tokenfile_revoke(const char *path, const char *id, char **who, struct err *e)
{
	CLEANUP(revoking_release) struct revoking r = {path, id, NULL};
	if (record_change(path, true, LIMIT_TOKENS, leave_out_lines, &r, e) < 0)
		return -1;
	*who = STEAL_PTR(r.name);
	return 0;
}
