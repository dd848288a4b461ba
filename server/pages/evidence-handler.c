// SPDX-License-Identifier: Apache-2.0
#include "server/pages/evidence-handler.h"

#include <stdlib.h>

#include "lib/base/limits.h"
#include "lib/domain/promotion/evidence.h"
#include "lib/domain/text/filename.h"
#include "lib/format/jsondoc.h"
#include "lib/state/catalog/catalog-evidence.h"
#include "lib/state/catalog/catalog-file.h"
#include "server/core/auth.h"
#include "server/pages/arguments.h"
#include "server/pages/evidence-page.h"
#include "server/pages/packed-reply.h"
#include "server/pages/page-frame.h"

enum {
	PAGE_MOST = 64 << 20,
	EVIDENCE_ROWS = 500, // of wheels on the page, unless the client says a limit
};

// What one client may know.
struct evidence_reader {
	struct server_context *context;
	struct catalog *catalog;
	const struct site *site;
	struct token_grant read;
	bool sees_all;
	bool sees_sender; // a token of the client may read its wheels on the record's platform
	struct evidence record;
};

static bool sees_project(const struct evidence_reader *x, const struct platform *p, const char *project)
{
	return !p->is_private || token_grant_has(&x->read, p->name, project);
}

// 1: some platform that the client may read has the file, or had it.
static int sees_wheel(void *ctx, const struct evidence_wheel *wheel, struct err *e)
{
	const struct evidence_reader *x = ctx;
	CLEANUP(filename_release) struct filename name = {0};
	if (filename_parse(str_from(wheel->filename), &name, e) < 0)
		return -1;
	for (size_t i = 0; i < x->site->store.platform_count; i++) {
		const struct platform *p = &x->site->store.platform[i];
		CLEANUP(catalog_place_release) struct catalog_place place = {0};
		struct err why = ERR_INIT;
		if (!sees_project(x, p, name.project))
			continue;
		if (catalog_find_file(x->catalog, p->id, wheel->filename, &place, &why) == 0)
			return 1;
		if (why.kind != ERR_NOT_FOUND) {
			*e = why;
			return -1;
		}
	}
	return 0;
}

// As on every page (server/core/named.h); the record's platform may be none of the site's.
static int sees_sender(const struct evidence_reader *x, struct err *e)
{
	const struct evidence *r = &x->record;
	for (size_t i = 0; i < r->wheels; i++) {
		CLEANUP(filename_release) struct filename name = {0};
		if (filename_parse(str_from(r->wheel[i].filename), &name, e) < 0)
			return -1;
		if (!token_grant_reads(&x->read, r->platform, name.project))
			return 0;
	}
	return r->wheels > 0;
}

static int sees_record(struct evidence_reader *x, struct err *e)
{
	const struct evidence *r = &x->record;
	const struct platform *p = site_platform(x->site, str_from(r->platform));
	if (x->sees_all)
		return 1;
	if (!p || !sees_project(x, p, NULL))
		return 0;
	for (size_t i = 0; i < r->wheels; i++) {
		int seen = sees_wheel(x, &r->wheel[i], e);
		if (seen <= 0)
			return seen;
	}
	return 1;
}

// 1: text becomes the file of the record; 0: there is none that the client may see.
static int find_record(struct evidence_reader *x, struct str id, struct jsondoc **out, struct err *e)
{
	uint8_t sha256[SHA256_SIZE];
	struct err why = ERR_INIT;
	CLEANUP(buf_release) struct buf text, record;
	buf_init(&text, 2 * LIMIT_EVIDENCE);
	buf_init(&record, 2 * LIMIT_EVIDENCE);
	if (!hex_decode(id, sha256, SHA256_SIZE))
		return 0;
	if (catalog_evidence_get(x->catalog, sha256, &text, &why) < 0) {
		*e = why;
		return why.kind == ERR_NOT_FOUND ? 0 : -1;
	}
	*out = jsondoc_read(buf_view(&text), e);
	const struct jsondoc *found = *out ? jsondoc_get(*out, "record") : NULL;
	if (!found)
		return err_set(e, ERR_DB, "the catalog has damaged evidence");
	jsondoc_write(found, 0, &record);
	if (evidence_read(buf_view(&record), &x->record, e) < 0)
		return -1;
	int sender = sees_sender(x, e);
	x->sees_sender = sender > 0;
	return sender < 0 ? -1 : sees_record(x, e);
}

