// SPDX-License-Identifier: Apache-2.0
#include "server/api/json-post.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/format/json-sax.h"
#include "server/core/auth.h"

// --- answers ---

struct reply *json_post_answer(const struct json_post *p, unsigned status, const char *message,
	const struct jsondoc *doc)
{
	const struct error_status a = {.status = status};
	return sender_answer(&p->sender, &a, message, doc);
}

static struct reply *answer_words(const struct json_post *p, const struct error_status *a, const char *words)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
	jsondoc_put_str(doc, "message", words);
	if (p->id)
		jsondoc_put_str(doc, "id", p->id);
	return sender_answer(&p->sender, a, words, doc);
}

struct reply *json_post_refused(struct json_post *p, const struct error_status *a, const struct err *why)
{
	const struct platform *place = p->sender.platform;
	bool is_ours = a->is_fault || why->kind == ERR_FULL;
	if (is_ours) // only the logs get the message, because it names our paths
		log_error("%s%s%s: %s", p->sender.action, place ? " of " : "", place ? place->name : "",
			place && place->is_private ? "it failed, and the audit log says why" : why->msg);
	sender_audit(&p->sender, (struct audit_entry){.project = p->project,
					 .file = p->file,
					 .result = a->status >= 500 ? "failed" : "refused",
					 .reason = why->msg});
	if (a->detail)
		return answer_words(p, a, a->detail);
	CLEANUP(mem_free) char *no_room = xasprintf("the server has no room for %s", p->kind->room_for);
	return answer_words(p, a, is_ours ? no_room : why->msg);
}

struct reply *json_post_failed(struct json_post *p, const struct err *why)
{
	// What the client sent, or may not do, is its own fault here.
	static const struct error_status bad = {.status = 400, .title = "Bad Request"};
	static const struct error_status forbidden = {.status = 403, .title = "Forbidden"};
	const struct error_status later = {.status = 429, .retry_after = (unsigned)(p->wait_ms / 1000) + 1};
	if (p->wait_ms)
		return answer_words(p, &later, why->msg);
	return json_post_refused(p,
		why->kind == ERR_USAGE    ? &bad
		: why->kind == ERR_DENIED ? &forbidden
					  : error_status(why->kind, ERROR_OF_UPLOAD),
		why);
}

static struct reply *fail_post(struct json_post *p, const struct err *why)
{
	return p->kind->fail ? p->kind->fail(p, why) : json_post_failed(p, why);
}

// --- the body ---

static struct reply *take_post_bytes(struct body_handler *handler, struct str bytes)
{
	struct err e = ERR_INIT;
	struct json_post *p = (struct json_post *)handler;
	if (p->body.len + bytes.len > p->kind->bytes)
		err_set(&e, ERR_LIMIT, "%s more than %zu bytes", p->kind->what, p->kind->bytes);
	else if (!body_handler_keep(handler, bytes.len))
		err_set(&e, ERR_BUSY, "too many %s arrive at once: try again", p->kind->many);
	else
		buf_str(&p->body, bytes);
	return e.kind == ERR_NONE ? NULL : fail_post(p, &e);
}

struct posted_values {
	const char *const *keys;
	size_t count;
	bool is_object;
	bool is_too_deep; // its values are not counted
	char unknown[40]; // the first key that is unknown, or whose value is an object or null
};

static bool is_expected(const char *const *keys, const struct json_sax_value *v)
{
	while (*keys && !str_eq(v->key[0], str_from(*keys)))
		keys++;
	return *keys && v->kind != JSON_SAX_OBJECT && v->kind != JSON_SAX_NULL;
}

static void count_posted_value(void *ctx, const struct json_sax_value *v)
{
	struct posted_values *c = ctx;
	if (c->count++ == 0)
		c->is_object = v->kind == JSON_SAX_OBJECT;
	if (c->keys && v->depth == 1 && v->key[0].ptr && !is_expected(c->keys, v)) {
		// Of the client's text only what is harmless in an answer.
		struct str head = str_head(v->key[0], sizeof(c->unknown) - 1);
		if (!c->unknown[0]) {
			for (size_t i = 0; i < head.len; i++)
				c->unknown[i] = head.ptr[i] > ' ' && head.ptr[i] < 0x7f ? head.ptr[i] : '?';
			if (!head.len)
				c->unknown[0] = '?';
		}
	}
	c->is_too_deep = c->is_too_deep ||
			 ((v->kind == JSON_SAX_OBJECT || v->kind == JSON_SAX_ARRAY) && v->depth == JSON_SAX_DEPTH);
}

