// SPDX-License-Identifier: Apache-2.0
#include "server/handlers/evidence-handler.h"

#include <stdlib.h>

#include "lib/base/limits.h"
#include "lib/domain/promotion/evidence.h"
#include "lib/domain/text/filename.h"
#include "lib/format/jsondoc.h"
#include "lib/state/catalog/catalog-evidence.h"
#include "lib/state/catalog/catalog-file.h"
#include "server/core/auth.h"

// What one client may know.
struct evidence_reader {
	struct server_context *context;
	struct catalog *catalog;
	const struct site *site;
	struct token_grant read;
	bool sees_all;
	bool sees_sender; // a token of the client may read its wheels on the record's platform
};

static bool sees_project(const struct evidence_reader *x, const struct platform *p, const char *project)
{
	return !p->is_private || token_grant_has(&x->read, p->name, project);
}

// 1: some platform that the client may read has the file, or had it.
static int sees_wheel(const struct evidence_reader *x, const struct evidence_wheel *wheel, struct err *e)
{
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
static int sees_sender(const struct evidence_reader *x, const struct evidence *r, struct err *e)
{
	for (size_t i = 0; i < r->wheels; i++) {
		CLEANUP(filename_release) struct filename name = {0};
		if (filename_parse(str_from(r->wheel[i].filename), &name, e) < 0)
			return -1;
		if (!token_grant_reads(&x->read, r->platform, name.project))
			return 0;
	}
	return r->wheels > 0;
}

static int sees_record(const struct evidence_reader *x, const struct evidence *r, struct err *e)
{
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
	CLEANUP(evidence_release) struct evidence r = {0};
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
	if (evidence_read(buf_view(&record), &r, e) < 0)
		return -1;
	int sender = sees_sender(x, &r, e);
	x->sees_sender = sender > 0;
	return sender < 0 ? -1 : sees_record(x, &r, e);
}

static struct reply *show_record(const struct evidence_reader *x, struct str id, struct jsondoc *doc)
{
	CLEANUP(mem_free) char *text = xstrndup(id.ptr, id.len);
	CLEANUP(buf_release) struct buf body;
	buf_init(&body, SIZE_MAX / 2);
	jsondoc_put_str(doc, "id", text);
	if (!x->sees_all)
		jsondoc_put_str(doc, "views", NULL);
	if (!x->sees_sender) {
		jsondoc_put_str(doc, "by", NULL);
		jsondoc_put_str(doc, "address", NULL);
	}
	jsondoc_write(doc, 2, &body);
	struct reply *r = reply_new(200, "application/json", blob_from_buf(&body));
	server_context_set_freshness(x->context, r, x->site->has_private || x->sees_sender);
	return r;
}

static void evidence_reader_release(struct evidence_reader *x)
{
	token_grant_release(&x->read);
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
	int found = find_record(&x, match->file, &doc, &e);
	if (found < 0)
		return server_context_error(&e);
	if (found)
		return show_record(&x, match->file, doc);
	return refusal ? STEAL_PTR(refusal)
		       : server_context_not_found_in(s, match->site->has_private, "no such evidence");
}
