// SPDX-License-Identifier: Apache-2.0
#include "lib/place/s3-credentials.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/arena.h"
#include "lib/base/limits.h"
#include "lib/format/escape.h"
#include "lib/format/ini-file.h"
#include "lib/format/jsondoc.h"
#include "lib/format/markup.h"
#include "lib/net/fetch.h"
#include "lib/os/clock.h"
#include "lib/os/fs.h"
#include "lib/os/hook.h"

enum {
	EARLY_SECONDS = 300, // before they expire they are renewed
	COMMAND_MS = 60000,
	CONNECT_SECONDS = 2, // the metadata service is on the machine, or is not there
	STALL_SECONDS = 10,
	REFUSALS = 300,
	DOCUMENT_VALUES = 64,
	PAUSE_MS = 10000, // between two questions while the keys are good
};

struct s3_credentials {
	char *command, *region;
	pthread_mutex_t lock; // protects what follows
	struct s3_keys keys;
	int64_t asked_ms; // clock_ms() of the last question
	int64_t until;    // seconds since 1970; INT64_MAX: they do not expire
};

static void wipe(char **text)
{
	if (*text)
		explicit_bzero(*text, strlen(*text));
	mem_free(text);
}

void s3_keys_release(struct s3_keys *k)
{
	wipe(&k->id);
	wipe(&k->secret);
	wipe(&k->token);
}

static void release_secret(struct buf *b)
{
	if (b->room)
		explicit_bzero(b->data, b->room);
	buf_release(b);
}

struct s3_credentials *s3_credentials_new(const char *command, const char *region)
{
	struct s3_credentials *c = xcalloc(1, sizeof(*c));
	c->command = command ? xstrdup(command) : NULL;
	c->region = xstrdup(region);
	pthread_mutex_init(&c->lock, NULL);
	return c;
}

static const char *variable(const char *name)
{
	const char *value = getenv(name);
	return value && *value ? value : NULL;
}

static bool set_keys(struct s3_credentials *c, const char *id, const char *secret, const char *token)
{
	if (!id || !secret)
		return false;
	s3_keys_release(&c->keys);
	c->keys = (struct s3_keys){xstrdup(id), xstrdup(secret), token && *token ? xstrdup(token) : NULL};
	c->until = INT64_MAX;
	return true;
}

// "2026-01-02T03:04:05Z", perhaps with a fraction, or with +00:00. What is no time is one that has come.
static int64_t read_expiration(const char *text)
{
	char whole[CLOCK_TEXT];
	int64_t seconds;
	if (!text)
		return INT64_MAX;
	snprintf(whole, sizeof(whole), "%.19sZ", text);
	return clock_read(whole, &seconds) ? seconds : 0;
}

// --- a document ---

// token_name: the key of the session token.
static int take_document(struct s3_credentials *c, struct str text, const char *token_name, const char *from, struct err *e)
{
	struct err why = ERR_INIT; // it may quote the document
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_read_bounded(text, DOCUMENT_VALUES, &why);
	if (!doc || !set_keys(c, jsondoc_get_str(doc, "AccessKeyId"), jsondoc_get_str(doc, "SecretAccessKey"),
			     jsondoc_get_str(doc, token_name)))
		return err_set(e, ERR_INVALID, "%s: no JSON with AccessKeyId and SecretAccessKey", from);
	c->until = read_expiration(jsondoc_get_str(doc, "Expiration"));
	return 1;
}

static int ask_command(struct s3_credentials *c, struct err *e)
{
	const _Atomic int64_t end = clock_ms() + COMMAND_MS;
	CLEANUP(release_secret) struct buf out = buf_up_to(LIMIT_ANSWER);
	if (hook_read(c->command, &end, &out, e) < 0)
		return err_prefix(e, "credentials-command: ");
	return take_document(c, buf_view(&out), "SessionToken", "credentials-command", e);
}

// --- the environment, the file ---

static int ask_environment(struct s3_credentials *c, struct err *e UNUSED)
{
	return set_keys(c, variable("AWS_ACCESS_KEY_ID"), variable("AWS_SECRET_ACCESS_KEY"), variable("AWS_SESSION_TOKEN"));
}

struct profile_reader {
	const char *profile;
	struct arena text;
	const char *id, *secret, *token;
};

static int take_line(void *ctx, const struct ini_file_line *line, struct err *e UNUSED)
{
	struct profile_reader *r = ctx;
	if (!line->key || strcmp(line->section, r->profile) != 0)
		return 0;
	const struct {
		const char *key;
		const char **value;
	} keys[] = {
		{"aws_access_key_id", &r->id}, {"aws_secret_access_key", &r->secret}, {"aws_session_token", &r->token}};
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (strcmp(line->key, keys[i].key) == 0)
			*keys[i].value = arena_strdup(&r->text, line->value);
	return 0;
}

