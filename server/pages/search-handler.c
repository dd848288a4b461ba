// SPDX-License-Identifier: Apache-2.0
#include "server/pages/search-handler.h"

#include "lib/base/limits.h"
#include "lib/format/jsondoc.h"
#include "server/pages/arguments.h"
#include "server/pages/packed-reply.h"
#include "server/pages/page-frame.h"
#include "server/pages/search-page.h"

enum { PAGE_MOST = 1 << 20, RESULTS = 20 };

static struct jsondoc *project_json(const struct search_found *f)
{
	struct jsondoc *one = jsondoc_object(), *platforms = jsondoc_array();
	CLEANUP(mem_free) char *url = xasprintf("project/%s", f->name); // a name in normal form needs no escapes
	jsondoc_put_str(one, "name", f->name);
	jsondoc_put_str(one, "match", name_match_name[f->match]);
	jsondoc_put_int(one, "files", (int64_t)f->files);
	for (size_t i = 0; i < f->platforms; i++)
		jsondoc_add_str(platforms, f->platform[i]->name);
	jsondoc_put(one, "platforms", platforms);
	jsondoc_put_bool(one, "upstream", f->is_upstreams);
	jsondoc_put_time(one, "newest", f->newest);
	jsondoc_put_str(one, "url", url);
	return one;
}

static void write_search_json(const struct search_page_query *q, const struct search_data *d, struct buf *out)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
	struct jsondoc *projects = jsondoc_array();
	jsondoc_put_str(doc, "query", q->typed);
	jsondoc_put_str(doc, "name", q->name->text);
	for (size_t i = 0; i < d->count; i++)
		jsondoc_add(projects, project_json(&d->found[i]));
	jsondoc_put(doc, "projects", projects);
	jsondoc_put_int(doc, "total", (int64_t)d->total);
	jsondoc_put_bool(doc, "near", d->is_near);
	jsondoc_write(doc, 0, out);
}

// The form of the page is in the place of the one that the frame has.
static void write_search_page(struct server_context *s, struct catalog *c, const struct request *r,
	const struct search_page_query *q, const struct search_data *d, struct buf *out)
{
	struct html_frame frame = page_frame(s, c, r->path, HTML_SECTION_NONE);
	frame.has_search = false;
	search_page_write(&frame, q, d, out);
}

static struct reply *answer_search(struct server_context *s, struct catalog *c, const struct request *r,
	const struct readable *readable, const struct search_page_query *q, size_t limit)
{
	CLEANUP(search_data_release) struct search_data data = {0};
	CLEANUP(buf_release) struct buf page;
	bool is_json = negotiate_page_json(r->header[HEADER_ACCEPT], r->format);
	buf_init(&page, PAGE_MOST);
	const struct search_places in = {s->project_directory, c, s->owned_names};
	struct err e = ERR_INIT;
	if (q->name->len && search_data_find(&in, readable, q->name, limit, &data, &e) < 0)
		return server_context_error(&e);
	if (is_json)
		write_search_json(q, &data, &page);
	else
		write_search_page(s, c, r, q, &data, &page);
	if (page.failed) {
		e = (struct err){.kind = ERR_LIMIT, .msg = "/-/search: the page is too large"};
		return server_context_error(&e);
	}
	return packed_reply(s, negotiate_coding(r->header[HEADER_ACCEPT_ENCODING]),
		is_json ? "application/json" : "text/html; charset=utf-8", html_policy, &page,
		readable->site->has_private);
}

// What was written before the request is found: the directory is brought up to date first.
struct reply *search_handler_worker(struct server_context *s, struct catalog *c, const struct route_match *match)
{
	static const enum argument_form forms[ARGUMENT_COUNT] = {FORM_TEXT};
	struct arguments arguments;
	struct name_query name;
	struct reply *refused = arguments_read(match->request, forms, &arguments);
	if (refused)
		return refused;
	const char *typed = arguments.text[ARGUMENT_TEXT];
	name_query_read(str_from(typed), &name);
	server_context_catch_up(s);
	CLEANUP(readable_release) struct readable readable;
	readable_init(&readable, s, match->request, match->site);
	const struct search_page_query q = {typed, &name};
	return answer_search(s, c, match->request, &readable, &q, arguments_limit(&arguments, RESULTS, LIMIT_SEARCH_RESULTS));
}
