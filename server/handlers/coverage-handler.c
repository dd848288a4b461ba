// SPDX-License-Identifier: Apache-2.0
#include "server/handlers/coverage-handler.h"

#include <stdio.h>
#include <string.h>

#include "server/handlers/coverage-page.h"
#include "server/handlers/packed-reply.h"
#include "server/handlers/page-frame.h"

enum { PAGE_MOST = 64 << 20, KEY_SIZE = 8 * REQUEST_ARGUMENT_SIZE };

struct coverage_request {
	struct coverage_query query;
	const struct request *request;
	enum page_coding coding;
	struct buf *link; // the header Link
	char key[KEY_SIZE];
};

static const char *const form_type[] = {
	[COVERAGE_HTML] = "text/html; charset=utf-8",
	[COVERAGE_JSON] = "application/json",
	[COVERAGE_CSV] = "text/csv; charset=utf-8",
};

// A reply if the request cannot be answered. The key is of what everybody may read; no argument has a "/" in the key that
// could be another one's, because each has its length.
static struct reply *read_coverage_request(struct server_context *s, const struct route_match *match,
	struct coverage_request *x)
{
	const char *why = "";
	struct coverage_query *q = &x->query;
	x->request = match->request;
	q->site = match->site;
	if (!coverage_query_read(match->request, q, &why)) {
		struct reply *r = reply_text(400, "400 Bad Request: %s", why);
		reply_header(r, "Cache-Control", "no-store");
		return r;
	}
	x->coding = negotiate_coding(match->request->header[HEADER_ACCEPT_ENCODING]);
	snprintf(x->key, sizeof(x->key), "coverage/%u/%d%d/%zu/%zu:%s/%zu:%s/%zu:%s/%zu:%s/%zu:%s",
		(unsigned)changes_read(s->changes), q->form, x->coding, q->limit, strlen(q->projects), q->projects,
		strlen(q->platforms), q->platforms, strlen(q->pythons), q->pythons, strlen(q->states), q->states,
		strlen(q->after), q->after);
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
	return may_read_more ? NULL : pagecache_get(s->pagecache, str_from(x.key));
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
	const struct html_frame frame = page_frame(s, c, x->request->path, HTML_SECTION_COVERAGE);
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
	const struct costly_page page = {.key = readable.has_private ? STR("") : str_from(x.key),
		.coding = x.coding,
		.type = form_type[x.query.form],
		.policy = html_policy,
		.is_private = match->site->has_private,
		.path = "/-/coverage",
		.name = "",
		.link = &link,
		.most = PAGE_MOST};
	return packed_reply_costly(s, c, &page, match->pages_cleared, make_coverage, &x);
}
