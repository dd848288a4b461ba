// SPDX-License-Identifier: Apache-2.0
#include "server/pages/project-handler.h"

#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/domain/text/name.h"
#include "lib/format/escape.h"
#include "lib/os/clock.h"
#include "lib/state/access/audit.h"
#include "server/core/auth.h"
#include "server/core/build-results.h"
#include "server/core/named.h"
#include "server/pages/arguments.h"
#include "server/pages/home.h"
#include "server/pages/packed-reply.h"
#include "server/pages/page-frame.h"
#include "server/pages/project-json.h"
#include "server/pages/project-page.h"
#include "server/message/negotiate.h"

enum { PAGE_MOST = 64 << 20, PROJECT_ROWS = 200 }; // rows of a list, unless the client says a limit

struct project_request {
	struct project_query query;
	const struct platform **readable; // owned
	struct named named;
	char *base;               // owned
	struct arguments arguments;
	char project[LIMIT_FILE_NAME + 1]; // normal form
	bool is_json;
	enum page_coding coding;
	struct page_key key;
};

static void project_request_release(struct project_request *q)
{
	mem_free(&q->readable);
	named_release(&q->named);
	mem_free(&q->base);
}

// --- what is asked for ---

static const enum argument_form forms[ARGUMENT_COUNT] = {
	[ARGUMENT_VIEW] = FORM_VIEW, [ARGUMENT_PLATFORM] = FORM_PLATFORM, [ARGUMENT_PYTHON] = FORM_PYTHON};

static bool normalize_name(struct str name, char out[LIMIT_FILE_NAME + 1])
{
	CLEANUP(buf_release) struct buf normal;
	buf_init(&normal, LIMIT_FILE_NAME);
	if (name_is_valid(name))
		name_normalize(name, &normal);
	if (normal.failed || !normal.len)
		return false;
	memcpy(out, normal.data, normal.len);
	out[normal.len] = '\0';
	return true;
}

// The view of "?view=", if the client may read it; "simple" is the default one. A view that does not exist, or that the
// client may not know, is answered as by /VIEW/simple/.
static struct reply *find_asked_view(struct server_context *s, const struct route_match *match,
	struct project_request *q)
{
	const char *name = q->arguments.text[ARGUMENT_VIEW];
	const struct view *v = NULL;
	if (!*name)
		return NULL;
	v = site_view(match->site, strcmp(name, "simple") == 0 ? STR("") : str_from(name));
	struct reply *refused = auth_named_view(s, match->request, str_from(name), &v, q->project);
	if (refused || !v)
		return refused ? refused : server_context_not_found(s, "no such view");
	if (site_is_incomplete(match->site, v))
		return server_context_not_filled();
	q->query.view = v;
	q->query.platform = (const struct platform *const *)v->platform;
	q->query.platforms = v->platform_count;
	return NULL;
}

static bool was_any_scanned(const struct project_query *q)
{
	for (size_t i = 0; i < q->platforms; i++)
		if (q->platform[i]->scanned == CATALOG_SCANNED)
			return true;
	return q->platforms == 0;
}

static void make_page_key(struct server_context *s, struct project_request *q)
{
	const struct project_query *p = &q->query;
	const struct page_readers readers = {
		.site = p->site, .platform = p->platform, .platforms = p->platforms, .named = p->named, .nameds = p->nameds};
	page_key_make(&q->key, PAGE_PROJECT, &readers,
		PAGE_VALUES(PAGE_NUMBER(changes_read(s->changes)), PAGE_TEXT(str_from(p->project)),
			PAGE_NUMBER(p->limit), PAGE_NUMBER(q->is_json), PAGE_NUMBER(q->coding),
			PAGE_NUMBER(p->view != NULL), PAGE_TEXT(str_from(p->view && p->view->name ? p->view->name : "")),
			PAGE_TEXT(str_from(p->version)), PAGE_TEXT(str_from(p->only_platform)),
			PAGE_TEXT(str_from(p->only_python)), PAGE_TEXT(str_from(p->base))));
}

// Whether a view that the client may read merges upstream's files in.
static bool merges_for(const struct project_query *q)
{
	bool does = q->site->merges_publicly;
	for (size_t i = 0; i < q->site->view_count && !does; i++)
		does = q->site->view[i].merges && project_query_reads(q, &q->site->view[i]);
	return does;
}

// A reply unless the request can be answered.
static struct reply *read_project_request(struct server_context *s, const struct route_match *match,
	struct project_request *q)
{
	const struct request *r = match->request;
	struct reply *refused = arguments_read(r, forms, &q->arguments);
	if (refused)
		return refused;
	if (!normalize_name(match->project, q->project))
		return server_context_not_found_in(s, match->site->has_private, "no such project");
	q->query = (struct project_query){
		.site = match->site,
		.project = q->project,
		.version = q->arguments.text[ARGUMENT_VERSION],
		.only_platform = q->arguments.text[ARGUMENT_PLATFORM],
		.only_python = q->arguments.text[ARGUMENT_PYTHON],
		.limit = arguments_limit(&q->arguments, PROJECT_ROWS, LIMIT_PROJECT_ROWS),
		.now = clock_wall_seconds(),
		.audit_path = s->audit ? s->audit->path : NULL,
	};
	q->readable = auth_readable(s, r, match->site, q->project, &q->query.platforms);
	q->query.platform = q->readable;
	q->query.hides_upstreams = match->site->merges && !merges_for(&q->query);
	q->query.file_cache = s->file_cache;
	q->query.base = q->base = home_base_url(s, match->site, r);
	refused = find_asked_view(s, match, q);
	if (refused)
		return refused;
	if (!was_any_scanned(&q->query))
		return server_context_not_filled();
	named_find(s, r, q->query.platform, q->query.platforms, q->project, &q->named);
	q->query.named = (const struct platform *const *)q->named.platform;
	q->query.nameds = q->named.platforms;
	q->is_json = negotiate_page_json(r->header[HEADER_ACCEPT], r->format);
	q->coding = negotiate_coding(r->header[HEADER_ACCEPT_ENCODING]);
	make_page_key(s, q);
	return NULL;
}

