// SPDX-License-Identifier: Apache-2.0
#include "server/api/view-post.h"

#include <stdlib.h>

#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/format/json-sax.h"
#include "server/core/auth.h"
#include "server/message/body-handler.h"

void view_post_begin(struct view_post *p, const struct body_handler_ops *ops, struct server_context *s,
	const struct request *r, const char *action, const struct view_post_limits *limits)
{
	p->handler.ops = ops;
	upload_sender_begin(&p->sender, s, r, action);
	buf_init(&p->body, limits->bytes);
}

// A form of another site can send text/plain with a browser's password, but not this type.
static int check_post_type(const struct request *r, const struct view_post_limits *limits, struct err *e)
{
	struct str type = str_from(r->header[HEADER_CONTENT_TYPE] ? r->header[HEADER_CONTENT_TYPE] : "");
	if (!str_eq_nocase(str_trim(str_cut(&type, ';')), STR("application/json")))
		return err_set(e, ERR_INVALID, "%s is sent as application/json", limits->what);
	if (request_content_length(r) > limits->bytes)
		return err_set(e, ERR_LIMIT, "%s: more than %zu bytes", limits->what, limits->bytes);
	return 0;
}

struct reply *view_post_admit(struct view_post *p, const struct request *r, enum token_right right, const char *view,
	const struct view_post_limits *limits)
{
	struct err e = ERR_INIT;
	struct reply *refusal = NULL;
	struct upload_sender *s = &p->sender;
	struct reply *refused = auth_grant(s->context, r, right, view, &p->grant, &s->token_name);
	p->handler.token = s->token_name;
	if (upload_sender_admit_as(s, refused, &refusal, &e) < 0)
		return view_post_failed(p, NULL, &e);
	if (refusal)
		return refusal;
	return check_post_type(r, limits, &e) < 0 ? view_post_failed(p, NULL, &e) : NULL;
}

struct reply *view_post_check_again(struct view_post *p, enum token_right right, const char *view)
{
	CLEANUP(mem_free) char *who = NULL;
	const struct request sender = upload_sender_request(&p->sender);
	token_grant_release(&p->grant);
	struct reply *refusal = auth_grant(p->sender.context, &sender, right, view, &p->grant, &who);
	if (refusal)
		upload_sender_audit(&p->sender,
			(struct audit_entry){.result = "refused", .reason = "the token counts no more"});
	return refusal;
}

void view_post_release(struct view_post *p)
{
	token_grant_release(&p->grant);
	buf_release(&p->body);
	upload_sender_release(&p->sender);
}

// --- the body ---

static int count_post_bytes(struct view_post *p, size_t bytes, const struct view_post_limits *limits, struct err *e)
{
	if (p->body.len + bytes > limits->bytes)
		return err_set(e, ERR_LIMIT, "%s: more than %zu bytes", limits->what, limits->bytes);
	if (!body_handler_keep(&p->handler, bytes))
		return err_set(e, ERR_BUSY, "too many documents arrive at once: try again");
	return 0;
}

struct reply *view_post_take(struct view_post *p, struct str bytes, const struct view_post_limits *limits)
{
	struct err e = ERR_INIT;
	if (count_post_bytes(p, bytes.len, limits, &e) < 0)
		return view_post_failed(p, NULL, &e);
	buf_str(&p->body, bytes);
	return NULL;
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

// Of the client's text only what is harmless in an answer.
static void note_unknown(struct posted_values *c, struct str key)
{
	struct str head = str_head(key, sizeof(c->unknown) - 1);
	if (c->unknown[0])
		return;
	for (size_t i = 0; i < head.len; i++)
		c->unknown[i] = head.ptr[i] > ' ' && head.ptr[i] < 0x7f ? head.ptr[i] : '?';
	if (!head.len)
		c->unknown[0] = '?';
}

static void count_posted_value(void *ctx, const struct json_sax_value *v)
{
	struct posted_values *c = ctx;
	if (c->count++ == 0)
		c->is_object = v->kind == JSON_SAX_OBJECT;
	if (c->keys && v->depth == 1 && v->key[0].ptr && !is_expected(c->keys, v))
		note_unknown(c, v->key[0]);
	c->is_too_deep = c->is_too_deep ||
			 ((v->kind == JSON_SAX_OBJECT || v->kind == JSON_SAX_ARRAY) && v->depth == JSON_SAX_DEPTH);
}

int view_post_check_body(const struct view_post *p, const struct view_post_limits *limits, struct err *e)
{
	CLEANUP(arena_release) struct arena room = {0};
	struct posted_values values = {.keys = limits->keys};
	bool is_cut;
	if (json_sax_read(buf_view(&p->body), &room, count_posted_value, &values, &is_cut, e) < 0)
		return err_prefix(e, "%s: ", limits->what);
	if (!values.is_object)
		return err_set(e, ERR_INVALID, "%s: it is no object", limits->what);
	if (values.is_too_deep)
		return err_set(e, ERR_INVALID, "%s: it is nested too deeply", limits->what);
	if (values.count > limits->values)
		return err_set(e, ERR_LIMIT, "%s: more than %zu values", limits->what, limits->values);
	if (values.unknown[0])
		return err_set(e, ERR_INVALID, "%s: \"%s\" is an unknown key, or its value is an object or null",
			limits->what, values.unknown);
	return 0;
}

// --- answers ---

// What the client sent, or may not do, is its own fault here.
static struct error_status status_of_post(enum err_kind kind)
{
	static const struct error_status bad = {.status = 400, .title = "Bad Request"};
	static const struct error_status forbidden = {.status = 403, .title = "Forbidden"};
	return kind == ERR_USAGE ? bad : kind == ERR_DENIED ? forbidden : *error_status(kind, ERROR_OF_UPLOAD);
}

struct reply *view_post_failed(struct view_post *p, const char *project, const struct err *why)
{
	const struct error_status a = status_of_post(why->kind);
	return view_post_refused(p, &a, project, why);
}

struct reply *view_post_refused(struct view_post *p, const struct error_status *a, const char *project,
	const struct err *why)
{
	bool is_ours = a->is_fault || why->kind == ERR_FULL;
	if (is_ours)
		log_error("%s: %s", p->sender.action, why->msg);
	upload_sender_audit(&p->sender,
		(struct audit_entry){
			.project = project, .result = a->status >= 500 ? "failed" : "refused", .reason = why->msg});
	const char *words = a->detail ? a->detail : is_ours ? "the server has no room for it" : why->msg;
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
	jsondoc_put_str(doc, "message", words);
	return upload_sender_answer(&p->sender, a, words, doc);
}

struct reply *view_post_too_many(struct view_post *p, int64_t wait_ms, const struct err *why)
{
	const struct error_status a = {.status = 429, .retry_after = (unsigned)(wait_ms / 1000) + 1};
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
	jsondoc_put_str(doc, "message", why->msg);
	return upload_sender_answer(&p->sender, &a, why->msg, doc);
}

struct reply *view_post_answer(const struct view_post *p, unsigned status, const char *message,
	const struct jsondoc *doc)
{
	const struct error_status a = {.status = status};
	return upload_sender_answer(&p->sender, &a, message, doc);
}
