// SPDX-License-Identifier: Apache-2.0
#include "server/handlers/builds-receive.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/format/json-sax.h"
#include "lib/state/access/audit.h"
#include "lib/state/results/results-json.h"
#include "server/core/auth.h"
#include "server/core/build-results.h"
#include "server/message/body-handler.h"
#include "server/message/error-status.h"
#include "server/message/negotiate.h"

// One attempt that arrives. As with uploads, each answer to a known token is a line in the audit log.
struct sent_build {
	struct body_handler handler; // first
	struct server_context *context;
	const struct platform *platform;
	char *peer, *authorization; // of the request
	bool wants_json;
	char *token_name; // of the request's token; NULL: unknown
	struct audit *audit;
	struct buf body;
	size_t counted;           // bytes of body, in context->build_bytes
	char *project, *id;       // of the document; NULL: not read yet
	char *subject;            // "VERSION, Python 3.12", for the audit log
	struct jsondoc *document; // the attempt's strings are borrowed from it,
	struct arena text;        // and from here
	struct results_attempt attempt;
	struct str log;
};

// --- answers ---

static struct reply *answer_build(const struct sent_build *b, const struct error_status *a, const char *message)
{
	struct reply *r;
	if (b->wants_json) {
		CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
		CLEANUP(buf_release) struct buf text;
		buf_init(&text, LIMIT_METADATA);
		jsondoc_put_str(doc, "message", message);
		if (b->id)
			jsondoc_put_str(doc, "id", b->id);
		jsondoc_write(doc, 0, &text);
		r = reply_new(a->status, "application/json", blob_from_buf(&text));
	} else {
		r = reply_text(a->status, "%s", message);
	}
	reply_header(r, "Cache-Control", "no-store");
	reply_header(r, "Vary", "Accept");
	if (a->retry_after)
		reply_header(r, "Retry-After", "%u", a->retry_after);
	return r;
}

static void audit_build(const struct sent_build *b, const char *result, const char *reason)
{
	struct err e = ERR_INIT;
	const struct audit_entry entry = {
		.who = b->token_name,
		.peer = b->peer,
		.action = "build-result",
		.platform = b->platform->name,
		.project = b->project,
		.file = b->subject,
		.result = result,
		.reason = reason,
	};
	if (b->audit && audit_write(b->audit, &entry, &e) < 0)
		log_error("%s", e.msg);
}

// If the server is at fault, only the logs get the message, because it names our paths.
static struct reply *build_failed(const struct sent_build *b, const struct err *why)
{
	const struct error_status *answer = error_status(why->kind, ERROR_OF_UPLOAD);
	bool is_ours = answer->is_fault || why->kind == ERR_FULL;
	if (is_ours)
		log_error("build result of %s: %s", b->platform->name,
			b->platform->is_private ? "it failed, and the audit log says why" : why->msg);
	audit_build(b, answer->status >= 500 ? "failed" : "refused", why->msg);
	return answer_build(b, answer,
		answer->detail ? answer->detail
		: is_ours      ? "the server has no room for more build results"
			       : why->msg);
}

static struct reply *build_recorded(const struct sent_build *b, enum build_results_answer answer)
{
	static const struct error_status ok = {.status = 200, .title = "OK"};
	static const char *const words[] = {
		[BUILD_RESULTS_NEW] = "recorded",
		[BUILD_RESULTS_CHANGED] = "recorded in place of the running attempt",
		[BUILD_RESULTS_SAME] = "known already: nothing changed",
	};
	audit_build(b, answer == BUILD_RESULTS_SAME ? "same" : "done", NULL);
	CLEANUP(mem_free) char *message = xasprintf("%s: %s", b->id, words[answer]);
	return answer_build(b, &ok, message);
}

// --- the document ---

struct value_count {
	size_t values;
	uint64_t bytes;   // of strings, without the log
	bool has_bad_log; // no string
	bool is_too_deep; // its values are not counted
};

