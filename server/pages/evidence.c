// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/domain/promotion/evidence.h"
#include "lib/domain/text/filename.h"
#include "lib/format/escape.h"
#include "lib/os/clock.h"
#include "lib/state/catalog/catalog-evidence.h"
#include "lib/state/catalog/catalog-file.h"
#include "server/core/auth.h"
#include "server/core/auth.h"
#include "server/pages/page.h"

// --- what the client may know ---

// What one client may know.
struct evidence_reader {
	struct page_query *query;
	bool sees_all;
	bool sees_sender; // a token of the client may read its wheels on the record's platform
	struct evidence record;
};

// 1: some platform that the client may read has the file, or had it.
static int sees_wheel(const struct evidence_reader *x, const struct evidence_wheel *wheel, struct err *e)
{
	const struct store *store = &x->query->site->store;
	CLEANUP(filename_release) struct filename name = {0};
	if (filename_parse(str_from(wheel->filename), &name, e) < 0)
		return -1;
	for (size_t i = 0; i < store->platform_count; i++) {
		const struct platform *p = &store->platform[i];
		CLEANUP(catalog_place_release) struct catalog_place place = {0};
		struct err why = ERR_INIT;
		if (!readable_has(&x->query->readable, p, name.project))
			continue;
		if (catalog_find_file(x->query->catalog, p->id, wheel->filename, &place, &why) == 0)
			return 1;
		if (why.kind != ERR_NOT_FOUND) {
			*e = why;
			return -1;
		}
	}
	return 0;
}

// As on every page (readable_names()); the record's platform may be none of the site's.
static int sees_sender(const struct evidence_reader *x, struct err *e)
{
	const struct evidence *r = &x->record;
	for (size_t i = 0; i < r->wheels; i++) {
		CLEANUP(filename_release) struct filename name = {0};
		if (filename_parse(str_from(r->wheel[i].filename), &name, e) < 0)
			return -1;
		if (!token_grant_reads(&x->query->readable.grant, r->platform, name.project))
			return 0;
	}
	return r->wheels > 0;
}

static int sees_record(struct evidence_reader *x, struct err *e)
{
	const struct evidence *r = &x->record;
	const struct platform *p = site_platform(x->query->site, str_from(r->platform));
	if (x->sees_all)
		return 1;
	if (!p || !readable_has(&x->query->readable, p, NULL))
		return 0;
	for (size_t i = 0; i < r->wheels; i++) {
		int seen = sees_wheel(x, &r->wheel[i], e);
		if (seen <= 0)
			return seen;
	}
	return 1;
}

// 1: *out becomes what is noted of the record; 0: there is none that the client may see.
static int find_record(struct evidence_reader *x, struct str id, struct jsondoc **out, struct err *e)
{
	uint8_t sha256[SHA256_SIZE];
	struct err why = ERR_INIT;
	CLEANUP(buf_release) struct buf text = buf_up_to(2 * LIMIT_EVIDENCE), record = buf_up_to(2 * LIMIT_EVIDENCE);
	if (!hex_decode(id, sha256, SHA256_SIZE))
		return 0;
	if (catalog_evidence_get(x->query->catalog, sha256, &text, &why) < 0)
		return err_unless_missing(e, &why);
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
	if (!x->sees_sender)
		jsondoc_set(doc, "by:s address:s", NULL, NULL);
}

// --- HTML ---

static void put_evidence_fact(struct buf *out, const char *name, const char *value)
{
	if (!value || !*value)
		return;
	html_put(out, "<div><dt>%h</dt><dd>%s</dd></div>", name, value);
}

static void put_test_failures(struct buf *out, const struct evidence *r)
{
	if (!r->failures)
		return;
	buf_puts(out, "<h2>Failed tests</h2>\n");
	html_begin_table(out, "Failed tests", "card wide builds", "Test|Message");
	for (size_t i = 0; i < r->failures; i++)
		html_put(out, "<tr><th scope=\"row\" class=\"file\">%s</th><td class=\"why full\">%s</td></tr>\n",
			r->failure[i].name, r->failure[i].message);
	html_end_table(out);
	if (r->failed > r->failures)
		buf_puts(out, "<p class=\"note\">The record names the first ones only.</p>\n");
}

// Whether it knows of a wheel what ties it to other builds.
static bool has_builds(const struct evidence *r)
{
	for (size_t i = 0; i < r->wheels; i++)
		if (r->wheel[i].has_content || r->wheel[i].commit)
			return true;
	return false;
}

// The file's name, which leads to the page of its version where there is one.
static int put_tested_wheel(const struct evidence_reader *x, const struct evidence_wheel *w, bool with_build,
	struct buf *out, struct err *e)
{
	char hex[SHA256_HEX + 1] = "";
	CLEANUP(filename_release) struct filename name = {0};
	int has_page = sees_wheel(x, w, e);
	if (has_page < 0 || filename_parse(str_from(w->filename), &name, e) < 0)
		return -1;
	buf_puts(out, "<tr><th scope=\"row\" class=\"file\">");
	if (has_page)
		html_put(out, "<a href=\"../project/%u?version=%u\">", name.project, name.version.text);
	html_put(out, "%s%h", w->filename, has_page ? "</a></th>" : "</th>");
	hex_encode(w->sha256, SHA256_SIZE, hex);
	html_hash_cell(out, "SHA-256", hex);
	if (with_build) {
		char content[SHA256_HEX + 1] = "";
		if (w->has_content)
			hex_encode(w->content, SHA256_SIZE, content);
		html_hash_cell(out, "contents", content);
		html_hash_cell(out, "commit", w->commit);
	}
	buf_puts(out, "</tr>\n");
	return 0;
}

