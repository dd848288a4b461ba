// SPDX-License-Identifier: Apache-2.0
#include "server/handlers/plan-page.h"

#include <inttypes.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/format/escape.h"
#include "lib/format/jsondoc.h"
#include "lib/os/clock.h"
#include "lib/state/catalog/catalog-plan.h"
#include "server/handlers/html-layout.h"

enum { ROWS = 200 };

static const char *const verdicts[] = {"duplicate", "superseded", "pure", "off-list", "unusable", "corrupt", "keep"};

struct plan_page_writer {
	const struct html_frame *frame;
	const struct plan_page_query *query;
	struct catalog *catalog;
	const struct jsondoc *head; // the plan without its files
	struct buf *out;
	char text[LIMIT_FILE_NAME + 1]; // query->text in lower case
};

static void put_html_text(struct buf *out, const char *text)
{
	escape_html(out, str_from(text));
}

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

static int64_t get_count(const struct jsondoc *object, const char *key)
{
	int64_t n = 0;
	return object && jsondoc_get_int(object, key, &n) && n > 0 ? n : 0;
}

// --- sums ---

struct page_sum {
	uint64_t files, bytes;
};

// Of the plan's totals. verdict NULL: any; removes -1: both.
static struct page_sum sum_of_platform(const struct plan_page_writer *w, const char *platform, const char *verdict,
	int removes)
{
	const struct jsondoc *totals = jsondoc_get(w->head, "totals");
	struct page_sum sum = {0};
	for (size_t i = 0; totals && i < jsondoc_count(totals); i++) {
		const struct jsondoc *t = jsondoc_at(totals, i);
		if (strcmp(platform, or_empty(jsondoc_get_str(t, "platform"))) != 0 ||
			(verdict && strcmp(verdict, or_empty(jsondoc_get_str(t, "verdict"))) != 0) ||
			(removes >= 0 && removes != jsondoc_is_true(t, "removes")))
			continue;
		sum.files += (uint64_t)get_count(t, "files");
		sum.bytes += (uint64_t)get_count(t, "bytes");
	}
	return sum;
}

static struct page_sum sum_of_platforms(const struct plan_page_writer *w, int removes)
{
	struct page_sum all = {0};
	for (size_t i = 0; i < w->query->platforms; i++) {
		struct page_sum one = sum_of_platform(w, w->query->platform[i]->name, NULL, removes);
		all.files += one.files;
		all.bytes += one.bytes;
	}
	return all;
}

static void put_plan_totals(struct plan_page_writer *w)
{
	struct page_sum removed = sum_of_platforms(w, 1), kept = sum_of_platforms(w, 0);
	const struct jsondoc *asked = jsondoc_get(w->head, "look-ups");
	buf_puts(w->out, "<dl><div><dt>To be removed</dt><dd>");
	html_count(w->out, removed.files);
	buf_puts(w->out, "</dd></div><div><dt>Their size</dt><dd>");
	html_size(w->out, removed.bytes);
	buf_puts(w->out, "</dd></div><div><dt>Stay</dt><dd>");
	html_count(w->out, kept.files);
	buf_puts(w->out, "</dd></div><div><dt>Projects asked upstream</dt><dd>");
	html_count(w->out, (uint64_t)get_count(asked, "projects"));
	buf_puts(w->out, "</dd></div><div><dt>Failed look-ups</dt><dd>");
	html_count(w->out, (uint64_t)get_count(asked, "failed"));
	buf_puts(w->out, "</dd></div></dl>\n");
}

// A link to the same page with another query; the caller closes it.
static void begin_query_link(struct plan_page_writer *w, const char *platform, const char *verdict, const char *text,
	uint64_t page)
{
	const char *const part[][2] = {{"platform", platform}, {"verdict", verdict}, {"q", text}};
	const char *between = "?";
	buf_puts(w->out, "<a href=\"./");
	for (size_t i = 0; i < ARRAY_SIZE(part); i++) {
		if (!*part[i][1])
			continue;
		buf_printf(w->out, "%s%s=", between, part[i][0]);
		escape_url(w->out, str_from(part[i][1]));
		between = "&amp;";
	}
	if (page > 1)
		buf_printf(w->out, "%spage=%" PRIu64, between, page);
	buf_puts(w->out, "\">");
}

