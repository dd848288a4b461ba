// SPDX-License-Identifier: Apache-2.0
#include "server/handlers/channel-handler.h"

#include <inttypes.h>
#include <stdio.h>

#include "lib/base/decimal.h"
#include "lib/base/limits.h"
#include "lib/os/clock.h"
#include "server/core/auth.h"
#include "server/handlers/channel-json.h"
#include "server/handlers/channel-page.h"
#include "server/handlers/packed-reply.h"
#include "server/handlers/page-frame.h"

enum {
	PAGE_MOST = 64 << 20,
	CHANNEL_ROWS = 500, // unless the client says a limit
	KEY_SIZE = 2 * LIMIT_FILE_NAME + 128,
};

struct channel_request {
	struct channel_query query;
	char project[REQUEST_ARGUMENT_SIZE];
	bool is_json;
	enum page_coding coding;
	char key[KEY_SIZE]; // in the page cache, with the change count; the keys of pages begin with a digit
};

static uint64_t read_row_limit(const char *text)
{
	uint64_t limit = 0;
	struct str digits = str_from(text);
	decimal_cut(&digits, UINT64_MAX, &limit);
	return !limit ? CHANNEL_ROWS : limit < LIMIT_CHANNEL_ROWS ? limit : LIMIT_CHANNEL_ROWS;
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

// A reply unless the request can be answered.
static struct reply *read_channel_request(struct server_context *s, const struct route_match *match,
	struct channel_request *q)
{
	const struct view *view = match->found_view;
	const struct request *r = match->request;
	char limit[REQUEST_ARGUMENT_SIZE];
	const struct config_view *own = view->name ? config_view(&match->site->config, view->name) : NULL;
	if (!own || match->at)
		return server_context_not_found_in(s, view->is_private,
			"no channel: the configuration has no such view");
	if (site_is_incomplete(match->site, view))
		return server_context_not_filled();
	if (!request_read_argument(r, ARGUMENT_PROJECT, q->project) || !request_read_argument(r, ARGUMENT_LIMIT, limit))
		return reply_text(400, "400 Bad Request: a part of the query is too long");
	q->is_json = negotiate_page_json(r->header[HEADER_ACCEPT], r->format);
	q->coding = negotiate_coding(r->header[HEADER_ACCEPT_ENCODING]);
	q->query = (struct channel_query){
		.site = match->site,
		.view = view,
		.may_see_source = may_see_source(s, match, own),
		.project = q->project,
		.limit = read_row_limit(limit),
		.now = clock_wall_seconds(),
	};
	snprintf(q->key, sizeof(q->key), "c/%u/%s/%" PRIu64 "/%d%d%d/%s", (unsigned)changes_read(s->changes),
		view->name, q->query.limit, q->query.may_see_source, q->is_json, q->coding, q->project);
	return NULL;
}

struct reply *channel_handler_inline(struct server_context *s, const struct route_match *match)
{
	struct channel_request q = {0};
	struct reply *refused = read_channel_request(s, match, &q);
	return refused ? refused : pagecache_get(s->pagecache, str_from(q.key));
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
	struct channel_request q = {0};
	struct reply *refused = read_channel_request(s, match, &q);
	if (refused)
		return refused;
	const struct costly_page page = {.key = str_from(q.key),
		.coding = q.coding,
		.type = q.is_json ? "application/json" : "text/html; charset=utf-8",
		.policy = html_policy,
		.is_private = q.query.view->is_private || q.query.site->has_private,
		.path = "/-/channel/",
		.name = q.query.view->name,
		.most = PAGE_MOST};
	return packed_reply_costly(s, c, &page, match->pages_cleared, make_channel_page, &q);
}
