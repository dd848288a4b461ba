// SPDX-License-Identifier: Apache-2.0
#include "server/api/builds-receive.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/format/json-sax.h"
#include "lib/state/results/results-json.h"
#include "server/core/build-results.h"
#include "server/api/upload-sender.h"
#include "server/message/body-handler.h"
#include "server/message/error-status.h"

// One attempt that arrives.
struct sent_build {
	struct body_handler handler; // first
	struct upload_sender sender;
	struct buf body;
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
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
	jsondoc_put_str(doc, "message", message);
	if (b->id)
		jsondoc_put_str(doc, "id", b->id);
	return upload_sender_answer(&b->sender, a, message, doc);
}

static void audit_build(const struct sent_build *b, const char *result, const char *reason)
{
	upload_sender_audit(&b->sender,
		(struct audit_entry){.project = b->project, .file = b->subject, .result = result, .reason = reason});
}

// If the server is at fault, only the logs get the message, because it names our paths.
static struct reply *build_failed(const struct sent_build *b, const struct err *why)
{
	const struct error_status *answer = error_status(why->kind, ERROR_OF_UPLOAD);
	bool is_ours = answer->is_fault || why->kind == ERR_FULL;
	if (is_ours)
		log_error("build result of %s: %s", b->sender.platform->name,
			b->sender.platform->is_private ? "it failed, and the audit log says why" : why->msg);
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
	const struct profile *p = &b->sender.platform->profile;
	if (strcmp(a->platform, b->sender.platform->name) != 0)
		return err_set(e, ERR_INVALID, "build result: its platform is %s, and it was sent to %s", a->platform,
			b->sender.platform->name);
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

static int count_bytes(struct sent_build *b, size_t bytes, struct err *e)
{
	if (b->body.len + bytes > LIMIT_RESULT_DOCUMENT)
		return err_set(e, ERR_LIMIT, "build result: more than %d bytes", LIMIT_RESULT_DOCUMENT);
	if (!body_handler_keep(&b->handler, bytes))
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
	struct reply *refusal = upload_sender_check_project(&b->sender, b->project);
	if (refusal)
		audit_build(b, "refused", upload_sender_no_project);
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
	const struct config *c = &server_context_site(b->sender.context)->config;
	if (build_results_record(b->sender.context->build_results, c, &b->attempt, b->log, &answer, &e) < 0)
		return build_failed(b, &e);
	return build_recorded(b, answer);
}

static void sent_build_free(struct body_handler *r)
{
	struct sent_build *b = (struct sent_build *)r;
	jsondoc_cleanup(&b->document);
	arena_release(&b->text);
	buf_release(&b->body);
	upload_sender_release(&b->sender);
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

static struct reply *prepare_build(struct sent_build *b, const struct request *r)
{
	struct err e = ERR_INIT;
	struct reply *refusal = NULL;
	if (upload_sender_admit(&b->sender, r, &refusal, &e) < 0)
		return build_failed(b, &e);
	if (refusal)
		return refusal;
	return check_type(r, &e) < 0 ? build_failed(b, &e) : NULL;
}

struct body_handler *builds_receive(struct server_context *s, const struct route_match *match, struct reply **refusal)
{
	struct upload_sender sender;
	if (!upload_sender_init(&sender, s, match, "build-result", refusal))
		return NULL;
	struct sent_build *b = xcalloc(1, sizeof(*b));
	b->handler.ops = &build_ops;
	b->sender = sender;
	buf_init(&b->body, LIMIT_RESULT_DOCUMENT);
	*refusal = prepare_build(b, match->request);
	b->handler.token = b->sender.token_name;
	if (!*refusal)
		return &b->handler;
	sent_build_free(&b->handler);
	return NULL;
}