static void put_sum_cell(struct plan_page_writer *w, const char *platform, const char *verdict, uint64_t files)
{
	buf_printf(w->out, "<td class=\"n%s\" data-of=\"%s\">", files ? "" : " zero", verdict);
	if (files)
		begin_query_link(w, platform, verdict, "", 1);
	html_count(w->out, files);
	buf_puts(w->out, files ? "</a></td>" : "</td>");
}

static void put_platform_row(struct plan_page_writer *w, const char *name)
{
	struct page_sum removed = sum_of_platform(w, name, NULL, 1);
	buf_puts(w->out, "<tr><th scope=\"row\">");
	begin_query_link(w, name, "", "", 1);
	put_html_text(w->out, name);
	buf_puts(w->out, "</a></th>");
	for (size_t i = 0; i < ARRAY_SIZE(verdicts); i++)
		put_sum_cell(w, name, verdicts[i], sum_of_platform(w, name, verdicts[i], -1).files);
	put_sum_cell(w, name, "removed", removed.files);
	buf_puts(w->out, "<td class=\"n\" data-of=\"\">");
	html_size(w->out, removed.bytes);
	buf_puts(w->out, "</td></tr>\n");
}

static void put_platform_sums(struct plan_page_writer *w)
{
	buf_puts(w->out, "<h2>By platform and verdict</h2>\n");
	html_begin_box(w->out, "By platform and verdict", "card wide");
	buf_puts(w->out, "<table class=\"sums\">\n<thead><tr><th scope=\"col\">Platform</th>");
	for (size_t i = 0; i < ARRAY_SIZE(verdicts); i++)
		buf_printf(w->out, "<th scope=\"col\" class=\"n\">%s</th>", verdicts[i]);
	buf_puts(w->out,
		"<th scope=\"col\" class=\"n\">removed</th><th scope=\"col\" class=\"n\">size</th></tr></thead>\n"
		"<tbody>\n");
	for (size_t i = 0; i < w->query->platforms; i++)
		put_platform_row(w, w->query->platform[i]->name);
	html_end_table(w->out);
}

// --- the search form ---

static void put_option(struct plan_page_writer *w, const char *value, const char *words, const char *chosen)
{
	buf_puts(w->out, "<option value=\"");
	put_html_text(w->out, value);
	buf_puts(w->out, strcmp(value, chosen) == 0 ? "\" selected>" : "\">");
	put_html_text(w->out, words);
	buf_puts(w->out, "</option>");
}

static void put_search_form(struct plan_page_writer *w)
{
	const struct plan_page_query *q = w->query;
	buf_puts(w->out, "<h2>Files</h2>\n<form method=\"get\" action=\"./\">"
			 "<select name=\"platform\" aria-label=\"Platform\">");
	put_option(w, "", "All platforms", q->only);
	for (size_t i = 0; i < q->platforms; i++)
		put_option(w, q->platform[i]->name, q->platform[i]->name, q->only);
	buf_puts(w->out, "</select><select name=\"verdict\" aria-label=\"Verdict\">");
	put_option(w, "", "Any verdict", q->verdict);
	put_option(w, "removed", "to be removed", q->verdict);
	put_option(w, "kept", "stays", q->verdict);
	for (size_t i = 0; i < ARRAY_SIZE(verdicts); i++)
		put_option(w, verdicts[i], verdicts[i], q->verdict);
	buf_puts(w->out, "</select><input type=\"search\" name=\"q\" placeholder=\"Project or file name\" "
			 "aria-label=\"Project or file name\" value=\"");
	put_html_text(w->out, q->text);
	buf_puts(w->out, "\"><button>Show</button></form>\n");
}

// --- the files ---

static void put_file_cell(struct plan_page_writer *w, const struct catalog_planned *f, const char *platform)
{
	buf_puts(w->out, "<td class=\"file full\">");
	if (f->project) {
		buf_puts(w->out, "<a href=\"../explain/");
		escape_url(w->out, str_from(platform));
		buf_putc(w->out, '/');
		escape_url(w->out, str_from(f->project));
		if (f->version) {
			buf_putc(w->out, '/');
			escape_url(w->out, str_from(f->version));
		}
		buf_puts(w->out, "?format=text\">");
	}
	put_html_text(w->out, f->filename);
	if (f->project) {
		buf_puts(w->out, "</a> <a href=\"../project/");
		escape_url(w->out, str_from(f->project));
		buf_puts(w->out, "\">project<span class=\"sr\"> of ");
		put_html_text(w->out, f->filename);
		buf_puts(w->out, "</span></a>");
	}
	buf_puts(w->out, "</td>");
}

