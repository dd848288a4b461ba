// SPDX-License-Identifier: Apache-2.0
// What builders post: results of builds, and lists of rebuilds, of which they ask what is missing.
#include "server/api/handlers.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "auditor/rebuild/rebuild-set.h"
#include "lib/base/limits.h"
#include "lib/format/json-sax.h"
#include "lib/os/clock.h"
#include "lib/state/results/results-json.h"
#include "server/api/json-post.h"
#include "server/core/auth.h"
#include "server/core/build-results.h"
#include "server/pages/missing.h"

// --- a build result ---

struct sent_build {
	struct json_post post; // first
	struct results_attempt attempt; // its strings are borrowed from the document, and from the arena
	struct str log;
};

struct build_value_count {
	size_t values;
	uint64_t bytes;   // of strings, without the log
	bool has_bad_log; // no string
	bool is_too_deep; // its values are not counted
};

static void count_build_value(void *ctx, const struct json_sax_value *v)
{
	struct build_value_count *c = ctx;
	bool is_log = v->depth == 1 && v->key[0].ptr && str_eq(v->key[0], STR("log"));
	c->values++;
	c->has_bad_log = c->has_bad_log || (is_log && v->kind != JSON_SAX_STRING && v->kind != JSON_SAX_NULL);
	c->bytes += is_log ? 0 : v->text.len;
	c->is_too_deep = c->is_too_deep ||
			 ((v->kind == JSON_SAX_OBJECT || v->kind == JSON_SAX_ARRAY) && v->depth == JSON_SAX_DEPTH);
}

static int check_place(const struct results_attempt *a, const struct platform *platform, struct err *e)
{
	const struct profile *p = &platform->profile;
	if (strcmp(a->platform, platform->name) != 0)
		return err_set(e, ERR_INVALID, "build result: its platform is %s, and it was sent to %s", a->platform,
			platform->name);
	for (size_t i = 0; i < p->environment_count; i++) {
		CLEANUP(buf_release) struct buf name = buf_up_to(LIMIT_NOTE);
		python_print(&p->environment[i].python, &name);
		if (str_eq(buf_view(&name), str_from(a->python)))
			return 0;
	}
	return p->environment_count
		       ? err_set(e, ERR_INVALID, "build result: %s has no Python %s", a->platform, a->python)
		       : 0;
}

static int read_build(struct sent_build *b, struct err *e)
{
	struct json_post *p = &b->post;
	const struct results_attempt *a = &b->attempt;
	// The log may be large, the values beside it not.
	CLEANUP(arena_release) struct arena room = {0};
	struct build_value_count count = {0};
	bool is_cut;
	if (json_sax_read(buf_view(&p->body), &room, count_build_value, &count, &is_cut, e) < 0)
		return -1;
	if (count.is_too_deep)
		return err_set(e, ERR_INVALID, "build result: it is nested too deeply");
	if (count.has_bad_log)
		return err_set(e, ERR_INVALID, "build result: log is not valid");
	if (count.values > LIMIT_RESULT_VALUES || count.bytes > LIMIT_RESULT_TEXT)
		return err_set(e, ERR_LIMIT, "build result: more than %d values, or %d bytes of text beside the log",
			LIMIT_RESULT_VALUES, LIMIT_RESULT_TEXT);
	if (json_post_tree(p, e) < 0 ||
		results_json_read(p->json, &b->attempt, &p->arena, &b->log, e) < 0)
		return -1;
	p->project = a->project;
	p->id = a->id;
	p->file = arena_printf(&p->arena, "%s, Python %s: %s", a->version, a->python, results_result_name[a->result]);
	return check_place(a, p->sender.platform, e);
}

static struct reply *answer_build(const struct sent_build *b, enum build_results_answer answer)
{
	static const char *const words[] = {
		[BUILD_RESULTS_NEW] = "recorded",
		[BUILD_RESULTS_CHANGED] = "recorded in place of the running attempt",
		[BUILD_RESULTS_SAME] = "known already: nothing changed",
	};
	const struct json_post *p = &b->post;
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
	CLEANUP(mem_free) char *message = xasprintf("%s: %s", p->id, words[answer]);
	sender_audit(&p->sender, (struct audit_entry){.project = p->project,
					 .file = p->file,
					 .result = answer == BUILD_RESULTS_SAME ? "same" : "done"});
	jsondoc_set(doc, "message:s id:s", message, p->id);
	return json_post_answer(p, 200, message, doc);
}