// Whether the body is JSON within the limits, and has only these keys.
static int check_values(const struct json_post *p, struct err *e)
{
	CLEANUP(arena_release) struct arena room = {0};
	const struct json_post_kind *k = p->kind;
	struct posted_values values = {.keys = k->keys};
	bool is_cut;
	if (json_sax_read(buf_view(&p->body), &room, count_posted_value, &values, &is_cut, e) < 0)
		return err_prefix(e, "%s ", k->what);
	if (!values.is_object)
		return err_set(e, ERR_INVALID, "%s it is no object", k->what);
	if (values.is_too_deep)
		return err_set(e, ERR_INVALID, "%s it is nested too deeply", k->what);
	if (values.count > k->values)
		return err_set(e, ERR_LIMIT, "%s more than %zu values", k->what, k->values);
	if (values.unknown[0])
		return err_set(e, ERR_INVALID, "%s \"%s\" is an unknown key, or its value is an object or null", k->what,
			values.unknown);
	return 0;
}

int json_post_tree(struct json_post *p, struct err *e)
{
	p->json = jsondoc_read(buf_view(&p->body), e);
	return p->json ? 0 : -1;
}

// --- from the header to the answer ---

// *who: the name of the token.
static struct reply *check_post_right(struct json_post *p, const struct request *r, char **who)
{
	const struct json_post_kind *k = p->kind;
	if (k->is_open)
		return NULL;
	if (k->right == TOKEN_UPLOAD)
		return auth_check(p->sender.context, r, TOKEN_UPLOAD, p->sender.platform->name, NULL, who);
	token_grant_release(&p->grant);
	return auth_grant(p->sender.context, r, k->right, k->is_of_view ? p->view : NULL, &p->grant, who);
}

static struct reply *end_post(struct body_handler *handler)
{
	struct err e = ERR_INIT;
	struct json_post *p = (struct json_post *)handler;
	if (p->kind->takes_long && atomic_load(&p->sender.context->is_stopping))
		return reply_text(503, "503 Service Unavailable: the server is stopping");
	// Since the token may have been revoked while the body arrived.
	CLEANUP(mem_free) char *who = NULL;
	const struct request sender = sender_request(&p->sender);
	struct reply *answer = check_post_right(p, &sender, &who);
	if (answer) {
		sender_audit(&p->sender,
			(struct audit_entry){.result = "refused", .reason = "the token counts no more"});
		return answer;
	}
	if ((p->kind->values && check_values(p, &e) < 0) || p->kind->run(p, &answer, &e) < 0)
		return fail_post(p, &e);
	return answer;
}

static void free_post(struct body_handler *handler)
{
	struct json_post *p = (struct json_post *)handler;
	if (p->kind->release)
		p->kind->release(p);
	token_grant_release(&p->grant);
	jsondoc_cleanup(&p->json);
	buf_release(&p->body);
	arena_release(&p->arena);
	sender_release(&p->sender);
	free(p);
}

// A form of another site can send text/plain with a browser's password, but not this type.
static int check_post_header(const struct json_post_kind *k, const struct request *r, struct err *e)
{
	struct str type = str_from(r->header[HEADER_CONTENT_TYPE] ? r->header[HEADER_CONTENT_TYPE] : "");
	if (!str_eq_nocase(str_trim(str_cut(&type, ';')), STR("application/json")))
		return err_set(e, ERR_INVALID, "%s is sent as application/json", k->one);
	if (request_content_length(r) > k->bytes)
		return err_set(e, ERR_LIMIT, "%s more than %zu bytes", k->what, k->bytes);
	return 0;
}

