// SPDX-License-Identifier: Apache-2.0
#include "server/pages/log-handler.h"

#include <string.h>

#include "lib/base/decimal.h"
#include "lib/base/limits.h"
#include "lib/state/access/audit.h"
#include "server/core/auth.h"
#include "server/pages/arguments.h"
#include "server/pages/log-page.h"
#include "server/pages/packed-reply.h"
#include "server/pages/page-frame.h"

enum { PAGE_MOST = 64 << 20, LOG_ROWS = 200 }; // rows: unless the client says a limit

static size_t read_log_limit(const char *text)
{
	uint64_t limit = 0;
	struct str digits = str_from(text);
	decimal_cut(&digits, UINT64_MAX, &limit);
	return !limit ? LOG_ROWS : limit < LIMIT_LOG_ROWS ? (size_t)limit : LIMIT_LOG_ROWS;
}

// NULL, or the 400.
static struct reply *read_asked(const struct request *r, struct arguments *a, struct audit_asked *out)
{
	static const enum argument_form forms[ARGUMENT_COUNT] = {FORM_TEXT};
	struct err e = ERR_INIT;
	struct reply *refused = arguments_read(r, forms, a);
	if (refused)
		return refused;
	if (*a->text[ARGUMENT_TEXT] && audit_asked_subject(out, a->text[ARGUMENT_TEXT], &e) < 0)
		return arguments_refuse("q is the name of a project or of a file");
	if (*a->text[ARGUMENT_SINCE] && audit_asked_since(out, a->text[ARGUMENT_SINCE], &e) < 0)
		return arguments_refuse("since is a time, such as 2026-11-22, or a duration, such as 7d");
	return NULL;
}

static struct reply *show_log(struct server_context *s, struct catalog *c, const struct route_match *match,
	const struct log_page_query *q, const struct log_data *d)
{
	struct err e = ERR_INIT;
	const struct request *r = match->request;
	CLEANUP(buf_release) struct buf page;
	bool is_text = r->format && strcmp(r->format, "text") == 0;
	bool is_json = !is_text && negotiate_page_json(r->header[HEADER_ACCEPT], r->format);
	const struct html_frame frame = page_frame(s, c, "/-/log/", HTML_SECTION_NONE);
	buf_init(&page, PAGE_MOST);
	page.meter = match->meter;
	int written = is_text   ? log_text_write(d, &page, &e)
		      : is_json ? log_json_write(d, &page, &e)
				: log_page_write(&frame, q, d, &page, &e);
	if (written < 0)
		return packed_reply_failed(&page, &e);
	return packed_reply(s, negotiate_coding(r->header[HEADER_ACCEPT_ENCODING]),
		is_text   ? "text/plain; charset=utf-8"
		: is_json ? "application/json"
			  : "text/html; charset=utf-8",
		html_policy, &page, true);
}

struct reply *log_handler_worker(struct server_context *s, struct catalog *c, const struct route_match *match)
{
	struct err e = ERR_INIT;
	struct arguments arguments;
	CLEANUP(mem_free) char *who = NULL;
	CLEANUP(token_grant_release) struct token_grant grant = {0};
	CLEANUP(audit_asked_release) struct audit_asked asked = {0};
	CLEANUP(log_data_release) struct log_data data = {0};
	struct reply *refused = read_asked(match->request, &arguments, &asked);
	if (refused)
		return refused;
	refused = auth_grant(s, match->request, TOKEN_READ, NULL, &grant, &who);
	if (refused)
		return refused;
	const struct log_page_query page = {arguments.text[ARGUMENT_TEXT], arguments.text[ARGUMENT_SINCE],
		read_log_limit(arguments.text[ARGUMENT_LIMIT])};
	const struct log_query q = {
		match->site, &grant, &asked, s->audit ? s->audit->path : NULL, page.limit};
	if (q.audit_path && log_data_read(&q, &data, &e) < 0)
		return server_context_error(&e);
	return show_log(s, c, match, &page, &data);
}
