// SPDX-License-Identifier: Apache-2.0
#include "server/pages/channel-handler.h"

#include "lib/base/limits.h"
#include "lib/os/clock.h"
#include "server/core/auth.h"
#include "server/core/named.h"
#include "server/pages/arguments.h"
#include "server/pages/channel-json.h"
#include "server/pages/channel-page.h"
#include "server/pages/packed-reply.h"
#include "server/pages/page-frame.h"

enum {
	PAGE_MOST = 64 << 20,
	CHANNEL_ROWS = 500, // unless the client says a limit
};

struct channel_request {
	struct channel_query query;
	struct named named;
	struct arguments arguments;
	bool is_json;
	enum page_coding coding;
	struct page_key key;
};

static void channel_request_release(struct channel_request *q)
{
	named_release(&q->named);
}

// Whether the client may read the view from which files are promoted: it may have a private platform that this one lacks.
static bool may_see_source(struct server_context *s, const struct route_match *match, const struct config_view *own)
{
	const struct view *source = own->from ? site_view(match->site, str_from(own->from)) : NULL;
	struct reply *refused = source && source->is_private ? auth_read(s, match->request, source, NULL) : NULL;
	if (refused)
		reply_unref(refused);
	return source && !refused;
}

static void make_channel_key(struct server_context *s, struct channel_request *q)
{
	const struct channel_query *p = &q->query;
	const struct page_readers readers = {.site = p->site,
		.platform = p->view->platform,
		.platforms = p->view->platform_count,
		.named = (const struct platform *const *)q->named.platform,
		.nameds = p->sees_names ? q->named.platforms : 0};
	page_key_make(&q->key, PAGE_CHANNEL, &readers,
		PAGE_VALUES(PAGE_NUMBER(p->may_see_source), PAGE_NUMBER(changes_read(s->changes)),
			PAGE_TEXT(str_from(p->view->name)), PAGE_NUMBER(p->limit), PAGE_NUMBER(q->is_json),
			PAGE_NUMBER(q->coding), PAGE_TEXT(str_from(p->project))));
}

// A reply unless the request can be answered.
static struct reply *read_channel_request(struct server_context *s, const struct route_match *match,
	struct channel_request *q)
{
	const struct view *view = match->found_view;
	const struct request *r = match->request;
	static const enum argument_form forms[ARGUMENT_COUNT] = {[ARGUMENT_PROJECT] = FORM_PROJECT_GLOB};
	const struct config_view *own = view->name ? config_view(&match->site->config, view->name) : NULL;
	if (!own || match->at)
		return server_context_not_found_in(s, view->is_private,
			"no channel: the configuration has no such view");
	if (site_is_incomplete(match->site, view))
		return server_context_not_filled();
	struct reply *refused = arguments_read(r, forms, &q->arguments);
	if (refused)
		return refused;
	q->is_json = negotiate_page_json(r->header[HEADER_ACCEPT], r->format);
	q->coding = negotiate_coding(r->header[HEADER_ACCEPT_ENCODING]);
	q->query = (struct channel_query){
		.site = match->site,
		.view = view,
		.may_see_source = may_see_source(s, match, own),
		.project = q->arguments.text[ARGUMENT_PROJECT],
		.limit = arguments_limit(&q->arguments, CHANNEL_ROWS, LIMIT_CHANNEL_ROWS),
		.now = clock_wall_seconds(),
	};
	named_find(s, r, (const struct platform *const *)view->platform, view->platform_count, NULL, &q->named);
	q->query.sees_names = named_has_view(&q->named, view);
	make_channel_key(s, q);
	return NULL;
}

struct reply *channel_handler_inline(struct server_context *s, const struct route_match *match)
{
	CLEANUP(channel_request_release) struct channel_request q = {0};
	struct reply *refused = read_channel_request(s, match, &q);
	return refused ? refused : pagecache_get(s->pagecache, &q.key);
}

static int make_channel_page(struct server_context *s, struct catalog *c, const void *query, struct buf *out,
	struct err *e)
{
	const struct channel_request *q = query;
	CLEANUP(channel_data_release) struct channel_data data = {0};
	if (channel_data_read(c, &q->query, &data, e) < 0)
		return -1;
	const struct html_frame frame = page_frame(s, c, "/-/channel/VIEW/", HTML_SECTION_NONE);
	return q->is_json ? channel_json_write(&data, out, e) : channel_page_write(&frame, &data, &q->query, out, e);
}

struct reply *channel_handler_worker(struct server_context *s, struct catalog *c, const struct route_match *match)
{
	CLEANUP(channel_request_release) struct channel_request q = {0};
	struct reply *refused = read_channel_request(s, match, &q);
	if (refused)
		return refused;
	const struct costly_page page = {.key = &q.key,
		.coding = q.coding,
		.type = q.is_json ? "application/json" : "text/html; charset=utf-8",
		.policy = html_policy,
		.is_private = q.query.view->is_private || q.query.site->has_private || q.query.sees_names,
		.path = "/-/channel/",
		.name = q.query.view->name,
		.most = PAGE_MOST};
	return packed_reply_costly(s, c, &page, match, make_channel_page, &q);
}