static int ask_file(struct s3_credentials *c, struct err *e)
{
	struct err missing = ERR_INIT;
	const char *path = variable("AWS_SHARED_CREDENTIALS_FILE"), *home = variable("HOME");
	CLEANUP(mem_free) char *usual = xasprintf("%s/.aws/credentials", home ? home : "");
	struct profile_reader r = {.profile = variable("AWS_PROFILE")};
	r.profile = r.profile ? r.profile : "default";
	int result = ini_file_read_file(path ? path : usual, take_line, &r, &missing);
	bool is_set = result == 0 && set_keys(c, r.id, r.secret, r.token);
	arena_release(&r.text);
	if (result < 0 && err_unless_missing(e, &missing) < 0)
		return -1;
	return is_set;
}

// --- services ---

static int ask_service(const struct fetch_call *call, const char *what, struct buf *body, struct err *e)
{
	const struct fetch_options options = {
		.ca_file = fetch_ca_file(NULL), .connect_seconds = CONNECT_SECONDS, .stall_seconds = STALL_SECONDS};
	struct fetch_answer answer;
	fetch_answer_init(&answer, LIMIT_ANSWER);
	struct fetch *f = fetch_new(&options);
	int result = fetch_call(f, call, &answer, e);
	fetch_free(f);
	if (result == 0 && answer.status >= REFUSALS)
		result = err_set(e, ERR_IO, "%s answers %u", what, answer.status);
	buf_str(body, buf_view(&answer.body));
	release_secret(&answer.body);
	fetch_answer_release(&answer);
	return result < 0 ? -1 : 0;
}

struct sts_reader {
	struct s3_keys keys;
	char *expiration;
	char **field;
};

static void begin_sts(void *ctx, const char *name, const char *const *attributes UNUSED)
{
	struct sts_reader *r = ctx;
	r->field = strcmp(name, "AccessKeyId") == 0	? &r->keys.id
		   : strcmp(name, "SecretAccessKey") == 0 ? &r->keys.secret
		   : strcmp(name, "SessionToken") == 0	? &r->keys.token
		   : strcmp(name, "Expiration") == 0	? &r->expiration
							: NULL;
}

static void end_sts(void *ctx, const char *name UNUSED)
{
	((struct sts_reader *)ctx)->field = NULL;
}

static void add_sts(void *ctx, struct str text)
{
	struct sts_reader *r = ctx;
	if (!r->field)
		return;
	char *longer = xasprintf("%s" STR_FMT, *r->field ? *r->field : "", STR_ARG(text));
	wipe(r->field);
	*r->field = longer;
}

// Everything is in the body, which nobody logs.
static int read_identity(const char *path, struct buf *form, struct err *e)
{
	CLEANUP(release_secret) struct buf token = buf_up_to(LIMIT_ANSWER);
	const char *name = variable("AWS_ROLE_SESSION_NAME");
	if (fs_read_file(path, &token, e) < 0)
		return err_prefix(e, "AWS_WEB_IDENTITY_TOKEN_FILE: ");
	buf_puts(form, "Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn=");
	escape_url(form, str_from(variable("AWS_ROLE_ARN")));
	buf_puts(form, "&RoleSessionName=");
	escape_url(form, str_from(name ? name : "wheelcache"));
	buf_puts(form, "&WebIdentityToken=");
	escape_url(form, str_trim(buf_view(&token)));
	return 0;
}

static int ask_web_identity(struct s3_credentials *c, struct err *e)
{
	static const struct markup_handler handler = {begin_sts, end_sts, add_sts, NULL};
	static const char *const headers[] = {"Content-Type: application/x-www-form-urlencoded", NULL};
	const char *path = variable("AWS_WEB_IDENTITY_TOKEN_FILE"), *given = variable("AWS_ENDPOINT_URL_STS");
	if (!path || !variable("AWS_ROLE_ARN"))
		return 0;
	CLEANUP(release_secret) struct buf form = buf_up_to(4 * LIMIT_ANSWER);
	CLEANUP(release_secret) struct buf answer = buf_up_to(LIMIT_ANSWER);
	CLEANUP(mem_free) char *usual = xasprintf("https://sts.%s.amazonaws.com/", c->region);
	if (read_identity(path, &form, e) < 0)
		return -1;
	const struct byte_source body = byte_source_memory(buf_view(&form));
	const struct fetch_call call = {
		.method = "POST", .url = given ? given : usual, .headers = headers, .body = &body, .size = body.size};
	if (ask_service(&call, call.url, &answer, e) < 0)
		return -1;
	struct err why = ERR_INIT; // it may quote the answer
	struct sts_reader r = {0};
	bool is_set = markup_read_xml(buf_view(&answer), &handler, &r, &why) == 0 && set_keys(c, r.keys.id, r.keys.secret, r.keys.token);
	if (is_set)
		c->until = read_expiration(r.expiration);
	s3_keys_release(&r.keys);
	free(r.expiration);
	return is_set ? 1 : err_set(e, ERR_INVALID, "%s: no credentials in the answer", call.url);
}

