// SPDX-License-Identifier: Apache-2.0
#include "server/pages/home.h"

#include <string.h>

#include "lib/os/clock.h"
#include "lib/view/view-time.h"
#include "server/core/auth.h"
#include "server/core/missing-counts.h"
#include "server/pages/home-page.h"
#include "server/pages/packed-reply.h"
#include "server/pages/page-frame.h"
#include "server/message/trusted-proxies.h"

enum { PAGE_BYTES = 4 << 20, HOST_BYTES = 255 };

// Whether it is a host and a port (RFC 9110 section 7.2). Other values are not put into the page.
static bool is_host_header(struct str host)
{
	for (size_t i = 0; i < host.len; i++)
		if (!ascii_is_alnum(host.ptr[i]) && !strchr(".-_:[]", host.ptr[i]))
			return false;
	return host.len > 0 && host.len <= HOST_BYTES;
}

char *home_base_url(const struct server_context *s, const struct site *site, const struct request *r)
{
	if (site->base)
		return xstrdup(site->base);
	const char *host = r->header[HEADER_HOST], *scheme = r->header[HEADER_FORWARDED_PROTO];
	bool is_https = scheme ? str_eq_nocase(str_from(scheme), STR("https")) : s->has_tls;
	return xasprintf("%s://%s" STR_FMT, is_https ? "https" : "http",
		host && is_host_header(str_from(host)) ? host : "localhost",
		STR_ARG(trusted_proxies_prefix(r->header[HEADER_FORWARDED_PREFIX])));
}

// What the page is made of, beside the catalog.
struct home_query {
	const struct site *site;
	const struct request *request;
	struct readable readable; // owned
	struct store_scans_state scans;
	char *base; // owned
	bool is_json;
	enum page_coding coding;
	struct page_key key;
};

static void home_query_release(struct home_query *q)
{
	readable_release(&q->readable);
	mem_free(&q->base);
}

// Who may read the same platforms gets the same page, apart from the server's address.
static void read_home_query(struct server_context *s, const struct route_match *match, struct home_query *q)
{
	const struct request *r = match->request;
	const struct store *store = &match->site->store;
	q->site = match->site;
	q->request = r;
	q->scans = store_scans_state(s->scans);
	q->base = home_base_url(s, q->site, r);
	q->is_json = negotiate_page_json(r->header[HEADER_ACCEPT], r->format);
	q->coding = negotiate_coding(r->header[HEADER_ACCEPT_ENCODING]);
	readable_init(&q->readable, s, r, q->site);
	readable_keep_whole(&q->readable);
	const struct platform **platform CLEANUP(mem_free) = xcalloc(store->platform_count + 1, sizeof(*platform));
	struct page_readers readers = {.site = q->site, .platform = platform};
	for (size_t i = 0; i < store->platform_count; i++)
		if (q->readable.is_readable[i])
			platform[readers.platforms++] = &store->platform[i];
	page_key_make(&q->key, PAGE_HOME, &readers,
		PAGE_VALUES(PAGE_NUMBER(changes_read(s->changes)), PAGE_NUMBER(q->scans.ended),
			PAGE_NUMBER(q->scans.is_running), PAGE_NUMBER(q->is_json), PAGE_NUMBER(q->coding),
			PAGE_TEXT(str_from(q->base))));
}

struct reply *home_inline(struct server_context *s, const struct route_match *match)
{
	CLEANUP(home_query_release) struct home_query q = {0};
	struct reply *refused = match->request->argument[ARGUMENT_SIGN_IN] ? auth_sign_in(s, match->request) : NULL;
	if (refused)
		return refused;
	read_home_query(s, match, &q);
	return pagecache_get(s->pagecache, &q.key);
}

static struct home_page_platform *list_home_platforms(struct server_context *s, const struct site *site)
{
	struct home_page_platform *list = xcalloc(site->store.platform_count + 1, sizeof(*list));
	for (size_t i = 0; i < site->store.platform_count; i++) {
		list[i].totals = server_context_platform_totals(s, i);
		list[i].is_missing_known = missing_counts_get(s->missing_counts, site->store.platform[i].name,
			&list[i].missing, &list[i].missing_counted);
	}
	return list;
}

static int make_home(struct server_context *s, struct catalog *c, const void *query, struct buf *out, struct err *e)
{
	const struct home_query *q = query;
	CLEANUP(overview_data_release) struct overview_data overview = {0};
	if (overview_data_read(s, c, &q->readable, clock_wall_seconds(), &overview, e) < 0)
		return -1;
	CLEANUP(mem_free) struct home_page_platform *platforms = list_home_platforms(s, q->site);
	const struct home_page_stats stats = {
		.platform = platforms,
		.overview = &overview,
		.readable = &q->readable,
		.is_scanning = q->scans.is_running,
		.last_scan = q->scans.ended,
	};
	if (q->is_json) {
		home_json_write(q->site, &stats, q->base, out);
		return out->failed ? err_set(e, ERR_LIMIT, "document larger than %zu bytes", out->cap) : 0;
	}
	const struct html_frame frame = page_frame_for(s, c, q->request->path, HTML_SECTION_HOME, &q->readable);
	return home_page_write(&frame, q->site, &stats, q->base, out, e);
}

struct reply *home_worker(struct server_context *s, struct catalog *c, const struct route_match *match)
{
	CLEANUP(home_query_release) struct home_query q = {0};
	server_context_catch_up(s);
	read_home_query(s, match, &q);
	const struct costly_page page = {.key = &q.key,
		.coding = q.coding,
		.type = q.is_json ? "application/json" : "text/html; charset=utf-8",
		.policy = html_policy,
		.is_private = q.site->has_private,
		.path = "/",
		.name = "",
		.most = PAGE_BYTES};
	return packed_reply_costly(s, c, &page, match, make_home, &q);
}

// A private view is treated as absent, not as refused: a browser asks for /favicon.ico, and must not ask its user for
// a password.
struct reply *home_view_inline(struct server_context *s, const struct route_match *match)
{
	const struct request *request = match->request;
	struct str when;
	const struct view *v = view_time_split(match->site, match->view, &when);
	bool has_token = request->header[HEADER_AUTHORIZATION] != NULL;
	CLEANUP(reply_cleanup)
	struct reply *refused = v && v->is_private && has_token ? auth_read(s, request, v, NULL) : NULL;
	if (!v || refused || (v->is_private && !has_token))
		return server_context_not_found(s, server_context_no_page);
	struct reply *r = reply_text(302, "302 Found: its index is simple/");
	const char *last = strrchr(request->path, '/') + 1;
	reply_header(r, "Location", "./%s%ssimple/", last, *last ? "/" : "");
	return r;
}
