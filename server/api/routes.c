// SPDX-License-Identifier: Apache-2.0
#include "server/api/routes.h"

#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/suggest.h"
#include "lib/domain/text/name.h"
#include "lib/view/view.h"
#include "server/api/handlers.h"
#include "server/core/auth.h"
#include "server/core/server-context.h"
#include "server/http/answers.h"
#include "server/http/worker-pools.h"
#include "server/message/reply.h"
#include "server/message/request.h"
#include "server/pages/home.h"
#include "server/pages/page.h"

// --- the table ---

// The first row that fits a path is its route. Two lines a row.
#define ROUTE(path, method, pool, metric, right, inline, worker, body, page, words)                                      \
	{path, METHOD_##method, ROUTE_POOL_##pool, METRIC_ROUTE_##metric, ROUTE_RIGHT_##right, inline, worker, body, words, page}
// clang-format off
const struct route route_table[] = {
	ROUTE("/", GET, SUMMARIES, OTHER, NONE, page_inline, page_worker, NULL, &home_page,
		"An overview for people, and the same as JSON."),
	ROUTE("/simple/", GET, PAGES, SIMPLE, READ_VIEW, simple_inline, simple_worker, NULL, NULL,
		"The projects of the default view."),
	ROUTE("/simple/:project/", GET, PAGES, SIMPLE, READ_VIEW, simple_inline, simple_worker, NULL, NULL,
		"The files of a project in the default view."),
	// Before the next one: no platform has the name "upstream".
	ROUTE("/files/upstream/:project/:file", GET, PAGES, UPSTREAM_FILE, BY_DATA, proxy_inline, proxy_worker, NULL, NULL,
		"A file of upstream, where a view merges it; of several, of the first that has it."),
	ROUTE("/files/upstream/:upstream/:project/:file", GET, PAGES, UPSTREAM_FILE, BY_DATA, proxy_inline, proxy_worker, NULL,
		NULL, "A file of this upstream, where a view merges it."),
	ROUTE("/files/:platform/:project/:file", GET, PLATFORM, FILE, READ_PLATFORM, files_inline, files_worker, NULL, NULL,
		"A file of a platform."),
	ROUTE("/upload/:platform/", POST, PLATFORM, UPLOAD, UPLOAD, NULL, NULL, upload_receive, NULL,
		"The legacy upload API."),
	ROUTE("/-/health", GET, NONE, MACHINE, BY_DATA, status_health_inline, NULL, NULL, NULL,
		"The state of the server, as JSON."),
	ROUTE("/-/ready", GET, NONE, MACHINE, NONE, status_ready_inline, NULL, NULL, NULL,
		"200 once a scan has looked at every platform, 503 before."),
	ROUTE("/-/metrics", GET, SUMMARIES, MACHINE, BY_DATA, NULL, status_metrics, NULL, NULL,
		"Numbers for Prometheus, in its text format."),
	ROUTE("/-/osv/v1/query", POST, SUMMARIES, MACHINE, BY_DATA, NULL, NULL, osv_query_receive, NULL,
		"Which records of the block lists are about a version, as the OSV database answers."),
	ROUTE("/-/osv/v1/querybatch", POST, SUMMARIES, MACHINE, BY_DATA, NULL, NULL, osv_batch_receive, NULL,
		"The same of many versions: ids only."),
	ROUTE("/-/osv/v1/vulns/:id", GET, SUMMARIES, MACHINE, BY_DATA, NULL, osv_record, NULL, NULL,
		"A record of a block list, as it was."),
	ROUTE("/-/v1/query", POST, SUMMARIES, MACHINE, BY_DATA, NULL, NULL, osv_query_receive, NULL,
		"Which records of the block lists are about a version, as the OSV database answers."),
	ROUTE("/-/v1/querybatch", POST, SUMMARIES, MACHINE, BY_DATA, NULL, NULL, osv_batch_receive, NULL,
		"The same of many versions: ids only."),
	ROUTE("/-/v1/vulns/:id", GET, SUMMARIES, MACHINE, BY_DATA, NULL, osv_record, NULL, NULL,
		"A record of a block list, as it was."),
	ROUTE("/-/style.css", GET, PAGES, OTHER, NONE, asset_style_inline, asset_style, NULL, NULL,
		"The style of the pages for people."),
	ROUTE("/-/page.js", GET, PAGES, OTHER, NONE, asset_script_inline, asset_script, NULL, NULL,
		"Their script, which they do not need."),
	ROUTE("/-/search", GET, SUMMARIES, MACHINE, BY_DATA, NULL, page_worker, NULL, &search_page,
		"Projects by name: a page for people, and JSON."),
	ROUTE("/-/coverage", GET, SEARCHES, MACHINE, BY_DATA, page_inline, page_worker, NULL, &coverage_page,
		"Which wheels many projects have, by platform and Python: a page for people, JSON and CSV."),
	ROUTE("/-/usage/", GET, SEARCHES, MACHINE, BY_DATA, page_inline, page_worker, NULL, &usage_page,
		"How many files and bytes there are of what: a page for people, JSON and CSV."),
	ROUTE("/-/security/", GET, SEARCHES, MACHINE, BY_DATA, page_inline, page_worker, NULL, &security_page,
		"Which files are not shown, and why, and which bad ones were served: a page for people, and JSON."),
	ROUTE("/-/log/", GET, SEARCHES, MACHINE, BY_DATA, NULL, page_worker, NULL, &log_page,
		"Who did what to which file: a page for people, JSON and text."),
	ROUTE("/-/explain/simple/:project", GET, SEARCHES, MACHINE, READ_VIEW, NULL, page_worker, NULL, &explain_page,
		"What wheelcache explain says about a project, as JSON and as a page."),
	ROUTE("/-/explain/simple/:project/:version", GET, SEARCHES, MACHINE, READ_VIEW, NULL, page_worker, NULL, &explain_page,
		"The same about one version."),
	ROUTE("/-/explain/:view/:project", GET, SEARCHES, MACHINE, READ_VIEW, NULL, page_worker, NULL, &explain_page,
		"The same in a view or a platform."),
	ROUTE("/-/explain/:view/:project/:version", GET, SEARCHES, MACHINE, READ_VIEW, NULL, page_worker, NULL, &explain_page,
		"The same about one version in a view or a platform."),
	ROUTE("/-/missing/:platform", GET, SEARCHES, MACHINE, READ_VIEW, page_inline, page_worker, NULL, &missing_page,
		"What wheelcache missing says about a platform."),
	ROUTE("/-/missing/:platform", POST, SEARCHES, MACHINE, UPLOAD, NULL, NULL, missing_receive, NULL,
		"The same as if the wheels of a list of rebuilds were not there."),
	ROUTE("/-/compare/:platform/:file/:other-platform/:other-file", GET, SEARCHES, MACHINE, BY_DATA, NULL, page_worker,
		NULL, &compare_page, "What wheelcache compare says about two wheels: a page for people, and JSON."),
	ROUTE("/-/channel/:view/", GET, SEARCHES, MACHINE, READ_VIEW, page_inline, page_worker, NULL, &channel_page,
		"A view as a channel of versions: a page for people, and JSON."),
	ROUTE("/-/project/:project", GET, SEARCHES, MACHINE, BY_DATA, page_inline, page_worker, NULL, &project_page,
		"A project on all platforms: a page for people, and JSON."),
	ROUTE("/-/view/simple", GET, NONE, MACHINE, READ_VIEW, simple_view_inline, NULL, NULL, NULL,
		"The platforms of the default view, as JSON."),
	ROUTE("/-/view/:view", GET, NONE, MACHINE, READ_VIEW, simple_view_inline, NULL, NULL, NULL,
		"The platforms of a view, as JSON."),
	ROUTE("/-/client-config/simple", GET, SUMMARIES, MACHINE, READ_VIEW, NULL, page_worker, NULL, &client_page,
		"How pip, uv and CI systems use the default view: what wheelcache client-config prints, as a page and JSON."),
	ROUTE("/-/client-config/:view", GET, SUMMARIES, MACHINE, READ_VIEW, NULL, page_worker, NULL, &client_page,
		"The same for a view or a platform."),
	ROUTE("/-/client-config/:view/:part", GET, SUMMARIES, MACHINE, READ_VIEW, NULL, page_worker, NULL, &client_page,
		"The same for a view on one of its platforms."),
	ROUTE("/-/plan/", GET, SEARCHES, MACHINE, BY_DATA, NULL, page_worker, NULL, &plan_page,
		"The last plan of a prune: a page for people, and JSON."),
	ROUTE("/-/docs/", GET, SUMMARIES, MACHINE, NONE, NULL, page_worker, NULL, &documentation_page,
		"The documentation, with an index by role."),
	ROUTE("/-/docs/:file", GET, SUMMARIES, MACHINE, NONE, NULL, page_worker, NULL, &documentation_page,
		"A page of the documentation."),
	ROUTE("/-/builds/", GET, SEARCHES, MACHINE, BY_DATA, NULL, page_worker, NULL, &builds_page,
		"What builders tried, and what fails now: a page for people, and JSON."),
	ROUTE("/-/builds/:project/", GET, SEARCHES, MACHINE, BY_DATA, NULL, page_worker, NULL, &builds_project_page,
		"Each attempt to build a project, for people and as JSON."),
	ROUTE("/-/builds/:platform/", POST, PLATFORM, UPLOAD, UPLOAD, NULL, NULL, builds_receive, NULL,
		"Takes the result of a build."),
	ROUTE("/-/builds/:project/:id", GET, SEARCHES, MACHINE, BY_DATA, NULL, page_worker, NULL, &builds_log_page,
		"The log of one attempt, as text."),
	ROUTE("/-/evidence/", POST, SUMMARIES, UPLOAD, OF_TOKEN, NULL, NULL, evidence_receive, NULL,
		"Takes the record of a test run."),
	ROUTE("/-/evidence/:id", GET, SEARCHES, MACHINE, BY_DATA, NULL, page_worker, NULL, &evidence_page,
		"A record of a test run: a page for people, and JSON."),
	ROUTE("/-/promote/:view", POST, SEARCHES, UPLOAD, OF_TOKEN, NULL, NULL, promote_receive, NULL,
		"Promotes files into a view."),
	ROUTE("/-/yank/", POST, SEARCHES, UPLOAD, OF_TOKEN, NULL, NULL, yank_receive, NULL,
		"Yanks files, or undoes it."),
	ROUTE("/-/status/", POST, SEARCHES, UPLOAD, OF_TOKEN, NULL, NULL, status_receive, NULL,
		"Sets the status of a project."),
	// Before the next one, which would redirect each unknown path of one part.
	ROUTE("/:view", GET, NONE, OTHER, BY_DATA, home_view_inline, NULL, NULL, NULL,
		"A redirect to the index of a view or a platform."),
	ROUTE("/:view/", GET, NONE, OTHER, BY_DATA, home_view_inline, NULL, NULL, NULL,
		"A redirect to the index of a view or a platform."),
	ROUTE("/:view/simple/", GET, PAGES, SIMPLE, READ_VIEW, simple_inline, simple_worker, NULL, NULL,
		"The projects of a view or a platform."),
	ROUTE("/:view/simple/:project/", GET, PAGES, SIMPLE, READ_VIEW, simple_inline, simple_worker, NULL, NULL,
		"The files of a project in a view or a platform."),
	ROUTE("/:view/:part/simple/", GET, PAGES, SIMPLE, READ_VIEW, simple_inline, simple_worker, NULL, NULL,
		"The projects of a view on one of its platforms."),
	ROUTE("/:view/:part/simple/:project/", GET, PAGES, SIMPLE, READ_VIEW, simple_inline, simple_worker, NULL, NULL,
		"The files of a project in a view on one of its platforms."),
};
// clang-format on

const size_t route_table_count = ARRAY_SIZE(route_table);

struct str *route_part(struct route_match *match, struct str part)
{
	static const struct {
		struct str name;
		size_t offset;
	} parts[] = {
		{STR(":view"), offsetof(struct route_match, view)},
		{STR(":project"), offsetof(struct route_match, project)},
		{STR(":platform"), offsetof(struct route_match, platform)},
		{STR(":file"), offsetof(struct route_match, file)},
		{STR(":part"), offsetof(struct route_match, part)},
		{STR(":upstream"), offsetof(struct route_match, upstream)},
		{STR(":version"), offsetof(struct route_match, version)},
		{STR(":id"), offsetof(struct route_match, id)},
		{STR(":other-platform"), offsetof(struct route_match, other_platform)},
		{STR(":other-file"), offsetof(struct route_match, other_file)},
	};
	size_t i = 0;
	while (i < ARRAY_SIZE(parts) && !str_eq(parts[i].name, part))
		i++;
	assert(i < ARRAY_SIZE(parts)); // test-route-table looks up each part of the table
	return (struct str *)(void *)((char *)match + parts[i].offset);
}

const char *const route_pool_name[ROUTE_POOL_COUNT] = {"none", "pages", "platform", "searches", "summaries"};
const char *const route_right_name[ROUTE_RIGHT_COUNT] = {
	"none", "read-view", "read-platform", "upload", "of-token", "by-data"};

// Whether the path is the route's, with or without a slash at its end.
static bool path_fits(const struct route *route, const struct urlpath *path)
{
	const char *first = route->path + 1;
	if (path->count && *first != ':' && *first != path->segment[0].ptr[0])
		return false; // as nearly all rows
	struct str rest = str_from(first);
	size_t i = 0;
	for (; rest.len; i++) {
		struct str part = str_cut(&rest, '/');
		if (i == path->count || (part.ptr[0] != ':' && !str_eq(part, path->segment[i])))
			return false;
	}
	return i == path->count;
}

// Of a path that fits, the parts that vary.
static struct route_match match_parts(const struct route *route, const struct urlpath *path, const struct request *r)
{
	struct route_match match = {.request = r};
	struct str rest = str_from(route->path + 1);
	for (size_t i = 0; rest.len; i++) {
		struct str part = str_cut(&rest, '/');
		if (part.ptr[0] == ':')
			*route_part(&match, part) = path->segment[i];
	}
	return match;
}

static bool wants_slash(const struct route *route)
{
	return str_ends(str_from(route->path), STR("/"));
}

static bool is_of_method(const struct route *route, enum method method)
{
	return route->method == (method == METHOD_HEAD ? METHOD_GET : method);
}

// Of the rows from this one on that fit the path, the one with this method; if there is none, the row itself.
static const struct route *route_of_method(const struct route *route, enum method method, const struct urlpath *path)
{
	const struct route *end = route_table + route_table_count;
	for (const struct route *r = route; r < end && (r == route || path_fits(r, path)); r++)
		if (is_of_method(r, method))
			return r;
	return route;
}

// What the client sends next may be misread too, so the connection ends.
static struct reply *malformed(void)
{
	struct reply *r = reply_text(400, "400 Bad Request: the path is malformed");
	reply_header(r, "Connection", "close");
	return r;
}

// route NULL: there is none of this path. uv shows its user the text of a 405.
static struct reply *not_allowed(const struct route *route, const struct urlpath *path)
{
	bool reads = !route || is_of_method(route_of_method(route, METHOD_GET, path), METHOD_GET);
	bool writes = route && is_of_method(route_of_method(route, METHOD_POST, path), METHOD_POST);
	const char *allow = reads && writes ? "GET, HEAD, POST" : writes ? "POST" : "GET, HEAD";
	struct reply *r = reply_text(405, "405 Method Not Allowed: this address takes %s%s", allow,
		writes ? "" : "; files are uploaded to /upload/PLATFORM/");
	reply_header(r, "Allow", "%s", allow);
	return r;
}

// Finds the route of a GET or HEAD, and fills in the parts of the path, which point into path. A reply if there is no
// handler to call.
static struct reply *find_route(struct server_context *s, const struct request *r, struct urlpath *path,
	struct route_match *match, const struct route **route)
{
	enum urlpath_result result = urlpath_parse(str_from(r->path), path);
	*route = NULL;
	if (result == URLPATH_MALFORMED)
		return malformed();
	for (size_t i = 0; result == URLPATH_GOOD && i < route_table_count; i++) {
		if (!path_fits(&route_table[i], path))
			continue;
		*route = route_of_method(&route_table[i], r->method, path);
		if (!is_of_method(*route, r->method))
			return not_allowed(*route, path);
		if (wants_slash(*route) == path->has_trailing_slash) {
			*match = match_parts(*route, path, r);
			return NULL;
		}
		if (wants_slash(*route)) {
			// PEP 503: the URL of a page ends in a slash, and its links are relative to that. 302, because
			// pip caches a 301 without limit.
			const char *last = strrchr(r->path, '/') + 1;
			struct reply *reply = reply_text(302, "302 Found: the address ends in a slash");
			if (r->format)
				reply_header(reply, "Location", "./%s/?format=%s", last, r->format);
			else
				reply_header(reply, "Location", "./%s/", last);
			return reply;
		}
	}
	*route = NULL;
	return server_context_not_found(s, server_context_no_page);
}

// The row whose path fits, with or without a slash at the end; NULL: none.
static const struct route *find_any_slash(const struct request *r, struct urlpath *path, struct route_match *match)
{
	if (urlpath_parse(str_from(r->path), path) != URLPATH_GOOD)
		return NULL;
	for (size_t i = 0; i < route_table_count; i++) {
		if (!path_fits(&route_table[i], path))
			continue;
		const struct route *route = route_of_method(&route_table[i], r->method, path);
		*match = match_parts(route, path, r);
		return route;
	}
	return NULL;
}

// --- rights ---

// A token may be for some projects only, by their normal form. An invalid name is that of no project.
static struct reply *check_private_view(struct server_context *s, const struct route_match *match, struct str name,
	const struct view **view)
{
	CLEANUP(buf_release) struct buf normal = buf_up_to(LIMIT_FILE_NAME);
	if (name_is_valid(match->project))
		name_normalize(match->project, &normal);
	const char *project = normal.len && !normal.failed ? normal.data : NULL;
	return auth_named_view(s, match->request, name, view, project);
}

// Names none that needs a token, and not the one that was asked for: the text is a key of the page cache.
static struct reply *unknown_view(struct server_context *s, const struct route_match *match, struct str name)
{
	CLEANUP(name_choice_release) struct name_choice names;
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_PATH);
	name_choice_init(&names, name);
	for (size_t i = 1; i < match->site->view_count; i++)
		if (!match->site->view[i].is_private)
			name_choice_add(&names, match->site->view[i].name);
	buf_puts(&text, "no such view");
	name_choice_hint(&names, &text);
	return server_context_not_found(s, text.data);
}

