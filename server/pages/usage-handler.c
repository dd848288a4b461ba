// SPDX-License-Identifier: Apache-2.0
#include "server/pages/usage-handler.h"

#include <string.h>

#include "lib/base/decimal.h"
#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/domain/text/name.h"
#include "lib/os/clock.h"
#include "server/core/readable.h"
#include "server/pages/arguments.h"
#include "server/pages/packed-reply.h"
#include "server/pages/page-frame.h"
#include "server/pages/usage-page.h"

enum {
	PAGE_MOST = 64 << 20,
	PAGE_ROWS = 200, // of a page for people, unless the client says a limit
};

enum usage_form { USAGE_FORM_HTML, USAGE_FORM_JSON, USAGE_FORM_CSV };

struct usage_request {
	struct usage_page_query query;
	struct arguments arguments;
	struct buf project;
	const struct site *site;
	const struct readable *readable;
	enum usage_form form;
	enum page_coding coding;
	struct page_key key; // of what everybody may read
};

static void usage_request_release(struct usage_request *x)
{
	buf_release(&x->project);
}

static enum usage_form read_usage_form(const struct request *r)
{
	if (r->format && strcmp(r->format, "csv") == 0)
		return USAGE_FORM_CSV;
	return negotiate_page_json(r->header[HEADER_ACCEPT], r->format) ? USAGE_FORM_JSON : USAGE_FORM_HTML;
}

static size_t read_usage_limit(const char *text, enum usage_form form)
{
	uint64_t limit = 0;
	struct str digits = str_from(text);
	decimal_cut(&digits, UINT64_MAX, &limit);
	if (!limit)
		return form == USAGE_FORM_HTML ? PAGE_ROWS : LIMIT_USAGE_ROWS;
	return limit < LIMIT_USAGE_ROWS ? (size_t)limit : LIMIT_USAGE_ROWS;
}

// A reply if the request cannot be answered.
static struct reply *read_usage_request(struct server_context *s, const struct route_match *match,
	struct usage_request *x)
{
	static const enum argument_form forms[ARGUMENT_COUNT] = {[ARGUMENT_PROJECT] = FORM_PROJECT};
	const struct page_readers everybody = {.site = match->site};
	const struct request *r = match->request;
	buf_init(&x->project, REQUEST_ARGUMENT_SIZE);
	struct reply *refused = arguments_read(r, forms, &x->arguments);
	if (refused)
		return refused;
	const char *by = x->arguments.text[ARGUMENT_BY];
	if (usage_by_read(*by ? by : NULL, &x->query.by) < 0)
		return arguments_refuse("by is platform, project, version or age");
	name_normalize(str_from(x->arguments.text[ARGUMENT_PROJECT]), &x->project);
	x->query.project = x->project.len ? x->project.data : "";
	x->site = match->site;
	x->form = read_usage_form(r);
	x->query.limit = read_usage_limit(x->arguments.text[ARGUMENT_LIMIT], x->form);
	x->coding = negotiate_coding(r->header[HEADER_ACCEPT_ENCODING]);
	page_key_make(&x->key, PAGE_USAGE, &everybody,
		PAGE_VALUES(PAGE_NUMBER(changes_read(s->changes)), PAGE_NUMBER(x->query.by), PAGE_NUMBER(x->form),
			PAGE_NUMBER(x->coding), PAGE_NUMBER(x->query.limit), PAGE_TEXT(str_from(x->query.project))));
	return NULL;
}

// A client with a token may read more than what is kept.
struct reply *usage_handler_inline(struct server_context *s, const struct route_match *match)
{
	CLEANUP(usage_request_release) struct usage_request x = {0};
	struct reply *refused = read_usage_request(s, match, &x);
	if (refused)
		return refused;
	bool may_read_more = match->site->has_private && match->request->header[HEADER_AUTHORIZATION];
	return may_read_more ? NULL : pagecache_get(s->pagecache, &x.key);
}

static bool may_read_project(void *ctx, int64_t platform, const char *project)
{
	return readable_platform(ctx, platform, project) != NULL;
}

// Without the counts of downloads, whose file may be torn, the rest is told.
static struct downloads *open_downloads(struct server_context *s)
{
	struct err e = ERR_INIT;
	struct downloads *d = NULL;
	if (downloads_open(s->catalog_path, &d, &e) < 0 && e.kind != ERR_NOT_FOUND)
		log_warn("%s", e.msg);
	return d;
}

static int read_usage(struct server_context *s, struct catalog *c, const struct usage_request *x, struct usage *out,
	struct err *e)
{
	const struct store *store = &x->site->store;
	CLEANUP(downloads_cleanup) struct downloads *downloads = open_downloads(s);
	CLEANUP(mem_free) struct usage_platform *platform = xcalloc(store->platform_count + 1, sizeof(*platform));
	struct usage_query q = {.by = x->query.by,
		.downloads = downloads,
		.platform = platform,
		.project = *x->query.project ? x->query.project : NULL,
		.may_read = may_read_project,
		.ctx = (void *)(uintptr_t)x->readable,
		.now = clock_wall_seconds()};
	for (size_t i = 0; i < store->platform_count; i++)
		if (x->readable->is_readable[i] && store->platform[i].id > 0)
			platform[q.platforms++] = (struct usage_platform){store->platform[i].id, store->platform[i].name};
	return usage_read(c, &q, out, e);
}

static int make_usage(struct server_context *s, struct catalog *c, const void *query, struct buf *out, struct err *e)
{
	const struct usage_request *x = query;
	CLEANUP(usage_release) struct usage usage = {0};
	if (read_usage(s, c, x, &usage, e) < 0)
		return -1;
	usage_cut(&usage, x->query.limit);
	const struct html_frame frame = page_frame_for(s, c, "/-/usage/", HTML_SECTION_NONE, x->readable);
	if (x->form == USAGE_FORM_HTML)
		return usage_page_write(&frame, &x->query, &usage, out, e);
	if (x->form == USAGE_FORM_CSV)
		usage_write_csv(&usage, x->query.by, out);
	else
		usage_write_json(&usage, x->query.by, out);
	return out->failed ? err_set(e, ERR_LIMIT, "document larger than %zu bytes", out->cap) : 0;
}

struct reply *usage_handler_worker(struct server_context *s, struct catalog *c, const struct route_match *match)
{
	static const char *const type[] = {"text/html; charset=utf-8", "application/json", "text/csv; charset=utf-8"};
	CLEANUP(usage_request_release) struct usage_request x = {0};
	struct reply *refused = read_usage_request(s, match, &x);
	if (refused)
		return refused;
	server_context_catch_up(s);
	CLEANUP(readable_release) struct readable readable;
	readable_init(&readable, s, match->request, match->site);
	x.readable = &readable;
	const struct costly_page page = {.key = readable.has_private ? NULL : &x.key,
		.coding = x.coding,
		.type = type[x.form],
		.policy = html_policy,
		.is_private = match->site->has_private,
		.path = "/-/usage/",
		.name = "",
		.most = PAGE_MOST};
	return packed_reply_costly(s, c, &page, match, make_usage, &x);
}