static void count_value(void *ctx, const struct json_sax_value *v)
{
	struct value_count *c = ctx;
	bool is_log = v->depth == 1 && v->key[0].ptr && str_eq(v->key[0], STR("log"));
	c->values++;
	c->has_bad_log = c->has_bad_log || (is_log && v->kind != JSON_SAX_STRING && v->kind != JSON_SAX_NULL);
	c->bytes += is_log ? 0 : v->text.len;
	c->is_too_deep = c->is_too_deep ||
			 ((v->kind == JSON_SAX_OBJECT || v->kind == JSON_SAX_ARRAY) && v->depth == JSON_SAX_DEPTH);
}

// Before the document becomes a tree, which takes up to a hundred times its size.
static int check_document(struct str text, struct err *e)
{
	CLEANUP(arena_release) struct arena room = {0};
	struct value_count count = {0};
	bool is_cut;
	if (json_sax_read(text, &room, count_value, &count, &is_cut, e) < 0)
		return -1;
	if (count.is_too_deep)
		return err_set(e, ERR_INVALID, "build result: it is nested too deeply");
	if (count.has_bad_log)
		return err_set(e, ERR_INVALID, "build result: log is not valid");
	if (count.values > LIMIT_RESULT_VALUES || count.bytes > LIMIT_RESULT_TEXT)
		return err_set(e, ERR_LIMIT, "build result: more than %d values, or %d bytes of text beside the log",
			LIMIT_RESULT_VALUES, LIMIT_RESULT_TEXT);
	return 0;
}

static int check_place(const struct sent_build *b, struct err *e)
{
	const struct results_attempt *a = &b->attempt;
	const struct profile *p = &b->platform->profile;
	if (strcmp(a->platform, b->platform->name) != 0)
		return err_set(e, ERR_INVALID, "build result: its platform is %s, and it was sent to %s", a->platform,
			b->platform->name);
	for (size_t i = 0; i < p->environment_count; i++) {
		CLEANUP(buf_release) struct buf name;
		buf_init(&name, LIMIT_NOTE);
		python_print(&p->environment[i].python, &name);
		if (str_eq(buf_view(&name), str_from(a->python)))
			return 0;
	}
	return p->environment_count
		       ? err_set(e, ERR_INVALID, "build result: %s has no Python %s", a->platform, a->python)
		       : 0;
}

static int read_document(struct sent_build *b, struct err *e)
{
	struct str text = buf_view(&b->body);
	if (check_document(text, e) < 0)
		return -1;
	b->document = jsondoc_read(text, e);
	if (!b->document || results_json_read(b->document, &b->attempt, &b->text, &b->log, e) < 0)
		return -1;
	b->project = xstrdup(b->attempt.project);
	b->id = xstrdup(b->attempt.id);
	b->subject = xasprintf("%s, Python %s: %s", b->attempt.version, b->attempt.python,
		results_result_name[b->attempt.result]);
	return check_place(b, e);
}

// --- the body handler ---

// All documents that arrive at once have a limit, since they are in memory.
static int count_bytes(struct sent_build *b, size_t bytes, struct err *e)
{
	if (b->body.len + bytes > LIMIT_RESULT_DOCUMENT)
		return err_set(e, ERR_LIMIT, "build result: more than %d bytes", LIMIT_RESULT_DOCUMENT);
	uint64_t before = atomic_fetch_add(&b->context->build_bytes, bytes);
	b->counted += bytes;
	if (before + bytes > LIMIT_RESULTS_ARRIVING)
		return err_set(e, ERR_BUSY, "too many build results arrive at once: try again");
	return 0;
}

static struct reply *take_build_bytes(struct body_handler *r, struct str bytes)
{
	struct err e = ERR_INIT;
	struct sent_build *b = (struct sent_build *)r;
	if (count_bytes(b, bytes.len, &e) < 0)
		return build_failed(b, &e);
	buf_str(&b->body, bytes);
	return NULL;
}

// The token may be for other projects, and may have been revoked while the document arrived.
static struct reply *check_project_right(struct sent_build *b)
{
	const struct request sender = {.peer = b->peer, .header = {[HEADER_AUTHORIZATION] = b->authorization}};
	struct reply *refusal = auth_check(b->context, &sender, TOKEN_UPLOAD, b->platform->name, b->project, NULL);
	if (refusal)
		audit_build(b, "refused", "the token is not for this project, or counts no more");
	return refusal;
}