// NULL: the body may arrive.
static struct reply *admit_post(struct json_post *p, const struct route_match *match)
{
	struct err e = ERR_INIT;
	const struct json_post_kind *k = p->kind;
	struct reply *refusal = k->check_right ? k->check_right(p, match)
					       : check_post_right(p, match->request, &p->sender.token_name);
	p->handler.token = p->sender.token_name;
	if (k->action && sender_admit(&p->sender, &refusal, &e) < 0)
		return fail_post(p, &e);
	if (refusal)
		return refusal;
	if (check_post_header(k, match->request, &e) < 0)
		return fail_post(p, &e);
	return k->check ? k->check(p, match) : NULL;
}

struct body_handler *json_post_receive(const struct json_post_kind *kind, struct server_context *s,
	const struct route_match *match, struct reply **refusal)
{
	static const struct body_handler_ops ops = {.take = take_post_bytes, .end = end_post, .free = free_post};
	struct json_post *p = xcalloc(1, kind->size);
	p->handler.ops = &ops;
	p->kind = kind;
	sender_begin(&p->sender, s, match->request, kind->action);
	buf_init(&p->body, kind->bytes);
	p->view = arena_copy(&p->arena, match->view);
	*refusal = kind->right == TOKEN_UPLOAD && !kind->check_right ? sender_find_platform(&p->sender, match) : NULL;
	if (!*refusal)
		*refusal = admit_post(p, match);
	if (!*refusal)
		return &p->handler;
	free_post(&p->handler);
	return NULL;
}

// --- values of the document ---

int posted_object_line(const struct posted_object *p, const char *key, size_t limit, const char **out, struct err *e)
{
	const char *value = jsondoc_get_str(p->object, key);
	if (jsondoc_is_null(p->object, key))
		return 0;
	if (!value || !*value)
		return err_set(e, ERR_INVALID, "%s: \"%s\" is no text", p->what, key);
	if (strlen(value) > limit)
		return err_set(e, ERR_INVALID, "%s: \"%s\" has more than %zu bytes", p->what, key, limit);
	for (const char *c = value; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			return err_set(e, ERR_INVALID, "%s: \"%s\" has a control character", p->what, key);
	*out = value;
	return 0;
}

int posted_object_flag(const struct posted_object *p, const char *key, bool *out, struct err *e)
{
	int64_t number;
	const struct jsondoc *o = p->object;
	*out = jsondoc_is_true(o, key);
	if (jsondoc_get_str(o, key) || jsondoc_get(o, key) || jsondoc_get_int(o, key, &number))
		return err_set(e, ERR_INVALID, "%s: \"%s\" is neither true nor false", p->what, key);
	return 0;
}

int posted_object_list(const struct posted_object *p, const char *key, size_t most, const struct jsondoc **out,
	struct err *e)
{
	int64_t number;
	const struct jsondoc *o = p->object;
	*out = jsondoc_get(o, key);
	if (jsondoc_get_str(o, key) || jsondoc_is_true(o, key) || jsondoc_get_int(o, key, &number))
		return err_set(e, ERR_INVALID, "%s: \"%s\" is no array", p->what, key);
	if (*out && jsondoc_count(*out) > most)
		return err_set(e, ERR_LIMIT, "%s: \"%s\" has more than %zu entries", p->what, key, most);
	return 0;
}

// Of a path, the last part is the name of a file.
static bool is_select_word(struct str word)
{
	long slash = str_rfind(word, '/');
	size_t last = word.len - (size_t)(slash + 1);
	return last && last <= LIMIT_FILE_NAME && word.len <= LIMIT_PATH;
}

int posted_object_select(const struct posted_object *p, size_t most, struct arena *a, const char *const **out,
	size_t *count, struct err *e)
{
	const struct jsondoc *list;
	if (posted_object_list(p, "select", most, &list, e) < 0)
		return -1;
	*count = list ? jsondoc_count(list) : 0;
	if (list && !*count)
		return err_set(e, ERR_INVALID, "%s: \"select\" is empty", p->what);
	const char **words = ARENA_NEW(a, const char *, *count);
	*out = words;
	for (size_t i = 0; i < *count; i++) {
		const char *word = words[i] = jsondoc_at_str(list, i);
		if (!word || !is_select_word(str_from(word)))
			return err_set(e, ERR_INVALID, "%s: select[%zu] is no project, no file name and no path", p->what, i);
	}
	return 0;
}