static struct reply *check_view_right(struct server_context *s, struct route_match *match)
{
	struct str when, name = match->view.ptr ? match->view : match->platform; // each platform is a view, too
	const struct view *view = view_time_split(match->site, name, &when);
	struct reply *refused =
		(view ? view->is_private : match->site->has_private) ? check_private_view(s, match, name, &view) : NULL;
	if (refused)
		return refused;
	match->found_view = view;
	if (!view)
		return unknown_view(s, match, name);
	const char *wrong = when.ptr ? view_time_read(view, when, &match->at) : NULL;
	if (match->site->has_no_default && view == match->site->view)
		wrong = server_context_no_default;
	if (!wrong && match->part.ptr && !(match->found_view = site_part(match->site, view, match->part)))
		wrong = "the view has no such platform";
	return wrong ? server_context_not_found_in(s, view->is_private, wrong) : NULL;
}

// The project is the one in the URL as it was sent. It is the file's too, or the file is not found.
static struct reply *check_platform(struct server_context *s, struct route_match *match)
{
	if (!match->site->has_private)
		return NULL;
	const struct platform *p = site_platform(match->site, match->platform);
	if (p && !p->is_private)
		return NULL;
	CLEANUP(mem_free) char *project = xstrndup(match->project.ptr, match->project.len);
	return p ? auth_check(s, match->request, TOKEN_READ, p->name, project, NULL)
		 : auth_unknown(s, match->request, TOKEN_READ, match->platform, project);
}

