// SPDX-License-Identifier: Apache-2.0
#include "server/api/promote-receive.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/os/clock.h"
#include "server/core/auth.h"
#include "server/core/rate-limit.h"
#include "server/api/evidence-receive.h"
#include "server/api/promote-document.h"
#include "server/api/view-post.h"
#include "server/http/metrics.h"

static const struct view_post_limits limits = {
	"promotion", LIMIT_EVIDENCE, LIMIT_PROMOTE_VALUES, promote_document_keys};

struct sent_promotion {
	struct view_post post; // first; its grant is of the right promote
	char *view;
	struct promote_document document;
	struct token_grant override, evidence, read;
	struct buf evidence_views;
	struct promote_answer answer;
};

// --- what the token may promote ---

// The token has the right promote, that to override where it overrides, and may know of the file.
static bool may_promote(void *ctx, const char *platform, const char *project)
{
	const struct sent_promotion *x = ctx;
	const struct site *site = server_context_site(x->post.sender.context);
	const struct platform *p = site_platform(site, str_from(platform));
	return token_grant_has(&x->post.grant, platform, project) &&
	       (!x->document.request.override || token_grant_has(&x->override, platform, project)) && p &&
	       (!p->is_private || token_grant_has(&x->read, platform, project));
}

// A promotion names the view's platforms. So the token may read something of each private one.
static bool sees_view(const struct view *v, const struct token_grant *read)
{
	for (size_t i = 0; i < v->platform_count; i++)
		if (v->platform[i]->is_private && !token_grant_has(read, v->platform[i]->name, NULL))
			return false;
	return true;
}

// The view of the path, if the client may know of it, and it has a membership. NULL: *refusal is the answer.
static const struct view *find_promoted_view(struct server_context *s, const struct route_match *match,
	struct reply **refusal)
{
	CLEANUP(token_grant_release) struct token_grant read = {0};
	const struct view *v = match->view.len ? site_view(match->site, match->view) : NULL;
	auth_read_grant(s, match->request, &read);
	if (v && !sees_view(v, &read))
		v = NULL;
	*refusal = v ? NULL : auth_unknown(s, match->request, TOKEN_READ, match->view, NULL);
	if (!v && !*refusal)
		*refusal = server_context_not_found_in(s, match->site->has_private, "no such view");
	if (v && !v->membership) {
		*refusal = reply_text(400, "400 Bad Request: %s has no \"from\": it shows all files of its platforms",
			v->name ? v->name : "the default view");
		return NULL;
	}
	return v;
}

// --- the evidence in the document ---

static int check_given_evidence(struct sent_promotion *x, int64_t *wait_ms, struct err *e)
{
	const struct promote_request *r = &x->document.request;
	for (size_t i = 0; i < r->evidences; i++) {
		CLEANUP(buf_release) struct buf views;
		buf_init(&views, LIMIT_TOKENS);
		if (evidence_receive_check(x->post.sender.context, &x->evidence, &r->evidence[i], x->document.bytes[i],
			    &views, wait_ms, e) < 0)
			return -1;
		if (i && !str_eq(buf_view(&views), buf_view(&x->evidence_views)))
			return err_set(e, ERR_DENIED, "the records count for different views: send them before");
		buf_clear(&x->evidence_views);
		buf_str(&x->evidence_views, buf_view(&views));
	}
	return 0;
}

// A token may promote as often as it may send evidence, since the audit log has each refused file.
static int64_t take_promotion_turn(const struct sent_promotion *x, size_t refused)
{
	struct rate_limit *limit = x->post.sender.context->evidence_limit;
	unsigned tries = promote_document_tries(refused);
	return limit ? rate_limit_take(limit, x->post.grant.token[0].id, tries, clock_ms()) : 0;
}

// The further rights that this document needs. NULL: the token has them.
static struct reply *check_further_rights(struct sent_promotion *x)
{
	CLEANUP(mem_free) char *who = NULL, *same = NULL;
	struct server_context *s = x->post.sender.context;
	const struct promote_request *r = &x->document.request;
	const struct request sender = upload_sender_request(&x->post.sender);
	struct reply *refusal = NULL;
	if (r->override)
		refusal = auth_grant(s, &sender, TOKEN_OVERRIDE, x->view, &x->override, &who);
	if (!refusal && r->evidences)
		refusal = auth_grant(s, &sender, TOKEN_EVIDENCE, NULL, &x->evidence, &same);
	auth_read_grant(s, &sender, &x->read);
	if (refusal)
		upload_sender_audit(&x->post.sender, (struct audit_entry){.result = "refused",
							     .reason = "the token may not override, or send evidence"});
	return refusal;
}

// --- answers ---

// As the exit status of the command: a promotion of which a part was refused is no success, for curl -f either.
static unsigned status_of_answer(const struct sent_promotion *x)
{
	return x->answer.count[PROMOTE_REFUSED] || x->answer.count[PROMOTE_HELD] ? 409 : 200;
}

