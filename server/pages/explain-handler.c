// SPDX-License-Identifier: Apache-2.0
#include "server/pages/explain-handler.h"

#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/domain/text/name.h"
#include "lib/os/clock.h"
#include "explainer/explain-losses.h"
#include "explainer/explain-membership.h"
#include "lib/state/upstream/upstream.h"
#include "explainer/explain.h"
#include "server/core/auth.h"
#include "server/core/build-results.h"
#include "server/core/named.h"
#include "lib/state/access/audit.h"
#include "server/pages/explain-page.h"
#include "server/pages/packed-reply.h"
#include "server/pages/page-frame.h"
#include "server/message/negotiate.h"
#include "server/upstream/name-guard.h"

struct explain_request {
	const struct view *view;
	const struct site *site;
	const struct request *request;
	struct server_context *context;
	struct catalog *catalog;
	struct buf project;  // normalised
	const char *version; // NULL: all
	struct named named; // of the view's platforms
	bool is_text, is_html;
	struct buf body;
};

static bool sees_names(void *ctx, const struct platform *p)
{
	const struct explain_request *x = ctx;
	return named_has(&x->named, p);
}

static bool may_read_view(void *ctx, const struct view *v)
{
	const struct explain_request *x = ctx;
	struct reply *refused = auth_read(x->context, x->request, v, x->project.data);
	if (refused)
		reply_unref(refused);
	return !refused;
}

static int write_explanation(void *ctx, const struct upstream_answer *answer, struct err *e)
{
	struct explain_request *x = ctx;
	struct name_presence here;
	if (name_guard_lookup(x->context, x->catalog, x->project.data, &here, e) < 0)
		return -1;
	CLEANUP(results_cleanup) struct results *results = NULL;
	struct err why = ERR_INIT;
	if (build_results_open(x->context->build_results, x->context->search_ms, &results, &why) < 0 &&
		why.kind != ERR_NOT_FOUND)
		log_error("%s", why.msg);
	CLEANUP(wheel_gate_cleanup) struct wheel_gate *gate = server_context_gate(x->context);
	CLEANUP(explain_membership_cleanup) struct explain_membership *membership = NULL;
	const struct explain_reader reader = {may_read_view, sees_names, x};
	if (explain_membership_new(x->site, x->view, x->catalog, x->project.data, clock_wall_seconds(), &reader,
		    &membership, e) < 0)
		return -1;
	const char *audit = x->named.platforms && x->context->audit ? x->context->audit->path : NULL;
	const struct explain_losses losses = {x->site, x->catalog, x->project.data, audit, &reader};
	CLEANUP(jsondoc_cleanup) struct jsondoc *lost = NULL;
	if (explain_losses_read(&losses, &lost, e) < 0)
		return -1;
	const struct explain_about about = {
		.view = x->view,
		.project = x->project.data,
		.version = x->version,
		.rule = name_rules_find(&server_context_site(x->context)->rules, x->project.data),
		.is_ours = name_guard_is_recorded(x->context, x->project.data),
		.is_hidden = name_owner_is_hidden(&here),
		.results = results,
		.gate = gate,
		.audit_path = audit,
		.reader = &reader,
		.put_file = explain_membership_put,
		.put_file_ctx = membership,
		.lost = lost,
	};
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = explain(&about, x->catalog, answer, e);
	if (!doc)
		return -1;
	const struct html_frame frame = page_frame(x->context, x->catalog, x->request->path, HTML_SECTION_NONE);
	if (x->is_html)
		explain_page_write(&frame, doc, &x->body);
	else if (x->is_text)
		explain_text(doc, &x->body);
	else
		jsondoc_write(doc, 2, &x->body);
	return x->body.failed ? err_set(e, ERR_LIMIT, "explain: more than %d bytes", LIMIT_PAGE) : 0;
}

static struct reply *explain_reply(struct server_context *s, struct explain_request *x)
{
	struct err e = ERR_INIT;
	const struct upstream_answer unasked = {.result = UPSTREAM_NEVER_ASKED, .project = x->project.data, .why = ""};
	int result = s->upstream ? upstream_load_cached_any(s->upstream, x->catalog, x->project.data, write_explanation,
					   x, &e)
				 : write_explanation(x, &unasked, &e);
	if (result < 0 && (e.kind == ERR_NOT_FOUND || e.kind == ERR_INVALID))
		return server_context_not_found_in(s, x->view->is_private, "nothing is known of it");
	if (result < 0)
		return packed_reply_failed(&x->body, &e);
	return packed_reply(s, negotiate_coding(x->request->header[HEADER_ACCEPT_ENCODING]),
		x->is_html   ? "text/html; charset=utf-8"
		: x->is_text ? "text/plain; charset=utf-8"
			     : "application/json",
		html_policy, &x->body, x->view->is_private || x->site->has_private || x->named.platforms);
}

static void explain_request_release(struct explain_request *x)
{
	named_release(&x->named);
	buf_release(&x->project);
	buf_release(&x->body);
}

struct reply *explain_handler_worker(struct server_context *s, struct catalog *c, const struct route_match *match)
{
	CLEANUP(explain_request_release)
	struct explain_request x = {
		.context = s, .catalog = c, .view = match->found_view, .site = match->site, .request = match->request};
	CLEANUP(mem_free) char *version = match->version.len ? xstrndup(match->version.ptr, match->version.len) : NULL;
	buf_init(&x.project, LIMIT_FILE_NAME);
	buf_init(&x.body, LIMIT_PAGE);
	x.body.meter = match->meter;
	x.version = version;
	x.is_text = match->request->format && strcmp(match->request->format, "text") == 0;
	x.is_html = !x.is_text && negotiate_data_html(match->request->header[HEADER_ACCEPT], match->request->format);
	if (name_is_valid(match->project))
		name_normalize(match->project, &x.project);
	if (site_is_incomplete(match->site, x.view))
		return server_context_not_filled();
	if (!x.project.len)
		return server_context_not_found_in(s, x.view->is_private, "no such project");
	named_find(s, match->request, (const struct platform *const *)x.view->platform, x.view->platform_count,
		x.project.data, &x.named);
	return explain_reply(s, &x);
}
