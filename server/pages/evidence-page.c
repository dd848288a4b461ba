// SPDX-License-Identifier: Apache-2.0
#include "server/pages/evidence-page.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/domain/text/filename.h"
#include "lib/format/escape.h"
#include "lib/os/clock.h"

static bool is_red(const struct evidence *r)
{
	return r->failed || r->overrides;
}

static void put_evidence_title(struct buf *out, const struct html_frame *frame, const struct evidence *r,
	const struct evidence_page_query *q)
{
	CLEANUP(buf_release) struct buf title, words;
	buf_init(&title, LIMIT_EVIDENCE);
	buf_init(&words, LIMIT_EVIDENCE);
	buf_printf(&title, "%s tests on %s, Python %s", r->kind, r->platform, r->python);
	buf_printf(&words, "%s %s", r->overrides ? "Override" : "Test run", jsondoc_get_str(q->noted, "id"));
	html_begin(out, frame, title.data, words.data);
	buf_printf(out, "<span class=\"state%s\">", is_red(r) ? " busy still" : "");
	if (r->failed)
		html_count(out, r->failed);
	buf_puts(out, r->overrides ? "Override"
		      : r->failed  ? " failed"
		      : r->passed  ? "Passed"
				   : "No test ran");
	buf_puts(out, "</span>\n</header>\n");
}

static void put_evidence_totals(struct buf *out, const struct evidence *r)
{
	buf_puts(out, "<dl>");
	if (!r->overrides) {
		html_total(out, "Passed", r->passed);
		html_total(out, "Failed", r->failed);
		html_total(out, "Skipped", r->skipped);
	}
	html_total(out, "Wheels", r->wheels);
	buf_puts(out, "</dl>\n");
}

static void put_evidence_fact(struct buf *out, const char *name, const char *value)
{
	if (!value || !*value)
		return;
	buf_printf(out, "<div><dt>%s</dt><dd>", name);
	html_text(out, value);
	buf_puts(out, "</dd></div>");
}

// The catalog has it with nanoseconds.
static void put_received(struct buf *out, const char *received)
{
	int64_t seconds;
	char whole[CLOCK_TEXT] = "";
	if (received && strlen(received) >= CLOCK_TEXT - 1)
		snprintf(whole, sizeof(whole), "%.*sZ", CLOCK_TEXT - 2, received);
	if (!clock_read(whole, &seconds))
		return;
	buf_puts(out, "<div><dt>Received</dt><dd>");
	html_time(out, seconds);
	buf_puts(out, "</dd></div>");
}

// What the client may not know is null.
static void put_evidence_facts(struct buf *out, const struct evidence *r, const struct jsondoc *noted)
{
	buf_puts(out, "<dl class=\"facts\"><div><dt>Made</dt><dd>");
	html_time(out, r->made);
	buf_puts(out, "</dd></div>");
	put_received(out, jsondoc_get_str(noted, "received"));
	put_evidence_fact(out, "Sent by", jsondoc_get_str(noted, "by"));
	put_evidence_fact(out, "From", jsondoc_get_str(noted, "address"));
	put_evidence_fact(out, "Counts for the views", jsondoc_get_str(noted, "views"));
	put_evidence_fact(out, "Reason", r->overrides);
	buf_puts(out, "</dl>\n");
}

static void put_test_failures(struct buf *out, const struct evidence *r)
{
	static const char *const column[] = {"Test", "Message"};
	if (!r->failures)
		return;
	buf_puts(out, "<h2>Failed tests</h2>\n");
	html_begin_table(out, "Failed tests", "card wide builds", column, ARRAY_SIZE(column));
	for (size_t i = 0; i < r->failures; i++) {
		buf_puts(out, "<tr><th scope=\"row\" class=\"file\">");
		html_text(out, r->failure[i].name);
		buf_puts(out, "</th><td class=\"why full\">");
		html_text(out, r->failure[i].message);
		buf_puts(out, "</td></tr>\n");
	}
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

static void put_build(struct buf *out, const struct evidence_wheel *w)
{
	char content[SHA256_HEX + 1] = "";
	if (w->has_content)
		hex_encode(w->content, SHA256_SIZE, content);
	html_hash_cell(out, "contents", content);
	html_hash_cell(out, "commit", w->commit);
}

// The file's name, which leads to the page of its version where there is one.
static int put_tested_wheel(struct buf *out, const struct evidence_wheel *w, const struct evidence_page_query *q,
	bool with_build, struct err *e)
{
	char hex[SHA256_HEX + 1] = "";
	CLEANUP(filename_release) struct filename name = {0};
	int has_page = q->has_page(q->ctx, w, e);
	if (has_page < 0 || filename_parse(str_from(w->filename), &name, e) < 0)
		return -1;
	buf_puts(out, "<tr><th scope=\"row\" class=\"file\">");
	if (has_page) {
		buf_puts(out, "<a href=\"../project/");
		escape_url(out, str_from(name.project));
		buf_puts(out, "?version=");
		escape_url(out, str_from(name.version.text));
		buf_puts(out, "\">");
	}
	html_text(out, w->filename);
	buf_puts(out, has_page ? "</a></th>" : "</th>");
	hex_encode(w->sha256, SHA256_SIZE, hex);
	html_hash_cell(out, "SHA-256", hex);
	if (with_build)
		put_build(out, w);
	buf_puts(out, "</tr>\n");
	return 0;
}

static int put_tested_wheels(struct buf *out, const struct evidence *r, const struct evidence_page_query *q, struct err *e)
{
	static const char *const column[] = {"Wheel", "SHA-256", "SHA-256 of the contents", "Commit of the source"};
	bool with_builds = has_builds(r);
	buf_puts(out, "<h2>Wheels</h2>\n<p class=\"note\">");
	buf_puts(out, r->overrides ? "The override is of these bytes alone.</p>\n"
				   : "The record is about these bytes. It counts for a build of equal contents, too, and where a view "
				     "says so, for one from the same commit.</p>\n");
	html_begin_table(out, "Wheels", "card wide builds", column, with_builds ? ARRAY_SIZE(column) : 2);
	for (size_t i = 0; i < r->wheels && i < q->limit; i++)
		if (put_tested_wheel(out, &r->wheel[i], q, with_builds, e) < 0)
			return -1;
	html_end_table(out);
	if (r->wheels > q->limit)
		buf_printf(out, "<nav aria-label=\"Rows\"><a href=\"?format=html&amp;limit=%" PRIu64
				"\">Show more</a></nav>\n", 4 * q->limit);
	return 0;
}

int evidence_page_write(const struct html_frame *frame, const struct evidence *r, const struct evidence_page_query *query,
	struct buf *out, struct err *e)
{
	put_evidence_title(out, frame, r, query);
	put_evidence_totals(out, r);
	put_evidence_facts(out, r, query->noted);
	put_test_failures(out, r);
	if (put_tested_wheels(out, r, query, e) < 0)
		return -1;
	html_end(out, "<a href=\"?format=json\">JSON</a> · <a href=\"../docs/channels.md\">about evidence</a>");
	return out->failed ? err_set(e, ERR_LIMIT, "page of a record: larger than %zu bytes", out->cap) : 0;
}
