// SPDX-License-Identifier: Apache-2.0
#include "server/handlers/routes.h"

#include <stdio.h>
#include <string.h>

#include "server/core/auth.h"
#include "server/core/server-context.h"
#include "server/handlers/explain-handler.h"
#include "server/handlers/files.h"
#include "server/handlers/home.h"
#include "server/handlers/plan-handler.h"
#include "server/handlers/proxy.h"
#include "server/handlers/simple.h"
#include "server/handlers/status.h"
#include "server/handlers/upload.h"
#include "server/http/worker-pools.h"
#include "server/message/conditional.h"
#include "server/message/urlpath.h"

// A pattern names a part of the path by ":" and the field of struct route_match that gets it. Where it ends in "/" and the
// path does not, the client is sent there.
struct route {
	const char *pattern;
	handle_inline_fn *handle_inline; // NULL: always on a worker
	handle_worker_fn *handle_worker; // NULL: quick always answers, or there is nothing to GET
	receive_fn *receive;             // NULL: nothing is posted there
	unsigned lane;                   // one that has a name, as work costs much; 0: that of pages, or of a platform
};

// People try the name of a platform.
static struct reply *view_inline(struct server_context *s, const struct route_match *match)
{
	const struct view *v = site_view(server_context_site(s), match->view);
	CLEANUP(reply_cleanup)
	struct reply *refused = v && v->is_private && match->request->header[HEADER_AUTHORIZATION]
					? auth_read(s, match->request, v, NULL)
					: NULL;
	bool is_seen = v && (!v->is_private || (match->request->header[HEADER_AUTHORIZATION] && !refused));
	if (!is_seen) // what is private is as what is not there; a browser that asks for /favicon.ico is not to want a password
		return server_context_not_found(s, "no such page");
	struct reply *r = reply_text(302, "302 Found: its index is simple/");
	const char *last = strrchr(match->request->path, '/') + 1;
	reply_header(r, "Location", "./%s%ssimple/", last, *last ? "/" : "");
	return r;
}

static const struct route routes[] = {
	{"/", NULL, home_page, NULL, WORKER_POOL_SUMMARIES},
	{"/simple/", simple_root_inline, simple_root_worker, NULL, 0},
	{"/simple/:project/", simple_project_inline, simple_project_worker, NULL, 0},
	{"/files/upstream/:project/:file", proxy_inline, proxy_worker, NULL, 0}, // no platform has that name
	{"/files/:view/:project/:file", files_inline, files_worker, NULL, 0},
	{"/upload/:view/", NULL, NULL, upload_receive, 0},
	{"/-/health", status_health, NULL, NULL, 0},
	{"/-/ready", status_ready, NULL, NULL, 0},
	{"/-/metrics", NULL, status_metrics, NULL, WORKER_POOL_SUMMARIES},
	{"/-/explain/:view/:project", NULL, explain_handler_worker, NULL, WORKER_POOL_SEARCHES},
	{"/-/explain/:view/:project/:file", NULL, explain_handler_worker, NULL, WORKER_POOL_SEARCHES},
	{"/-/plan/", NULL, plan_handler_worker, NULL, WORKER_POOL_SEARCHES},
	{"/:view", view_inline, NULL, NULL, 0}, // before the next one, which would send all that is unknown to a slash
	{"/:view/", view_inline, NULL, NULL, 0},
	{"/:view/simple/", simple_root_inline, simple_root_worker, NULL, 0},
	{"/:view/simple/:project/", simple_project_inline, simple_project_worker, NULL, 0},
};

static struct str *field(struct route_match *match, struct str name)
{
	switch (name.ptr[1]) {
	case 'v':
		return &match->view;
	case 'p':
		return &match->project;
	default:
		return &match->file;
	}
}

