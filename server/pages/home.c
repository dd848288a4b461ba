// SPDX-License-Identifier: Apache-2.0
#include "server/pages/home.h"

#include <string.h>

#include "lib/view/view-time.h"
#include "server/core/auth.h"
#include "server/core/missing-counts.h"
#include "server/pages/home-page.h"
#include "server/pages/page.h"

enum { HOME_SCAN_ENDED, HOME_IS_SCANNING }; // numbers of the query

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

static struct reply *prepare_home(struct page_query *q)
{
	const struct request *r = q->match->request;
	struct reply *refused = !q->catalog && r->argument[ARGUMENT_SIGN_IN] ? auth_sign_in(q->context, r) : NULL;
	struct store_scans_state scans = store_scans_state(q->context->scans);
	q->number[HOME_SCAN_ENDED] = (uint64_t)scans.ended;
	q->number[HOME_IS_SCANNING] = scans.is_running;
	q->is_private = q->site->has_private;
	return refused;
}

static int write_home(struct page_query *q, struct buf *out, struct err *e)
{
	CLEANUP(overview_data_release) struct overview_data overview = {0};
	if (overview_data_read(q->context, q->catalog, &q->readable, q->now, &overview, e) < 0)
		return -1;
	CLEANUP(mem_free) struct home_page_platform *platforms = list_home_platforms(q->context, q->site);
	const struct home_page_stats stats = {
		.platform = platforms,
		.overview = &overview,
		.readable = &q->readable,
		.is_scanning = q->number[HOME_IS_SCANNING],
		.last_scan = (int64_t)q->number[HOME_SCAN_ENDED],
	};
	if (q->form == PAGE_FORM_HTML)
		home_page_write(&q->frame, q->site, &stats, q->base, out);
	else
		home_json_write(q->site, &stats, q->base, out);
	return 0;
}

// Who may read the same platforms gets the same page, apart from the server's address.
const struct page_row home_page = {
	.section = HTML_SECTION_HOME,
	.kind = PAGE_HOME,
	.scope = PAGE_SCOPE_WHOLE,
	.has_base = true,
	.needs_directory = true,
	.has_own_frame = true,
	.forms = 1 << PAGE_FORM_HTML | 1 << PAGE_FORM_JSON,
	.most = 4 << 20,
	.prepare = prepare_home,
	.write = write_home,
};

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
