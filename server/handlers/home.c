// SPDX-License-Identifier: Apache-2.0
#include "server/handlers/home.h"

#include <string.h>

#include "lib/view/view-time.h"
#include "server/core/auth.h"
#include "server/handlers/home-page.h"
#include "server/handlers/page-frame.h"

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
	const char *host = r->header[HEADER_HOST];
	return xasprintf("%s://%s", s->has_tls ? "https" : "http",
		host && is_host_header(str_from(host)) ? host : "localhost");
}

struct reply *home_worker(struct server_context *s, struct catalog *c, const struct route_match *match)
{
	struct err e = ERR_INIT;
	const struct site *site = server_context_site(s);
	CLEANUP(mem_free) struct catalog_totals *totals = xcalloc(site->store.platform_count, sizeof(*totals));
	CLEANUP(mem_free) char *base = home_base_url(s, site, match->request);
	for (size_t i = 0; i < site->store.platform_count; i++)
		totals[i] = server_context_platform_totals(s, i);
	struct server_callbacks_scans scans;
	s->callbacks->get_scans(s->callbacks->ctx, &scans);
	struct home_page_stats stats = {
		.platform = totals,
		.is_scanning = scans.is_running,
		.last_scan = scans.ended,
	};
	const struct html_frame frame = page_frame(s, c, match->request->path, HTML_SECTION_HOME);
	CLEANUP(buf_release) struct buf page;
	buf_init(&page, PAGE_BYTES);
	if (home_page_write(&frame, site, &stats, base, &page, &e) < 0)
		return server_context_error(&e);
	struct reply *r = reply_new(200, "text/html; charset=utf-8", blob_from_buf(&page));
	server_context_set_freshness(s, r, false);
	reply_header(r, "Content-Security-Policy", "%s", html_policy);
	reply_header(r, "X-Content-Type-Options", "nosniff");
	return r;
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