// Sets the site of the request, and checks the route's right by it. A reply if the client is refused, or there is no
// such view.
static struct reply *check_right(struct server_context *s, const struct route *route, struct route_match *match)
{
	static struct reply *(*const checks[ROUTE_RIGHT_COUNT])(struct server_context *, struct route_match *) = {
		[ROUTE_RIGHT_READ_VIEW] = check_view_right,
		[ROUTE_RIGHT_READ_PLATFORM] = check_platform,
	};
	match->pages_cleared = pagecache_cleared(s->pagecache);
	match->site = server_context_site(s);
	match->page = route->page;
	return checks[route->right] ? checks[route->right](s, match) : NULL;
}

// --- conditions and ranges ---

// A part of the whole reply (RFC 9110 section 14.2 and 15.3.7). Drops whole; the new reply shares its body.
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

// Applies the client's conditions and range (RFC 9110 section 13.2.2). Takes the reply over.
static struct reply *apply_conditions(const struct request *r, struct reply *reply)
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

// --- the entry points ---

struct reply *routes_inline(void *ctx, struct request *request)
{
	struct server_context *s = ctx;
	struct urlpath path;
	struct route_match match;
	const struct route *route;
	struct reply *refused = find_route(s, request, &path, &match, &route);
	request->metric = route ? route->metric : METRIC_ROUTE_OTHER;
	if (refused || !route->handle_inline)
		return refused;
	refused = check_right(s, route, &match);
	if (refused || (match.at && route->handle_worker)) // the catalog knows which generation that is
		return refused;
	return apply_conditions(request, route->handle_inline(s, &match));
}