// What the client may not know becomes null.
static void hide_what_is_noted(const struct evidence_reader *x, struct jsondoc *doc)
{
	if (!x->sees_all)
		jsondoc_put_str(doc, "views", NULL);
	if (!x->sees_sender) {
		jsondoc_put_str(doc, "by", NULL);
		jsondoc_put_str(doc, "address", NULL);
	}
}

static int write_record_page(struct evidence_reader *x, const struct request *r, const struct arguments *a,
	const struct jsondoc *doc, struct buf *out, struct err *e)
{
	const struct html_frame frame = page_frame(x->context, x->catalog, r->path, HTML_SECTION_NONE);
	const struct evidence_page_query query = {
		doc, arguments_limit(a, EVIDENCE_ROWS, LIMIT_EVIDENCE_WHEELS), sees_wheel, x};
	return evidence_page_write(&frame, &x->record, &query, out, e);
}

// Either form, as the client prefers.
static int write_record(struct evidence_reader *x, const struct request *r, const struct arguments *a,
	const struct jsondoc *doc, bool is_html, struct buf *out, struct err *e)
{
	if (is_html)
		return write_record_page(x, r, a, doc, out, e);
	jsondoc_write(doc, 2, out);
	return out->failed ? err_set(e, ERR_LIMIT, "record: more than %zu bytes of JSON", out->cap) : 0;
}

static struct reply *show_record(struct evidence_reader *x, const struct route_match *match, struct jsondoc *doc)
{
	static const enum argument_form forms[ARGUMENT_COUNT] = {FORM_TEXT};
	struct err e = ERR_INIT;
	struct arguments arguments;
	const struct request *r = match->request;
	bool is_html = negotiate_data_html(r->header[HEADER_ACCEPT], r->format);
	CLEANUP(mem_free) char *id = xstrndup(match->id.ptr, match->id.len);
	CLEANUP(buf_release) struct buf body;
	buf_init(&body, PAGE_MOST);
	body.meter = match->meter;
	struct reply *refused = arguments_read(r, forms, &arguments);
	if (refused)
		return refused;
	jsondoc_put_str(doc, "id", id);
	hide_what_is_noted(x, doc);
	if (write_record(x, r, &arguments, doc, is_html, &body, &e) < 0)
		return packed_reply_failed(&body, &e);
	return packed_reply(x->context, negotiate_coding(r->header[HEADER_ACCEPT_ENCODING]),
		is_html ? "text/html; charset=utf-8" : "application/json", html_policy, &body,
		x->site->has_private || x->sees_sender);
}

static void evidence_reader_release(struct evidence_reader *x)
{
	token_grant_release(&x->read);
	evidence_release(&x->record);
}

struct reply *evidence_handler_worker(struct server_context *s, struct catalog *c, const struct route_match *match)
{
	struct err e = ERR_INIT;
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = NULL;
	CLEANUP(evidence_reader_release)
	struct evidence_reader x = {.context = s, .catalog = c, .site = match->site};
	// The answer to an unknown record, too, which is that to a hidden one.
	CLEANUP(reply_cleanup) struct reply *refusal = auth_unknown(s, match->request, TOKEN_READ, STR(""), NULL);
	auth_read_grant(s, match->request, &x.read);
	x.sees_all = !refusal;
	int found = find_record(&x, match->id, &doc, &e);
	if (found < 0)
		return server_context_error(&e);
	if (found)
		return show_record(&x, match, doc);
	return refusal ? STEAL_PTR(refusal)
		       : server_context_not_found_in(s, match->site->has_private, "no such evidence");
}
