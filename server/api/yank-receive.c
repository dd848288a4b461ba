// SPDX-License-Identifier: Apache-2.0
#include "server/api/yank-receive.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/domain/text/mark.h"
#include "lib/os/clock.h"
#include "lib/state/publish/yank-files.h"
#include "server/core/auth.h"
#include "server/core/rate-limit.h"
#include "server/api/posted-object.h"
#include "server/api/view-post.h"

static const char *const keys[] = {"select", "platform", "reason", "undo", NULL};
static const struct view_post_limits limits = {"yank", LIMIT_YANK, LIMIT_YANK_VALUES, keys};

struct sent_yank {
	struct view_post post; // first; its grant is of the right yank
	struct token_grant read;
	struct jsondoc *json;
	const char **select;
	struct yank_request request;
	struct yank_files files;
};

// --- what the token may ---

static bool may_know(void *ctx, const struct platform *p, const char *project)
{
	const struct sent_yank *x = ctx;
	return !p->is_private || token_grant_has(&x->read, p->name, project);
}

static bool may_yank(void *ctx, const struct platform *p, const char *project)
{
	const struct sent_yank *x = ctx;
	return token_grant_has(&x->post.grant, p->name, project);
}

// Each file counts as a record of evidence, and a request as a promotion does: the audit log has a line of each file.
static int take_turns(struct sent_yank *x, size_t tries, int64_t *wait_ms, struct err *e)
{
	struct rate_limit *limit = x->post.sender.context->evidence_limit;
	*wait_ms = limit ? rate_limit_take(limit, x->post.grant.token[0].id, (unsigned)tries, clock_ms()) : 0;
	return *wait_ms ? err_set(e, ERR_BUSY, "the token has yanked too much in the last hour") : 0;
}

// --- the document ---

static int read_reason(const struct posted_object *p, struct yank_request *r, struct err *e)
{
	if (posted_object_line(p, "reason", LIMIT_REASON, &r->reason, e) < 0)
		return -1;
	if (!r->reason && !r->undo)
		return err_set(e, ERR_INVALID, "yank: \"reason\" is missing: clients and the audit log show it");
	if (r->reason && mark_is_from_upstream(str_from(r->reason)))
		return err_set(e, ERR_INVALID, "yank: \"reason\" has the words that mark a yank of upstream");
	return 0;
}

static int read_yank(struct sent_yank *x, struct err *e)
{
	struct yank_request *r = &x->request;
	x->json = jsondoc_read(buf_view(&x->post.body), e);
	const struct posted_object p = {limits.what, x->json};
	if (!x->json || posted_object_select(&p, LIMIT_YANK_SELECTS, &x->select, &r->selects, e) < 0 ||
		posted_object_line(&p, "platform", LIMIT_FILE_NAME, &r->platform, e) < 0 ||
		posted_object_flag(&p, "undo", &r->undo, e) < 0 || read_reason(&p, r, e) < 0)
		return -1;
	if (!r->selects)
		return err_set(e, ERR_INVALID, "yank: \"select\" is missing");
	r->select = x->select;
	r->who = x->post.sender.token_name;
	r->peer = x->post.sender.peer;
	r->sees = may_know;
	r->may = may_yank;
	r->ctx = x;
	x->post.sender.action = yank_files_action[r->undo];
	return 0;
}

// --- answers ---

static struct reply *refuse_yank(struct sent_yank *x, int64_t wait_ms, const struct err *why)
{
	static const struct error_status none = {.status = 404, .title = "Not Found"};
	if (wait_ms)
		return view_post_too_many(&x->post, wait_ms, why);
	return why->kind == ERR_NOT_FOUND ? view_post_refused(&x->post, &none, NULL, why)
					  : view_post_failed(&x->post, NULL, why);
}