static struct reply *answer_promotion(struct sent_promotion *x)
{
	const struct promote_request *r = &x->document.request;
	struct metrics *m = x->post.sender.context->metrics;
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, SIZE_MAX / 2);
	if (!r->dry_run) {
		metrics_add(m, METRIC_PROMOTED_FILES, x->answer.count[PROMOTE_DONE]);
		metrics_add(m, METRIC_PROMOTION_REFUSED_FILES, x->answer.count[PROMOTE_REFUSED]);
	}
	size_t left_out = promote_answer_cut(&x->answer, LIMIT_PROMOTE_ROWS);
	promote_write_json(&x->answer, x->view, r->dry_run, &text);
	struct reply *reply = reply_new(status_of_answer(x), "application/json", blob_from_buf(&text));
	reply_header(reply, "Cache-Control", "no-store");
	if (left_out)
		reply_header(reply, "Wheelcache-Rows-Left-Out", "%zu", left_out);
	return reply;
}

static struct reply *refuse_promotion(struct sent_promotion *x, int64_t wait_ms, const struct err *why)
{
	return wait_ms ? view_post_too_many(&x->post, wait_ms, why) : view_post_failed(&x->post, NULL, why);
}

// --- the body handler ---

static int run_promotion(struct sent_promotion *x, struct err *e)
{
	struct server_context *s = x->post.sender.context;
	struct promote_request *r = &x->document.request;
	struct catalog_lease lease;
	r->to = x->view;
	r->by = x->post.sender.token_name;
	r->address = x->post.sender.peer;
	r->evidence_views = x->evidence_views.data;
	r->may = may_promote;
	r->may_ctx = x;
	r->hooks = s->view_hooks;
	r->cpu_ms = LIMIT_PROMOTE_CPU_MS;
	if (catalog_pool_take(s->catalog_pool, &lease, e) < 0)
		return -1;
	catalog_limit(lease.catalog, LIMIT_PROMOTE_MS);
	int result = promote_run(server_context_site(s), lease.catalog, x->post.sender.audit, r, clock_wall_seconds(),
		&x->answer, e);
	catalog_limit(lease.catalog, 0);
	catalog_pool_give(s->catalog_pool, &lease);
	return result;
}

static struct reply *end_promotion(struct body_handler *handler)
{
	struct err e = ERR_INIT;
	int64_t wait_ms = 0;
	struct sent_promotion *x = (struct sent_promotion *)handler;
	if (atomic_load(&x->post.sender.context->is_stopping))
		return reply_text(503, "503 Service Unavailable: the server is stopping");
	struct reply *refusal = view_post_check_again(&x->post, TOKEN_PROMOTE, x->view);
	if (refusal)
		return refusal;
	if (view_post_check_body(&x->post, &limits, &e) < 0 ||
		promote_document_read(buf_view(&x->post.body), &x->document, &e) < 0)
		return refuse_promotion(x, 0, &e);
	refusal = check_further_rights(x);
	if (refusal)
		return refusal;
	wait_ms = take_promotion_turn(x, 0);
	if (wait_ms)
		err_set(&e, ERR_BUSY, "the token has promoted too much in the last hour");
	if (wait_ms || check_given_evidence(x, &wait_ms, &e) < 0 || run_promotion(x, &e) < 0)
		return refuse_promotion(x, wait_ms, &e);
	if (!x->document.request.dry_run && x->answer.count[PROMOTE_REFUSED])
		take_promotion_turn(x, x->answer.count[PROMOTE_REFUSED]);
	return answer_promotion(x);
}

static struct reply *take_promotion_bytes(struct body_handler *r, struct str bytes)
{
	return view_post_take(&((struct sent_promotion *)r)->post, bytes, &limits);
}

static void sent_promotion_free(struct body_handler *r)
{
	struct sent_promotion *x = (struct sent_promotion *)r;
	view_post_release(&x->post);
	promote_document_release(&x->document);
	promote_answer_release(&x->answer);
	token_grant_release(&x->override);
	token_grant_release(&x->evidence);
	token_grant_release(&x->read);
	buf_release(&x->evidence_views);
	free(x->view);
	free(x);
}

static const struct body_handler_ops promotion_ops = {
	.take = take_promotion_bytes, .end = end_promotion, .free = sent_promotion_free};

struct body_handler *promote_receive(struct server_context *s, const struct route_match *match, struct reply **refusal)
{
	struct sent_promotion *x = xcalloc(1, sizeof(*x));
	buf_init(&x->evidence_views, LIMIT_TOKENS);
	x->view = xstrndup(match->view.ptr, match->view.len);
	view_post_begin(&x->post, &promotion_ops, s, match->request, "promote", &limits);
	*refusal = view_post_admit(&x->post, match->request, TOKEN_PROMOTE, x->view, &limits);
	if (!*refusal && find_promoted_view(s, match, refusal))
		return &x->post.handler;
	sent_promotion_free(&x->post.handler);
	return NULL;
}