// IMDSv2: a token first, then the name of the role, then its keys.
static int ask_metadata(struct s3_credentials *c, struct err *e)
{
	const char *given = variable("AWS_EC2_METADATA_SERVICE_ENDPOINT"), *off = variable("AWS_EC2_METADATA_DISABLED");
	struct str base = str_from(given ? given : "http://169.254.169.254");
	static const char *const wish[] = {"X-aws-ec2-metadata-token-ttl-seconds: 21600", NULL};
	if (off && strcmp(off, "true") == 0)
		return 0;
	while (str_ends(base, STR("/")))
		base.len--;
	CLEANUP(release_secret) struct buf token = buf_up_to(LIMIT_ANSWER);
	CLEANUP(release_secret) struct buf keys = buf_up_to(LIMIT_ANSWER);
	CLEANUP(buf_release) struct buf role = buf_up_to(LIMIT_FILE_NAME);
	CLEANUP(mem_free) char *token_url = xasprintf(STR_FMT "/latest/api/token", STR_ARG(base));
	CLEANUP(mem_free)
	char *roles = xasprintf(STR_FMT "/latest/meta-data/iam/security-credentials/", STR_ARG(base));
	struct err away = ERR_INIT;
	if (ask_service(&(struct fetch_call){.method = "PUT", .url = token_url, .headers = wish}, roles, &token, &away) < 0)
		return 0; // this is no such machine
	CLEANUP(mem_free) char *line = xasprintf("X-aws-ec2-metadata-token: %s", token.data);
	const char *const headers[] = {line, NULL};
	if (ask_service(&(struct fetch_call){.method = "GET", .url = roles, .headers = headers}, roles, &role, e) < 0)
		return -1;
	CLEANUP(mem_free) char *url = xasprintf("%s%.*s", roles, (int)strcspn(role.data, "\r\n"), role.data);
	if (ask_service(&(struct fetch_call){.method = "GET", .url = url, .headers = headers}, roles, &keys, e) < 0)
		return -1;
	return take_document(c, buf_view(&keys), "Token", roles, e);
}

// --- all ---

static int ask_all(struct s3_credentials *c, struct err *e)
{
	static int (*const sources[])(struct s3_credentials *c, struct err *e) = {
		ask_environment, ask_web_identity, ask_file, ask_metadata};
	if (c->command)
		return ask_command(c, e);
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
		int found = sources[i](c, e);
		if (found)
			return found;
	}
	return err_set(e, ERR_USAGE,
		"there are no credentials: neither AWS_ACCESS_KEY_ID nor a web identity is in the environment, ~/.aws/credentials "
		"has no such profile, and no metadata service answers");
}

int s3_credentials_get(struct s3_credentials *c, struct s3_keys *out, struct err *e)
{
	int result = 0;
	pthread_mutex_lock(&c->lock);
	int64_t now = clock_wall_seconds();
	struct err why = ERR_INIT;
	bool is_early = now >= c->until - EARLY_SECONDS && clock_ms() - c->asked_ms >= PAUSE_MS;
	if (!c->keys.id || now >= c->until || is_early) {
		c->asked_ms = clock_ms();
		result = ask_all(c, &why);
	}
	if (result < 0 && c->keys.id && now < c->until)
		result = 0; // the old ones are still good
	if (result >= 0)
		*out = (struct s3_keys){xstrdup(c->keys.id), xstrdup(c->keys.secret), c->keys.token ? xstrdup(c->keys.token) : NULL};
	pthread_mutex_unlock(&c->lock);
	if (result < 0)
		*e = why;
	return result < 0 ? -1 : 0;
}

void s3_credentials_renew(struct s3_credentials *c)
{
	pthread_mutex_lock(&c->lock);
	c->until = 0;
	pthread_mutex_unlock(&c->lock);
}
