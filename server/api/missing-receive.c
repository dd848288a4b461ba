// SPDX-License-Identifier: Apache-2.0
#include "server/api/missing-receive.h"

#include <stdlib.h>

#include "lib/base/limits.h"
#include "auditor/rebuild/rebuild-set.h"
#include "lib/os/clock.h"
#include "server/core/auth.h"
#include "server/handlers/missing-handler.h"
#include "server/message/body-handler.h"
#include "server/message/error-status.h"

// A list that arrives.
struct sent_rebuilds {
	struct body_handler handler; // first
	struct server_context *context;
	struct missing_query query;
	struct buf body;
	char *token_name;
};

static struct reply *refuse_list(const struct err *why)
{
	const struct error_status *a = error_status(why->kind, ERROR_OF_UPLOAD);
	struct reply *r = reply_text(a->status, "%u %s: %s", a->status, a->title, why->msg);
	reply_header(r, "Cache-Control", "no-store");
	if (a->retry_after)
		reply_header(r, "Retry-After", "%u", a->retry_after);
	return r;
}

// --- the body handler ---

static struct reply *take_list_bytes(struct body_handler *r, struct str bytes)
{
	struct err e = ERR_INIT;
	struct sent_rebuilds *x = (struct sent_rebuilds *)r;
	bool has_room = body_handler_keep(r, bytes.len);
	buf_str(&x->body, bytes);
	if (x->body.failed)
		err_set(&e, ERR_LIMIT, "the list of rebuilds has more than %d bytes", LIMIT_REBUILDS_SENT);
	else if (!has_room)
		err_set(&e, ERR_BUSY, "too many documents of builders arrive at once: try again");
	return e.kind == ERR_NONE ? NULL : refuse_list(&e);
}

static int answer_list(struct sent_rebuilds *x, struct buf *out, struct err *e)
{
	struct catalog_lease reader;
	if (catalog_pool_take(x->context->catalog_pool, &reader, e) < 0)
		return -1;
	int result = missing_query_answer(x->context, reader.catalog, &x->query, out, e);
	catalog_pool_give(x->context->catalog_pool, &reader);
	return result;
}

static struct reply *end_list(struct body_handler *r)
{
	struct err e = ERR_INIT;
	struct sent_rebuilds *x = (struct sent_rebuilds *)r;
	CLEANUP(rebuild_set_cleanup) struct rebuild_set *set = NULL;
	CLEANUP(buf_release) struct buf page;
	buf_init(&page, MISSING_QUERY_PAGE);
	x->query.cpu_end = clock_thread_ms() + LIMIT_REBUILD_CPU_MS;
	if (rebuild_set_parse(buf_view(&x->body), &set, &e) < 0)
		return refuse_list(&e);
	x->query.rebuild = set;
	if (answer_list(x, &page, &e) < 0) {
		err_prefix(&e, "/-/missing/%s: ", x->query.platform->name);
		return e.kind == ERR_BUSY ? refuse_list(&e) : server_context_error(&e);
	}
	struct reply *reply = reply_new(200, "application/json", blob_from_buf(&page));
	reply_header(reply, "Cache-Control", "no-store");
	return reply;
}

static void sent_rebuilds_free(struct body_handler *r)
{
	struct sent_rebuilds *x = (struct sent_rebuilds *)r;
	buf_release(&x->body);
	free(x->token_name);
	free(x);
}

static const struct body_handler_ops list_ops = {.take = take_list_bytes, .end = end_list, .free = sent_rebuilds_free};

// A form of another site can send text/plain with a browser's password, but not this type.
static struct reply *check_list_type(const struct request *r)
{
	struct err e = ERR_INIT;
	struct str type = str_from(r->header[HEADER_CONTENT_TYPE] ? r->header[HEADER_CONTENT_TYPE] : "");
	if (!str_eq_nocase(str_trim(str_cut(&type, ';')), STR("application/json")))
		err_set(&e, ERR_INVALID, "a list of rebuilds is sent as application/json");
	else if (request_content_length(r) > LIMIT_REBUILDS_SENT)
		err_set(&e, ERR_LIMIT, "the list of rebuilds has more than %d bytes", LIMIT_REBUILDS_SENT);
	return e.kind == ERR_NONE ? NULL : refuse_list(&e);
}

// The right to upload, and on a private platform that to read. What is asked of a private platform, and in which order, is
// asked of a name that is none, too: no answer says to a client without the rights whether there is such a platform.
static struct reply *check_list_right(struct server_context *s, const struct route_match *match, char **who)
{
	const struct platform *p = site_platform(match->site, match->view);
	struct reply *refused =
		p && !p->is_private ? NULL : auth_unknown(s, match->request, TOKEN_READ, match->view, NULL);
	if (refused)
		return refused;
	return p ? auth_check(s, match->request, TOKEN_UPLOAD, p->name, NULL, who)
		 : auth_unknown(s, match->request, TOKEN_UPLOAD, match->view, NULL);
}

struct body_handler *missing_receive(struct server_context *s, const struct route_match *match, struct reply **refusal)
{
	struct sent_rebuilds *x = xcalloc(1, sizeof(*x));
	x->handler.ops = &list_ops;
	x->context = s;
	*refusal = check_list_right(s, match, &x->token_name);
	x->handler.token = x->token_name;
	if (!*refusal)
		*refusal = missing_query_read(s, match, &x->query);
	if (!*refusal)
		*refusal = check_list_type(match->request);
	x->query.is_html = false;
	buf_init(&x->body, LIMIT_REBUILDS_SENT);
	if (!*refusal)
		return &x->handler;
	sent_rebuilds_free(&x->handler);
	return NULL;
}