static bool is_search(const struct route *route)
{
	return route->pool == ROUTE_POOL_SEARCHES || route->pool == ROUTE_POOL_SUMMARIES;
}

static struct reply *call_with_past_view(struct server_context *s, const struct route *route, struct catalog *c,
	const struct route_match *match)
{
	struct err e = ERR_INIT;
	struct route_match at = *match;
	struct view past;
	if (view_time_find(match->site, match->found_view, c, match->at, &past, &e) < 0)
		return server_context_error(&e);
	at.found_view = &past;
	return route->handle_worker(s, c, &at);
}

// Memory of the answer counts while it is made.
static struct reply *call_counted(struct server_context *s, const struct route *route, struct catalog *c,
	const struct route_match *match)
{
	struct route_match counted = *match;
	CLEANUP(answers_make_end) struct answer_making making = {0};
	answers_make_begin(s->answers, &making, match->request->peer);
	counted.meter = &making.meter;
	return match->at ? call_with_past_view(s, route, c, &counted) : route->handle_worker(s, c, &counted);
}

static struct reply *call_worker(struct server_context *s, const struct route *route, const struct route_match *match)
{
	struct err e = ERR_INIT;
	struct catalog_lease reader;
	if (catalog_pool_take(s->catalog_pool, &reader, &e) < 0)
		return server_context_error(&e);
	if (is_search(route))
		catalog_limit(reader.catalog, s->search_ms);
	struct reply *reply = call_counted(s, route, reader.catalog, match);
	if (is_search(route))
		catalog_limit(reader.catalog, 0);
	catalog_pool_give(s->catalog_pool, &reader);
	return reply;
}