static int run_build_result(struct json_post *p, struct reply **answer, struct err *e)
{
	struct sent_build *b = (struct sent_build *)p;
	struct server_context *s = p->sender.context;
	enum build_results_answer result;
	if (read_build(b, e) < 0)
		return -1;
	*answer = sender_check_project(&p->sender, p->project, (struct audit_entry){.project = p->project, .file = p->file});
	if (*answer)
		return 0;
	if (build_results_record(s->build_results, &server_context_site(s)->config, &b->attempt, b->log, &result, e) < 0)
		return -1;
	*answer = answer_build(b, result);
	return 0;
}

struct body_handler *builds_receive(struct server_context *s, const struct route_match *match, struct reply **refusal)
{
	static const struct json_post_kind kind = {
		.size = sizeof(struct sent_build),
		.action = "build-result",
		.right = TOKEN_UPLOAD,
		.what = "build result:",
		.one = "a build result",
		.many = "build results",
		.room_for = "more build results",
		.bytes = LIMIT_RESULT_DOCUMENT,
		.run = run_build_result,
	};
	return json_post_receive(&kind, s, match, refusal);
}

// --- a list of rebuilds ---

struct sent_rebuilds {
	struct json_post post; // first
	struct missing_query query;
};

static struct reply *refuse_list(struct json_post *p UNUSED, const struct err *why)
{
	const struct error_status *a = error_status(why->kind, ERROR_OF_UPLOAD);
	struct reply *r = reply_text(a->status, "%u %s: %s", a->status, a->title, why->msg);
	reply_header(r, "Cache-Control", "no-store");
	if (a->retry_after)
		reply_header(r, "Retry-After", "%u", a->retry_after);
	return r;
}

static int answer_list(const struct json_post *p, const struct missing_query *q, struct buf *out, struct err *e)
{
	struct catalog_lease reader;
	struct server_context *s = p->sender.context;
	if (catalog_pool_take(s->catalog_pool, &reader, e) < 0)
		return -1;
	int result = missing_query_json(s, reader.catalog, q, out, e);
	catalog_pool_give(s->catalog_pool, &reader);
	return result;
}

static int run_list(struct json_post *p, struct reply **answer, struct err *e)
{
	struct missing_query *q = &((struct sent_rebuilds *)p)->query;
	CLEANUP(rebuild_set_cleanup) struct rebuild_set *set = NULL;
	CLEANUP(buf_release) struct buf page = buf_up_to(MISSING_QUERY_PAGE);
	q->cpu_end = clock_thread_ms() + LIMIT_REBUILD_CPU_MS;
	if (rebuild_set_parse(buf_view(&p->body), &set, e) < 0)
		return -1;
	q->rebuild = set;
	if (answer_list(p, q, &page, e) == 0) {
		*answer = reply_json(200, &page);
		return 0;
	}
	err_prefix(e, "/-/missing/%s: ", q->platform->name);
	*answer = e->kind == ERR_BUSY ? refuse_list(p, e) : server_context_error(e);
	return 0;
}

// The right to upload, and on a private platform that to read. What is asked of a private platform, and in which order,
// is asked of a name that is none, too: no answer says to a client without the rights whether there is such a platform.
static struct reply *check_list_right(struct json_post *x, const struct route_match *match)
{
	struct server_context *s = x->sender.context;
	const struct platform *p = x->sender.platform = site_platform(match->site, match->platform);
	struct reply *refused =
		p && !p->is_private ? NULL : auth_unknown(s, match->request, TOKEN_READ, match->platform, NULL);
	if (refused)
		return refused;
	return p ? auth_check(s, match->request, TOKEN_UPLOAD, p->name, NULL, &x->sender.token_name)
		 : auth_unknown(s, match->request, TOKEN_UPLOAD, match->platform, NULL);
}

static struct reply *read_list_query(struct json_post *p, const struct route_match *match)
{
	struct missing_query *q = &((struct sent_rebuilds *)p)->query;
	struct page_query asked = {
		.page = &missing_page, .context = p->sender.context, .match = match, .site = match->site};
	struct reply *refused = page_read_arguments(&asked, match->request);
	return refused ? refused : missing_query_read(&asked, q);
}

struct body_handler *missing_receive(struct server_context *s, const struct route_match *match, struct reply **refusal)
{
	static const struct json_post_kind kind = {
		.size = sizeof(struct sent_rebuilds),
		.right = TOKEN_UPLOAD,
		.what = "the list of rebuilds has",
		.one = "a list of rebuilds",
		.many = "documents of builders",
		.bytes = LIMIT_REBUILDS_SENT,
		.check_right = check_list_right,
		.check = read_list_query,
		.run = run_list,
		.fail = refuse_list,
	};
	return json_post_receive(&kind, s, match, refusal);
}