static bool matches(const struct route *route, const struct urlpath *path, struct route_match *match)
{
	struct str rest = str_from(route->pattern + 1);
	size_t i = 0;
	for (; rest.len; i++) {
		struct str part = str_cut(&rest, '/');
		if (i == path->count)
			return false;
		if (part.ptr[0] == ':')
			*field(match, part) = path->segment[i];
		else if (!str_eq(part, path->segment[i]))
			return false;
	}
	return i == path->count;
}

static bool wants_slash(const struct route *route)
{
	return str_ends(str_from(route->pattern), STR("/"));
}

// PEP 503: a page's address ends in a slash, and its links are relative to it. 302, because pip keeps a 301 for ever.
static struct reply *send_to_slash(const struct request *r)
{
	const char *last = strrchr(r->path, '/') + 1;
	struct reply *reply = reply_text(302, "302 Found: the address ends in a slash");
	if (r->format)
		reply_header(reply, "Location", "./%s/?format=%s", last, r->format);
	else
		reply_header(reply, "Location", "./%s/", last);
	return reply;
}

// Who sends this may be misread in what he sends next, too.
static struct reply *malformed(void)
{
	struct reply *r = reply_text(400, "400 Bad Request: the path is malformed");
	reply_header(r, "Connection", "close");
	return r;
}

// PEP 503 knows no POST, and legacy uploads no GET. uv tells who posts to a page of a 405 what he has mistaken.
static struct reply *not_allowed(const struct route *route)
{
	const char *allow = route && route->receive ? "POST" : "GET, HEAD";
	struct reply *r = reply_text(405, "405 Method Not Allowed: %s", allow);
	reply_header(r, "Allow", "%s", allow);
	return r;
}

static bool has_page(const struct route *route)
{
	return route->handle_inline || route->handle_worker;
}

// Finds the route and fills the call, whose parts lie in path; a reply where there is nothing to call.
static struct reply *find(struct server_context *s, const struct request *r, struct urlpath *path,
	struct route_match *match, const struct route **route)
{
	enum urlpath_result result = urlpath_parse(str_from(r->path), path);
	if (result == URLPATH_MALFORMED)
		return malformed();
	for (size_t i = 0; result == URLPATH_GOOD && i < ARRAY_SIZE(routes); i++) {
		*match = (struct route_match){.request = r};
		if (!matches(&routes[i], path, match))
			continue;
		if (!has_page(&routes[i]))
			return not_allowed(&routes[i]);
		if (wants_slash(&routes[i]) == path->has_trailing_slash) {
			*route = &routes[i];
			return NULL;
		}
		if (wants_slash(&routes[i]))
			return send_to_slash(r);
	}
	return server_context_not_found(s, "no such page");
}

// RFC 9110 section 14.2 and 15.3.7. The reply is dropped; what comes instead has the same body.
static struct reply *send_range(struct reply *whole, struct range range)
{
	CLEANUP(reply_cleanup) struct reply *old UNUSED = whole;
	if (range.kind != RANGE_PART) {
		struct reply *none = reply_new(416, NULL, NULL);
		reply_header(none, "Content-Range", "bytes */%llu", (unsigned long long)whole->length);
		reply_header(none, "Cache-Control", "no-store");
		return none;
	}
	uint64_t length = range.last - range.first + 1;
	struct reply *r = reply_kept_part(whole, range.first, length);
	if (r)
		return r;
	r = reply_new(206, whole->type, blob_ref(whole->body));
	for (unsigned i = 0; i < whole->header_count; i++)
		reply_header(r, whole->header[i].name, "%s", whole->header[i].value);
	r->count = length == whole->length ? download_counter_ref(whole->count) : NULL;
	r->offset = range.first;
	r->length = length;
	snprintf(r->etag, sizeof(r->etag), "%s", whole->etag);
	reply_header(r, "Content-Range", "bytes %llu-%llu/%llu", (unsigned long long)range.first,
		(unsigned long long)range.last, (unsigned long long)whole->length);
	reply_keep_part(whole, r);
	return r;
}