struct reply *project_handler_inline(struct server_context *s, const struct route_match *match)
{
	CLEANUP(project_request_release) struct project_request q = {0};
	struct reply *refused = read_project_request(s, match, &q);
	return refused ? refused : pagecache_get(s->pagecache, &q.key);
}

// --- the page ---

static int make_project_page(struct server_context *s, struct catalog *c, const void *query, struct buf *out,
	struct err *e)
{
	const struct project_request *q = query;
	struct project_query p = q->query;
	struct err why = ERR_INIT;
	CLEANUP(project_data_release) struct project_data data = {0};
	CLEANUP(results_cleanup) struct results *results = NULL;
	CLEANUP(wheel_gate_cleanup) struct wheel_gate *gate = server_context_gate(s);
	if (build_results_open(s->build_results, s->search_ms, &results, &why) < 0 && why.kind != ERR_NOT_FOUND)
		log_error("%s", why.msg);
	p.results = results;
	p.gate = gate;
	int result = project_data_read(c, &p, &data, e);
	if (result)
		return result;
	const struct html_frame frame = page_frame(s, c, "/-/project/NAME", HTML_SECTION_NONE);
	return q->is_json ? project_json_write(&data, &p, out, e) : project_page_write(&frame, &data, &p, out, e);
}

// --- nothing is known: the answer is the same for a project that only private platforms have ---

static void put_unknown_page(const struct project_request *q, const struct html_frame *frame, const char *meant,
	struct buf *out)
{
	const char *version = q->query.version;
	html_begin(out, frame, *version ? "No such version" : "No such project", "Nothing is known of it here");
	buf_puts(out, "</header>\n<p>");
	buf_puts(out, *version ? "This version is not known. <a href=\"./"
			       : "No platform that you may read has a file "
				 "of a project of this name.");
	if (*version) {
		escape_url(out, str_from(q->project));
		buf_puts(out, "\">All versions</a>.");
	}
	buf_puts(out, "</p>\n");
	if (*meant && !*version) {
		buf_puts(out, "<p>Did you mean <a href=\"./");
		escape_url(out, str_from(meant));
		buf_puts(out, "\">");
		html_text(out, meant);
		buf_puts(out, "</a>?</p>\n");
	}
	html_end(out, "<a href=\"../../\">overview</a>");
}

static void put_unknown_json(const struct project_request *q, const char *meant, struct buf *out)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
	jsondoc_put_str(doc, "error", *q->query.version ? "no such version" : "no such project");
	jsondoc_put_str(doc, "meant", *meant && strcmp(meant, q->project) != 0 ? meant : NULL);
	jsondoc_write(doc, 2, out);
}

// A token may be for some projects only. So only platforms whose list of projects the client may read are searched.
static int find_meant(struct server_context *s, struct catalog *c, const struct route_match *match,
	const struct project_request *q, char meant[LIMIT_FILE_NAME + 1], struct err *e)
{
	struct project_query searched = q->query;
	const struct platform **listed CLEANUP(mem_free) =
		auth_readable(s, match->request, match->site, NULL, &searched.platforms);
	searched.platform = listed;
	return project_data_nearest(c, &searched, meant, e);
}

static struct reply *reply_unknown(struct server_context *s, struct catalog *c, const struct route_match *match,
	const struct project_request *q)
{
	struct err e = ERR_INIT;
	char meant[LIMIT_FILE_NAME + 1];
	CLEANUP(buf_release) struct buf page;
	buf_init(&page, 1 << 20);
	if (find_meant(s, c, match, q, meant, &e) < 0)
		return server_context_error(&e);
	const struct html_frame frame = page_frame(s, c, "/-/project/NAME", HTML_SECTION_NONE);
	if (q->is_json)
		put_unknown_json(q, meant, &page);
	else
		put_unknown_page(q, &frame, meant, &page);
	struct reply *r =
		reply_new(404, q->is_json ? "application/json" : "text/html; charset=utf-8", blob_from_buf(&page));
	server_context_set_freshness(s, r, q->query.site->has_private);
	reply_header(r, "Vary", "Accept");
	reply_header(r, "Content-Security-Policy", "%s", html_policy);
	reply_header(r, "X-Content-Type-Options", "nosniff");
	return r;
}

struct reply *project_handler_worker(struct server_context *s, struct catalog *c, const struct route_match *match)
{
	CLEANUP(project_request_release) struct project_request q = {0};
	struct reply *refused = read_project_request(s, match, &q);
	if (refused)
		return refused;
	const struct costly_page page = {.key = &q.key,
		.coding = q.coding,
		.type = q.is_json ? "application/json" : "text/html; charset=utf-8",
		.policy = html_policy,
		.is_private = q.query.site->has_private || q.query.nameds > 0,
		.path = "/-/project/",
		.name = q.project,
		.most = PAGE_MOST};
	struct reply *r = packed_reply_costly(s, c, &page, match, make_project_page, &q);
	return r ? r : reply_unknown(s, c, match, &q);
}