static const char *platform_name_of(const struct plan_page_writer *w, int64_t id)
{
	for (size_t i = 0; i < w->query->platforms; i++)
		if (w->query->platform[i]->id == id)
			return w->query->platform[i]->name;
	return "";
}

static int put_file_row(void *ctx, const struct catalog_planned *f, struct err *e UNUSED)
{
	struct plan_page_writer *w = ctx;
	const char *platform = platform_name_of(w, f->platform);
	buf_puts(w->out, "<tr>");
	put_file_cell(w, f, platform);
	buf_puts(w->out, "<td class=\"name\">");
	put_html_text(w->out, platform);
	buf_puts(w->out, f->removes ? "</td><td><span class=\"verdict goes\">" : "</td><td><span class=\"verdict\">");
	put_html_text(w->out, f->verdict);
	buf_puts(w->out, "</span></td><td class=\"n\" data-of=\"\">");
	html_size(w->out, f->size);
	buf_puts(w->out, "</td><td class=\"why full\">");
	put_html_text(w->out, f->reason);
	if (f->upstream && strcmp(f->upstream, f->filename) != 0) {
		buf_puts(w->out, "<br>upstream has ");
		put_html_text(w->out, f->upstream);
	}
	buf_puts(w->out, "</td></tr>\n");
	return 0;
}

static struct catalog_plan_filter make_filter(const struct plan_page_writer *w, const struct platform *p)
{
	const char *verdict = w->query->verdict;
	bool is_removed = strcmp(verdict, "removed") == 0, is_kept = strcmp(verdict, "kept") == 0;
	return (struct catalog_plan_filter){
		.platform = p->id,
		.verdict = *verdict && !is_removed && !is_kept ? verdict : NULL,
		.text = w->text[0] ? w->text : NULL,
		.removes = is_removed ? 1
			   : is_kept  ? 0
				      : -1,
	};
}

static bool is_selected(const struct plan_page_writer *w, const struct platform *p)
{
	return !*w->query->only || strcmp(w->query->only, p->name) == 0;
}

// of becomes the number of files of each platform.
static int count_files(const struct plan_page_writer *w, uint64_t *of, struct page_sum *all, struct err *e)
{
	for (size_t i = 0; i < w->query->platforms; i++) {
		struct page_sum one = {0};
		struct catalog_plan_filter filter = make_filter(w, w->query->platform[i]);
		if (is_selected(w, w->query->platform[i]) &&
			catalog_plan_count(w->catalog, &filter, &one.files, &one.bytes, e) < 0)
			return -1;
		of[i] = one.files;
		all->files += one.files;
		all->bytes += one.bytes;
	}
	return 0;
}

// One page of the files, platform by platform.
static int put_file_rows(struct plan_page_writer *w, const uint64_t *of, uint64_t skip, struct err *e)
{
	uint64_t left = ROWS;
	for (size_t i = 0; i < w->query->platforms && left; i++) {
		struct catalog_plan_filter filter = make_filter(w, w->query->platform[i]);
		if (skip < of[i]) {
			if (catalog_plan_files(w->catalog, &filter, skip, left, put_file_row, w, e) < 0)
				return -1;
			left -= of[i] - skip < left ? of[i] - skip : left;
		}
		skip -= skip < of[i] ? skip : of[i];
	}
	return 0;
}

static void put_page_links(struct plan_page_writer *w, uint64_t page, uint64_t pages)
{
	const struct plan_page_query *q = w->query;
	if (pages < 2)
		return;
	buf_puts(w->out, "<nav aria-label=\"Pages\">");
	if (page > 1) {
		begin_query_link(w, q->only, q->verdict, q->text, page - 1);
		buf_puts(w->out, "Previous</a>");
	}
	buf_printf(w->out, "<span>Page %" PRIu64 " of %" PRIu64 "</span>", page, pages);
	if (page < pages) {
		begin_query_link(w, q->only, q->verdict, q->text, page + 1);
		buf_puts(w->out, "Next</a>");
	}
	buf_puts(w->out, "</nav>\n");
}

