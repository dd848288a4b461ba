// SPDX-License-Identifier: Apache-2.0
#include "server/pages/coverage-handler.h"

#include "server/pages/coverage-page.h"
#include "server/pages/packed-reply.h"
#include "server/pages/page-frame.h"

enum { PAGE_MOST = 64 << 20 };

struct coverage_request {
	struct coverage_query query;
	const struct request *request;
	enum page_coding coding;
	struct buf *link; // the header Link
	struct page_key key; // of what everybody may read
};

static const char *const form_type[] = {
	[COVERAGE_HTML] = "text/html; charset=utf-8",
	[COVERAGE_JSON] = "application/json",
	[COVERAGE_CSV] = "text/csv; charset=utf-8",
};

// A reply if the request cannot be answered.
static struct reply *read_coverage_request(struct server_context *s, const struct route_match *match,
	struct coverage_request *x)
{
	struct coverage_query *q = &x->query;
	const struct page_readers everybody = {.site = match->site};
	x->request = match->request;
	q->site = match->site;
	struct reply *refused = coverage_query_read(match->request, q);
	if (refused)
		return refused;
	x->coding = negotiate_coding(match->request->header[HEADER_ACCEPT_ENCODING]);
	page_key_make(&x->key, PAGE_COVERAGE, &everybody,
		PAGE_VALUES(PAGE_NUMBER(changes_read(s->changes)), PAGE_NUMBER(q->form), PAGE_NUMBER(x->coding),
			PAGE_NUMBER(q->limit), PAGE_TEXT(str_from(q->projects)), PAGE_TEXT(str_from(q->platforms)),
			PAGE_TEXT(str_from(q->pythons)), PAGE_TEXT(str_from(q->states)),
			PAGE_TEXT(str_from(q->after))));
	return NULL;
}

// A client with a token may read more than what is kept.
struct reply *coverage_handler_inline(struct server_context *s, const struct route_match *match)
{
	struct coverage_request x = {0};
	struct reply *refused = read_coverage_request(s, match, &x);
	if (refused)
		return refused;
	bool may_read_more = match->site->has_private && match->request->header[HEADER_AUTHORIZATION];
	return may_read_more ? NULL : pagecache_get(s->pagecache, &x.key);
}

// "rel=next" of RFC 8288, for clients of the CSV too.
static void put_next_link(const struct coverage_query *q, const struct coverage_data *d, struct buf *link)
{
	if (!d->next)
		return;
	buf_puts(link, "<");
	coverage_query_url(q, d->next, link);
	buf_puts(link, ">; rel=\"next\"");
}

static int make_coverage(struct server_context *s, struct catalog *c, const void *query, struct buf *out, struct err *e)
{
	const struct coverage_request *x = query;
	const struct coverage_query *q = &x->query;
	CLEANUP(coverage_data_release) struct coverage_data data = {0};
	if (coverage_data_read(s, c, q, &data, e) < 0)
		return -1;
	put_next_link(q, &data, x->link);
	if (q->form == COVERAGE_JSON)
		return coverage_json_write(q, &data, out, e);
	if (q->form == COVERAGE_CSV)
		return coverage_csv_write(&data, out, e);
	const struct html_frame frame = page_frame_for(s, c, x->request->path, HTML_SECTION_COVERAGE, q->readable);
	return coverage_page_write(&frame, q, &data, out, e);
}

struct reply *coverage_handler_worker(struct server_context *s, struct catalog *c, const struct route_match *match)
{
	struct coverage_request x = {0};
	struct reply *refused = read_coverage_request(s, match, &x);
	if (refused)
		return refused;
	server_context_catch_up(s);
	CLEANUP(readable_release) struct readable readable;
	readable_init(&readable, s, match->request, match->site);
	x.query.readable = &readable;
	CLEANUP(buf_release) struct buf link;
	buf_init(&link, LIMIT_PATH);
	x.link = &link;
	const struct costly_page page = {.key = readable.has_private ? NULL : &x.key,
		.coding = x.coding,
		.type = form_type[x.query.form],
		.policy = html_policy,
		.is_private = match->site->has_private,
		.path = "/-/coverage",
		.name = "",
		.link = &link,
		.most = PAGE_MOST};
	return packed_reply_costly(s, c, &page, match, make_coverage, &x);
}
