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

enum {
	PAGE_MOST = 64 << 20,
	CHANNEL_ROWS = 500, // unless the client says a limit
	KEPT_SECONDS = 3,   // an answer is kept so long,
	KEPT_SHARE = 20,    // or this many times as long as it took
	KEPT_MOST = 60,
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

static int make_channel_page(struct catalog *c, const struct channel_request *q, struct buf *out, struct err *e)
{
	CLEANUP(channel_data_release) struct channel_data data = {0};
	if (channel_data_read(c, &q->query, &data, e) < 0)
		return -1;
	return q->is_json ? channel_json_write(&data, out, e) : channel_page_write(&data, &q->query, out, e);
}

static unsigned kept_channel_seconds(int64_t took_ms)
{
	int64_t seconds = KEPT_SHARE * took_ms / 1000;
	return seconds < KEPT_SECONDS ? KEPT_SECONDS : seconds > KEPT_MOST ? KEPT_MOST : (unsigned)seconds;
}

static struct reply *make_channel_reply(struct server_context *s, struct catalog *c, const struct channel_request *q,
	uint64_t epoch)
{
	struct err e = ERR_INIT;
	int64_t begun = clock_ms();
	CLEANUP(buf_release) struct buf page;
	buf_init(&page, PAGE_MOST);
	if (make_channel_page(c, q, &page, &e) < 0) {
		err_prefix(&e, "/-/channel/%s/: ", q->query.view->name);
		return server_context_error(&e);
	}
	struct reply *r = packed_reply(s, q->coding, q->is_json ? "application/json" : "text/html; charset=utf-8",
		channel_page_policy, &page, q->query.view->is_private || q->query.site->has_private, NULL);
	if (r->status == 200)
		pagecache_put(s->pagecache, str_from(q->key), r, kept_channel_seconds(clock_ms() - begun), epoch);
	return r;
}

struct reply *channel_handler_worker(struct server_context *s, struct catalog *c, const struct route_match *match)
{
	struct channel_request q = {0};
	struct reply *r = read_channel_request(s, match, &q);
	if (r)
		return r;
	struct str key = str_from(q.key);
	uint64_t epoch = pagecache_epoch(s->pagecache, key, match->pages_cleared);
	pagecache_make_begin(s->pagecache, key);
	r = pagecache_get(s->pagecache, key);
	if (!r)
		r = make_channel_reply(s, c, &q, epoch);
	pagecache_make_end(s->pagecache, key);
	return r;
}