static int put_files(struct plan_page_writer *w, struct err *e)
{
	static const char *const column[] = {"File", "Platform", "Verdict", "Size", "Why"};
	struct page_sum all = {0};
	CLEANUP(mem_free) uint64_t *of = xcalloc(w->query->platforms, sizeof(*of));
	if (count_files(w, of, &all, e) < 0)
		return -1;
	uint64_t pages = (all.files + ROWS - 1) / ROWS;
	uint64_t page = w->query->page < 1 ? 1 : w->query->page > pages && pages ? pages : w->query->page;
	buf_puts(w->out, "<p class=\"note\">");
	html_count(w->out, all.files);
	buf_puts(w->out, all.files == 1 ? " file, " : " files, ");
	html_size(w->out, all.bytes);
	buf_puts(w->out, "</p>\n");
	if (!all.files)
		return 0;
	html_begin_table(w->out, "Files", "card wide", column, ARRAY_SIZE(column));
	if (put_file_rows(w, of, (page - 1) * ROWS, e) < 0)
		return -1;
	html_end_table(w->out);
	put_page_links(w, page, pages);
	return 0;
}

static void to_lower(const char *text, char out[LIMIT_FILE_NAME + 1])
{
	size_t i = 0;
	for (; text[i] && i < LIMIT_FILE_NAME; i++)
		out[i] = ascii_lower(text[i]);
	out[i] = '\0';
}

static int put_plan_page(struct plan_page_writer *w, int64_t made, const char *id, struct err *e)
{
	char when[CLOCK_TEXT];
	CLEANUP(buf_release) struct buf words;
	buf_init(&words, LIMIT_WORDS);
	clock_write(made, when);
	buf_printf(&words, "What the last plan of a prune says: %s", id);
	html_begin(w->out, w->frame, "Prune plan", words.data);
	buf_printf(w->out, "<span class=\"state\">Made <time datetime=\"%s\">%.10s %.5s UTC</time></span>\n</header>\n",
		when, when, when + 11);
	put_plan_totals(w);
	put_platform_sums(w);
	put_search_form(w);
	return put_files(w, e);
}

static int put_no_plan(struct plan_page_writer *w)
{
	html_begin(w->out, w->frame, "Prune plan", "No plan of a prune has been made yet");
	buf_puts(w->out,
		"</header>\n<div class=\"lines\"><figure class=\"card\"><figcaption>To make one</figcaption><pre><code>"
		"wheelcache prune plan --config /etc/wheelcache.conf -o plan.json</code></pre></figure></div>\n");
	return 0;
}

static int put_last_plan(struct plan_page_writer *w, struct err *e)
{
	CLEANUP(buf_release) struct buf id, head;
	CLEANUP(jsondoc_cleanup) struct jsondoc *document = NULL;
	struct err why = ERR_INIT;
	int64_t made;
	buf_init(&id, LIMIT_WORDS);
	buf_init(&head, LIMIT_PAGE);
	if (catalog_plan_last(w->catalog, &id, &made, &head, &why) < 0) {
		if (why.kind == ERR_NOT_FOUND)
			return put_no_plan(w);
		*e = why;
		return -1;
	}
	document = jsondoc_read(buf_view(&head), e);
	w->head = document;
	return document ? put_plan_page(w, made, id.data, e) : -1;
}

int plan_page_write(const struct html_frame *frame, struct catalog *c, const struct plan_page_query *query,
	struct buf *out, struct err *e)
{
	struct plan_page_writer w = {.frame = frame, .query = query, .catalog = c, .out = out};
	to_lower(query->text, w.text);
	CLEANUP(catalog_read_end) struct catalog *reading = c;
	if (catalog_read_begin(c, e) < 0) {
		reading = NULL;
		return -1;
	}
	if (put_last_plan(&w, e) < 0)
		return -1;
	html_end(out, "the last plan of a prune");
	return out->failed ? err_set(e, ERR_LIMIT, "page of the plan: larger than %zu bytes", out->cap) : 0;
}