static struct reply *end_build(struct body_handler *r)
{
	struct err e = ERR_INIT;
	struct sent_build *b = (struct sent_build *)r;
	enum build_results_answer answer;
	if (read_document(b, &e) < 0)
		return build_failed(b, &e);
	struct reply *refusal = check_project_right(b);
	if (refusal)
		return refusal;
	const struct config *c = &server_context_site(b->context)->config;
	if (build_results_record(b->context->build_results, c, &b->attempt, b->log, &answer, &e) < 0)
		return build_failed(b, &e);
	return build_recorded(b, answer);
}

static void sent_build_free(struct body_handler *r)
{
	struct sent_build *b = (struct sent_build *)r;
	atomic_fetch_sub(&b->context->build_bytes, b->counted);
	audit_close(b->audit);
	jsondoc_cleanup(&b->document);
	arena_release(&b->text);
	buf_release(&b->body);
	free(b->peer);
	free(b->authorization);
	free(b->token_name);
	free(b->project);
	free(b->id);
	free(b->subject);
	free(b);
}

static const struct body_handler_ops build_ops = {.take = take_build_bytes, .end = end_build, .free = sent_build_free};

// A form of another site can send text/plain with a browser's password, but not this type.
static int check_type(const struct request *r, struct err *e)
{
	struct str type = str_from(r->header[HEADER_CONTENT_TYPE] ? r->header[HEADER_CONTENT_TYPE] : "");
	if (!str_eq_nocase(str_trim(str_cut(&type, ';')), STR("application/json")))
		return err_set(e, ERR_INVALID, "a build result is sent as application/json");
	if (request_content_length(r) > LIMIT_RESULT_DOCUMENT)
		return err_set(e, ERR_LIMIT, "build result: more than %d bytes", LIMIT_RESULT_DOCUMENT);
	return 0;
}

// The audit log is opened before anything is accepted: each further answer must be logged. Requests without a token,
// and those that auth answers with 429, write no line: the log must not fill the disk.
static struct reply *prepare_build(struct sent_build *b, const struct request *r)
{
	struct err e = ERR_INIT;
	CLEANUP(reply_cleanup)
	struct reply *refusal = auth_check(b->context, r, TOKEN_UPLOAD, b->platform->name, NULL, &b->token_name);
	if (refusal && (refusal->status == 429 || (!b->token_name && (refusal->status != 401 || !b->authorization))))
		return STEAL_PTR(refusal);
	if (audit_open(b->context->audit_path, &b->audit, &e) < 0)
		return build_failed(b, &e);
	if (refusal) {
		audit_build(b, "refused", "no token that may upload here");
		return STEAL_PTR(refusal);
	}
	return check_type(r, &e) < 0 ? build_failed(b, &e) : NULL;
}

struct body_handler *builds_receive(struct server_context *s, const struct route_match *match, struct reply **refusal)
{
	const struct request *r = match->request;
	const struct platform *p = site_platform(server_context_site(s), match->view);
	if (!p) {
		struct reply *refused = auth_unknown(s, r, TOKEN_UPLOAD, match->view, NULL);
		*refusal = refused ? refused : server_context_not_found(s, "no such platform");
		return NULL;
	}
	struct sent_build *b = xcalloc(1, sizeof(*b));
	b->handler.ops = &build_ops;
	b->context = s;
	b->platform = p;
	b->wants_json = negotiate_wants_json(r->header[HEADER_ACCEPT]);
	b->peer = xstrdup(r->peer);
	b->authorization = r->header[HEADER_AUTHORIZATION] ? xstrdup(r->header[HEADER_AUTHORIZATION]) : NULL;
	buf_init(&b->body, LIMIT_RESULT_DOCUMENT);
	*refusal = prepare_build(b, r);
	if (!*refusal)
		return &b->handler;
	sent_build_free(&b->handler);
	return NULL;
}
