// SPDX-License-Identifier: Apache-2.0
#include "server/pages/plan-handler.h"

#include "lib/base/decimal.h"
#include "server/core/auth.h"
#include "server/pages/arguments.h"
#include "server/pages/packed-reply.h"
#include "server/pages/page-frame.h"
#include "server/pages/plan-page.h"

enum { PAGE_BYTES = 4 << 20 };

static struct reply *check_private_platform(struct server_context *s, const struct request *r, const struct platform *p)
{
	return p->is_private ? auth_check(s, r, TOKEN_READ, p->name, NULL, NULL) : NULL;
}

static uint64_t parse_page_number(const char *text)
{
	uint64_t page;
	struct str digits = str_from(text);
	decimal_cut(&digits, 10000000, &page);
	return page;
}

struct reply *plan_handler_worker(struct server_context *s, struct catalog *c, const struct route_match *match)
{
	struct err e = ERR_INIT;
	const struct site *site = server_context_site(s);
	static const enum argument_form forms[ARGUMENT_COUNT] = {[ARGUMENT_PLATFORM] = FORM_PLATFORM};
	struct arguments arguments;
	const char *chosen = match->request->argument[ARGUMENT_CHOSEN]; // digits and dashes
	struct reply *refused = arguments_read(match->request, forms, &arguments);
	if (refused)
		return refused;
	struct str named = str_from(arguments.text[ARGUMENT_PLATFORM]);
	const struct platform *only = site_platform(site, named);
	refused = only        ? check_private_platform(s, match->request, only)
				: named.len ? auth_unknown(s, match->request, TOKEN_READ, named, NULL)
					    : NULL;
	if (refused)
		return refused;
	struct plan_page_query query = {
		.only = only ? only->name : "",
		.verdict = match->request->argument[ARGUMENT_VERDICT] ? arguments.text[ARGUMENT_VERDICT] : NULL,
		.plan = arguments.text[ARGUMENT_PLAN],
		.chosen = chosen ? chosen : "",
		.site = site,
		.upstream = s->upstream,
		.text = arguments.text[ARGUMENT_TEXT],
		.page = parse_page_number(arguments.text[ARGUMENT_PAGE]),
	};
	const struct platform **platforms CLEANUP(mem_free) =
		auth_readable(s, match->request, site, NULL, &query.platforms);
	query.platform = platforms;
	CLEANUP(named_release) struct named may_know = {0};
	named_find(s, match->request, platforms, query.platforms, NULL, &may_know);
	query.named = &may_know;
	bool is_json = negotiate_page_json(match->request->header[HEADER_ACCEPT], match->request->format);
	CLEANUP(buf_release) struct buf page;
	buf_init(&page, PAGE_BYTES);
	page.meter = match->meter;
	const struct html_frame frame = page_frame(s, c, match->request->path, HTML_SECTION_PLAN);
	if ((is_json ? plan_json_write(c, &query, &page, &e) : plan_page_write(&frame, c, &query, &page, &e)) < 0)
		return packed_reply_failed(&page, &e);
	return packed_reply(s, negotiate_coding(match->request->header[HEADER_ACCEPT_ENCODING]),
		is_json ? "application/json" : "text/html; charset=utf-8", html_policy, &page, site->has_private);
}