static struct reply *answer_yank(const struct sent_yank *x)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
	CLEANUP(buf_release) struct buf text;
	struct jsondoc *list = jsondoc_array();
	buf_init(&text, SIZE_MAX / 2);
	for (size_t i = 0; i < x->files.files; i++) {
		const struct yank_file *f = &x->files.file[i];
		struct jsondoc *one = jsondoc_object();
		jsondoc_put_str(one, "platform", f->platform->name);
		jsondoc_put_str(one, "project", f->project);
		jsondoc_put_str(one, "filename", f->name);
		jsondoc_put_bool(one, "waits_for_release", store_is_split(f->platform));
		jsondoc_add(list, one);
	}
	jsondoc_put_str(doc, "action", yank_files_action[x->request.undo]);
	jsondoc_put(doc, "files", list);
	jsondoc_write(doc, 0, &text);
	struct reply *reply = reply_new(200, "application/json", blob_from_buf(&text));
	reply_header(reply, "Cache-Control", "no-store");
	return reply;
}

// --- the body handler ---

static int choose_files(struct sent_yank *x, struct catalog *c, struct err *e)
{
	struct server_context *s = x->post.sender.context;
	catalog_limit(c, s->search_ms);
	int result = yank_files_choose(&x->request, &server_context_site(s)->store, c, &x->files, e);
	catalog_limit(c, 0);
	if (result < 0 && e->kind == ERR_TIME)
		return err_set(e, ERR_BUSY, "it takes too long to find these files: name fewer of them");
	return result;
}

static int run_yank(struct sent_yank *x, int64_t *wait_ms, struct err *e)
{
	struct server_context *s = x->post.sender.context;
	struct catalog_lease lease;
	if (catalog_pool_take(s->catalog_pool, &lease, e) < 0)
		return -1;
	int result = choose_files(x, lease.catalog, e);
	if (result == 0)
		result = take_turns(x, x->files.files, wait_ms, e);
	if (result == 0)
		result = yank_files_check(&x->files, lease.catalog, e);
	if (result == 0)
		result = yank_files_mark(&x->request, &x->files, lease.catalog, x->post.sender.audit, e);
	catalog_pool_give(s->catalog_pool, &lease);
	return result;
}

static struct reply *end_yank(struct body_handler *handler)
{
	struct err e = ERR_INIT;
	int64_t wait_ms = 0;
	struct sent_yank *x = (struct sent_yank *)handler;
	if (atomic_load(&x->post.sender.context->is_stopping))
		return reply_text(503, "503 Service Unavailable: the server is stopping");
	struct reply *refusal = view_post_check_again(&x->post, TOKEN_YANK, NULL);
	if (refusal)
		return refusal;
	const struct request sender = upload_sender_request(&x->post.sender);
	auth_read_grant(x->post.sender.context, &sender, &x->read);
	if (view_post_check_body(&x->post, &limits, &e) < 0 || read_yank(x, &e) < 0 ||
		take_turns(x, LIMIT_PROMOTE_COST, &wait_ms, &e) < 0 || run_yank(x, &wait_ms, &e) < 0)
		return refuse_yank(x, wait_ms, &e);
	return answer_yank(x);
}

static struct reply *take_yank_bytes(struct body_handler *r, struct str bytes)
{
	return view_post_take(&((struct sent_yank *)r)->post, bytes, &limits);
}

static void sent_yank_free(struct body_handler *r)
{
	struct sent_yank *x = (struct sent_yank *)r;
	view_post_release(&x->post);
	token_grant_release(&x->read);
	yank_files_release(&x->files);
	jsondoc_cleanup(&x->json);
	free(x->select);
	free(x);
}

static const struct body_handler_ops yank_ops = {
	.take = take_yank_bytes, .end = end_yank, .free = sent_yank_free};

struct body_handler *yank_receive(struct server_context *s, const struct route_match *match, struct reply **refusal)
{
	struct sent_yank *x = xcalloc(1, sizeof(*x));
	view_post_begin(&x->post, &yank_ops, s, match->request, yank_files_action[0], &limits);
	*refusal = view_post_admit(&x->post, match->request, TOKEN_YANK, NULL, &limits);
	if (!*refusal)
		return &x->post.handler;
	sent_yank_free(&x->post.handler);
	return NULL;
}