static int put_tested_wheels(const struct evidence_reader *x, struct buf *out, struct err *e)
{
	const struct evidence *r = &x->record;
	size_t limit = x->query->limit;
	bool with_builds = has_builds(r);
	html_put(out, "<h2>Wheels</h2>\n<p class=\"note\">%h",
		r->overrides ? "The override is of these bytes alone.</p>\n"
			     : "The record is about these bytes. It counts for a build of equal contents, too, and where a view "
			       "says so, for one from the same commit.</p>\n");
	html_begin_table(out, "Wheels", "card wide builds",
		with_builds ? "Wheel|SHA-256|SHA-256 of the contents|Commit of the source" : "Wheel|SHA-256");
	for (size_t i = 0; i < r->wheels && i < limit; i++)
		if (put_tested_wheel(x, &r->wheel[i], with_builds, out, e) < 0)
			return -1;
	html_end_table(out);
	if (r->wheels > limit)
		buf_printf(out, "<nav aria-label=\"Rows\"><a href=\"?format=html&amp;limit=%zu\">Show more</a></nav>\n",
			4 * limit);
	return 0;
}

static int write_evidence_html(struct evidence_reader *x, const struct jsondoc *noted, struct buf *out, struct err *e)
{
	const struct evidence *r = &x->record;
	CLEANUP(buf_release) struct buf title = buf_up_to(LIMIT_EVIDENCE), words = buf_up_to(LIMIT_EVIDENCE);
	buf_printf(&title, "%s tests on %s, Python %s", r->kind, r->platform, r->python);
	buf_printf(&words, "%s %s", r->overrides ? "Override" : "Test run", jsondoc_get_str(noted, "id"));
	html_begin(out, page_frame(x->query), title.data, words.data);
	buf_printf(out, "<span class=\"state%s\">", (r->failed || r->overrides) ? " busy still" : "");
	if (r->failed)
		html_count(out, r->failed);
	html_put(out, "%h</span>\n</header>\n<dl>",
		r->overrides ? "Override" : r->failed ? " failed" : r->passed ? "Passed" : "No test ran");
	if (!r->overrides) {
		html_total(out, "Passed", r->passed);
		html_total(out, "Failed", r->failed);
		html_total(out, "Skipped", r->skipped);
	}
	html_total(out, "Wheels", r->wheels);
	buf_puts(out, "</dl>\n");
	// What the client may not know is null.
	html_put(out, "<dl class=\"facts\"><div><dt>Made</dt><dd>%t</dd></div>", r->made);
	// The catalog has it with nanoseconds.
	const char *received = jsondoc_get_str(noted, "received");
	int64_t seconds;
	char whole[CLOCK_TEXT] = "";
	if (received && strlen(received) >= CLOCK_TEXT - 1)
		snprintf(whole, sizeof(whole), "%.*sZ", CLOCK_TEXT - 2, received);
	if (clock_read(whole, &seconds))
		html_put(out, "<div><dt>Received</dt><dd>%t</dd></div>", seconds);
	put_evidence_fact(out, "Sent by", jsondoc_get_str(noted, "by"));
	put_evidence_fact(out, "From", jsondoc_get_str(noted, "address"));
	put_evidence_fact(out, "Counts for the views", jsondoc_get_str(noted, "views"));
	put_evidence_fact(out, "Reason", r->overrides);
	buf_puts(out, "</dl>\n");
	put_test_failures(out, r);
	if (put_tested_wheels(x, out, e) < 0)
		return -1;
	html_end(out, "<a href=\"?format=json\">JSON</a> · <a href=\"../docs/channels.md\">about evidence</a>");
	return 0;
}

// --- the page ---

static void evidence_reader_release(struct evidence_reader *x)
{
	evidence_release(&x->record);
}

static int write_evidence(struct page_query *q, struct buf *out, struct err *e)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = NULL;
	CLEANUP(evidence_reader_release) struct evidence_reader x = {.query = q};
	// The answer to an unknown record, too, which is that to a hidden one.
	CLEANUP(reply_cleanup) struct reply *refusal = auth_unknown(q->context, q->match->request, TOKEN_READ, STR(""), NULL);
	x.sees_all = !refusal;
	int found = find_record(&x, q->match->id, &doc, e);
	if (found < 0)
		return -1;
	if (!found)
		return page_answer(q, refusal ? STEAL_PTR(refusal) : page_not_found(q, "no such evidence"));
	struct reply *refused = page_read_arguments(q, q->match->request);
	if (refused)
		return page_answer(q, refused);
	q->is_private = q->site->has_private || x.sees_sender;
	CLEANUP(mem_free) char *id = xstrndup(q->match->id.ptr, q->match->id.len);
	jsondoc_put_str(doc, "id", id);
	hide_what_is_noted(&x, doc);
	if (q->form == PAGE_FORM_HTML)
		return write_evidence_html(&x, doc, out, e);
	jsondoc_write(doc, 2, out);
	return 0;
}

const struct page_row evidence_page = {
	.section = HTML_SECTION_NONE,
	.is_data_first = true,
	.rows = 500, // of wheels
	.rows_most = LIMIT_EVIDENCE_WHEELS,
	.most = 64 << 20,
	.write = write_evidence,
};