// What the client's conditions make of a reply: RFC 9110 section 13.2.2.
static struct reply *settle(const struct request *r, struct reply *reply)
{
	if (!reply || reply->status != 200)
		return reply;
	if (reply->unchanged && etag_matches(r->header[HEADER_IF_NONE_MATCH], reply->etag)) {
		struct reply *unchanged = reply_ref(reply->unchanged);
		reply_unref(reply);
		return unchanged;
	}
	if (r->method != METHOD_GET || !r->header[HEADER_RANGE] || !reply_get_header(reply, "Accept-Ranges") ||
		!if_range_holds(r->header[HEADER_IF_RANGE], reply->etag))
		return reply;
	struct range range = range_parse(r->header[HEADER_RANGE], reply->length);
	return range.kind == RANGE_WHOLE ? reply : send_range(reply, range);
}

struct reply *routes_inline(void *ctx, const struct request *request)
{
	struct server_context *s = ctx;
	struct urlpath path;
	struct route_match match;
	const struct route *route;
	struct reply *refused = find(s, request, &path, &match, &route);
	if (refused)
		return refused;
	return route->handle_inline ? settle(request, route->handle_inline(s, &match)) : NULL;
}

struct reply *routes_worker(void *ctx, const struct request *request, struct continuation *continuation)
{
	struct server_context *s = ctx;
	struct err e = ERR_INIT;
	struct urlpath path;
	struct route_match match;
	const struct route *route;
	struct reply *refused = find(s, request, &path, &match, &route);
	if (refused)
		return refused;
	match.continuation = continuation;
	if (route->lane && atomic_load_explicit(&s->is_stopping, memory_order_relaxed))
		return reply_text(503, "503 Service Unavailable: the server is stopping");
	struct catalog_lease reader;
	if (catalog_pool_take(s->catalog_pool, &reader, &e) < 0)
		return server_context_error(&e);
	if (route->lane)
		catalog_limit(reader.catalog, s->search_ms);
	struct reply *reply = route->handle_worker(s, reader.catalog, &match);
	if (route->lane)
		catalog_limit(reader.catalog, 0);
	catalog_pool_give(s->catalog_pool, &reader);
	return settle(request, reply);
}

// With or without the slash at the end: no client that uploads follows a redirect.
struct body_handler *routes_receive(void *ctx, const struct request *request, struct reply **refusal)
{
	struct urlpath path;
	const struct route *route = NULL;
	struct route_match match;
	bool is_good = urlpath_parse(str_from(request->path), &path) == URLPATH_GOOD;
	for (size_t i = 0; is_good && i < ARRAY_SIZE(routes) && !route; i++) {
		match = (struct route_match){.request = request};
		if (matches(&routes[i], &path, &match))
			route = &routes[i];
	}
	if (route && route->receive && request->method == METHOD_POST)
		return route->receive(ctx, &match, refusal);
	*refusal = not_allowed(route);
	return NULL;
}

// Of a path that belongs to no platform.
static unsigned lane_of(const struct urlpath *path)
{
	struct route_match ignored;
	for (size_t i = 0; i < ARRAY_SIZE(routes); i++)
		if (routes[i].lane && matches(&routes[i], path, &ignored))
			return routes[i].lane;
	return 0;
}

unsigned routes_lane(void *ctx, const struct request *request)
{
	struct server_context *s = ctx;
	struct urlpath path;
	if (urlpath_parse(str_from(request->path), &path) != URLPATH_GOOD)
		return 0;
	if (path.count < 2 || !(str_eq(path.segment[0], STR("files")) || str_eq(path.segment[0], STR("upload"))))
		return lane_of(&path);
	const struct site *site = server_context_site(s);
	const struct platform *p = site_platform(site, path.segment[1]);
	return p ? 1 + (unsigned)(p - site->store.platform) % (WORKER_POOLS - 1) : 0;
}
