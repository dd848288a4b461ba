// SPDX-License-Identifier: Apache-2.0
#include "server/api/view-handler.h"

#include "lib/base/limits.h"
#include "lib/format/jsondoc.h"

static const char *name_of_view(const struct site *site, const struct view *v)
{
	const char *configured = site->config.default_view;
	return v->name ? v->name : configured ? configured : "simple";
}

struct reply *view_handler_inline(struct server_context *s, const struct route_match *match)
{
	const struct view *v = match->found_view;
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
	CLEANUP(buf_release) struct buf body;
	struct jsondoc *platforms = jsondoc_array();
	buf_init(&body, LIMIT_PAGE);
	for (size_t i = 0; i < v->platform_count; i++)
		jsondoc_add_str(platforms, v->platform[i]->name);
	jsondoc_put_str(doc, "name", name_of_view(match->site, v));
	jsondoc_put(doc, "platforms", platforms);
	jsondoc_put_bool(doc, "upstream", v->merges);
	if (v->membership && !match->at && !site_is_incomplete(match->site, v))
		jsondoc_put_int(doc, "generation", site_generation(match->site, v));
	jsondoc_write(doc, 0, &body);
	struct reply *r = reply_new(200, "application/json", blob_from_buf(&body));
	server_context_set_freshness(s, r, v->is_private);
	reply_header(r, "X-Content-Type-Options", "nosniff");
	return r;
}