struct reply *routes_worker(void *ctx, const struct request *request, struct continuation *continuation)
{
	struct server_context *s = ctx;
	struct urlpath path;
	struct route_match match;
	const struct route *route;
	struct reply *refused = find_route(s, request, &path, &match, &route);
	if (refused)
		return refused;
	match.continuation = continuation;
	if (is_search(route) && atomic_load_explicit(&s->is_stopping, memory_order_relaxed))
		return reply_text(503, "503 Service Unavailable: the server is stopping");
	refused = check_right(s, route, &match);
	return refused ? refused : apply_conditions(request, call_worker(s, route, &match));
}

// No page of ours writes. A browser that was given a token sends it along with what the pages of other sites post.
static struct reply *refuse_browser(void)
{
	struct reply *r = reply_text(403, "403 Forbidden: browsers may not write here: the request has an Origin");
	reply_header(r, "Cache-Control", "no-store");
	return r;
}

// With or without the slash at the end: no client that uploads follows a redirect.
struct body_handler *routes_receive(void *ctx, struct request *request, struct reply **refusal)
{
	struct server_context *s = ctx;
	struct urlpath path;
	struct route_match match;
	const struct route *route = find_any_slash(request, &path, &match);
	request->metric = route ? route->metric : METRIC_ROUTE_OTHER;
	if (!route || !is_of_method(route, request->method)) {
		*refusal = not_allowed(route, &path);
		return NULL;
	}
	*refusal = request->header[HEADER_ORIGIN] ? refuse_browser() : check_right(s, route, &match);
	return *refusal ? NULL : route->receive(s, &match, refusal);
}

unsigned routes_pool(void *ctx, const struct request *request)
{
	static const unsigned numbers[ROUTE_POOL_COUNT] = {
		[ROUTE_POOL_SEARCHES] = WORKER_POOL_SEARCHES, [ROUTE_POOL_SUMMARIES] = WORKER_POOL_SUMMARIES};
	struct urlpath path;
	struct route_match match;
	const struct route *route = find_any_slash(request, &path, &match);
	if (!route || route->pool != ROUTE_POOL_PLATFORM)
		return route ? numbers[route->pool] : 0;
	const struct site *site = server_context_site(ctx);
	const struct platform *p = site_platform(site, match.platform);
	return p ? 1 + (unsigned)(p - site->store.platform) % (WORKER_POOLS - 1) : 0;
}

char *routes_token(void *ctx, const struct request *request)
{
	return auth_token(ctx, request);
}
