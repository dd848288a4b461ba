// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/format/escape.h"
#include "lib/os/clock.h"
#include "lib/view/usage.h"
#include "server/pages/page.h"

static enum usage_by by_of(const struct page_query *q)
{
	enum usage_by by = USAGE_PLATFORM;
	const char *name = q->text[ARGUMENT_BY];
	return usage_by_read(*name ? name : NULL, &by) < 0 ? USAGE_PLATFORM : by;
}

static void put_day(struct buf *out, const char *name, int64_t when)
{
	char day[CLOCK_TEXT];
	usage_write_date(when, day);
	if (when)
		buf_printf(out, "<td class=\"name kind\" data-of=\"%s\">%s</td>", name, day);
	else
		buf_puts(out, "<td class=\"zero\">–</td>");
}

static void put_usage_table(struct buf *out, enum usage_by by, const struct usage *u)
{
	static const char *const heads[USAGE_BY_COUNT] = {"Platform|Size|Files|Newest|Last download",
		"Project|Size|Files|Newest|Last download", "Project|Version|Size|Files|Newest|Last download",
		"Age|Size|Files|Newest|Last download"};
	html_begin_table(out, "Usage", "card wide", heads[by]);
	for (size_t i = 0; i < u->rows; i++) {
		const struct usage_row *row = &u->row[i];
		if (by == USAGE_PROJECT || by == USAGE_VERSION) {
			html_begin_project_row(out, "../", row->name);
		} else {
			html_put(out, "<tr><th scope=\"row\">%s</th>", row->name);
		}
		if (by == USAGE_VERSION)
			html_put(out, "<td class=\"name\">%s</td>", row->version);
		html_put(out, "<td class=\"n\" data-of=\"\">%b</td>", row->bytes);
		html_count_cell(out, row->files, "file|files");
		put_day(out, "newest", row->newest);
		put_day(out, "last download", row->downloaded);
		buf_puts(out, "</tr>\n");
	}
	html_end_table(out);
}

// The same question with another number of rows, or in another form.
static void put_usage_link(struct buf *out, const struct page_query *q, size_t limit, const char *format,
	const char *words)
{
	buf_printf(out, "<a href=\"./?by=%s", usage_by_name[by_of(q)]);
	if (*q->text[ARGUMENT_PROJECT])
		html_put(out, "&amp;project=%u", q->text[ARGUMENT_PROJECT]);
	if (limit)
		buf_printf(out, "&amp;limit=%zu", limit);
	buf_printf(out, "%s%s\">%s</a>", *format ? "&amp;format=" : "", format, words);
}

static bool may_read_project(void *ctx, int64_t platform, const char *project)
{
	return readable_platform(ctx, platform, project) != NULL;
}

static int read_usage(struct page_query *q, struct usage *out, struct err *e)
{
	const struct store *store = &q->site->store;
	const char *project = q->text[ARGUMENT_PROJECT];
	CLEANUP(downloads_cleanup) struct downloads *downloads = page_find_downloads(q->context->downloads_path);
	CLEANUP(mem_free) struct usage_platform *platform = xcalloc(store->platform_count + 1, sizeof(*platform));
	struct usage_query asked = {.by = by_of(q),
		.downloads = downloads,
		.platform = platform,
		.project = *project ? project : NULL,
		.may_read = may_read_project,
		.ctx = &q->readable,
		.now = q->now};
	for (size_t i = 0; i < store->platform_count; i++)
		if (q->readable.is_readable[i] && store->platform[i].id > 0)
			platform[asked.platforms++] = (struct usage_platform){store->platform[i].id, store->platform[i].name};
	return usage_read(q->catalog, &asked, out, e);
}

static int write_usage(struct page_query *q, struct buf *out, struct err *e)
{
	CLEANUP(usage_release) struct usage usage = {0};
	if (read_usage(q, &usage, e) < 0)
		return -1;
	usage_cut(&usage, q->limit);
	if (q->form == PAGE_FORM_HTML) {
		html_begin(out, page_frame(q), "Usage",
			"Files and bytes of what is listed, and when they were last downloaded");
		buf_puts(out, "</header>\n<dl>");
		html_total(out, "Files", usage.total.files);
		html_put(out, "<div><dt>Size</dt><dd>%b</dd></div></dl>\n<form method=\"get\" action=\"./\"><select "
			"name=\"by\" aria-label=\"By\">", usage.total.bytes);
		for (int i = 0; i < USAGE_BY_COUNT; i++)
			buf_printf(out, "<option value=\"%s\"%s>By %s</option>", usage_by_name[i],
				by_of(q) == (enum usage_by)i ? " selected" : "", usage_by_name[i]);
		html_put(out, "</select><input type=\"search\" name=\"project\" placeholder=\"Project\" "
			"aria-label=\"Project\" autocapitalize=\"none\" spellcheck=\"false\" value=\"%s\"><button>Show"
			"</button></form>\n", q->text[ARGUMENT_PROJECT]);
		if (usage.rows)
			put_usage_table(out, by_of(q), &usage);
		else
			buf_puts(out, "<p class=\"note\">There is no such file.</p>\n");
		if (usage.cut)
			html_put(out, "<p class=\"note\">These are the first %d of %m.</p>\n", usage.rows,
				usage.rows + usage.cut, "row|rows");
		buf_puts(out, "<nav aria-label=\"Forms\">");
		if (usage.cut && q->limit < LIMIT_USAGE_ROWS)
			put_usage_link(out, q, 4 * q->limit, "", "Show more");
		put_usage_link(out, q, 0, "csv", "CSV");
		put_usage_link(out, q, 0, "json", "JSON");
		buf_puts(out, "</nav>\n");
		html_end(out, "<a href=\"../docs/operating.md\">what takes room</a>");
	} else if (q->form == PAGE_FORM_CSV)
		usage_write_csv(&usage, by_of(q), out);
	else
		usage_write_json(&usage, by_of(q), out);
	return 0;
}

static const struct page_argument arguments[] = {
	{ARGUMENT_PROJECT, FORM_PROJECT, .is_normalized = true},
	{ARGUMENT_BY, FORM_CHOICE, .choice = usage_by_name, .choices = USAGE_BY_COUNT,
		.refusal = "by is platform, project, version or age"},
};

// Its forms are those of lib/view/usage.h: a tree of so many rows would take much memory.
const struct page_row usage_page = {
	.section = HTML_SECTION_NONE,
	.kind = PAGE_USAGE,
	.scope = PAGE_SCOPE_ALL,
	.needs_directory = true,
	.has_own_frame = true,
	.forms = 1 << PAGE_FORM_HTML | 1 << PAGE_FORM_JSON | 1 << PAGE_FORM_CSV,
	.rows = 200,
	.rows_of_data = LIMIT_USAGE_ROWS,
	.rows_most = LIMIT_USAGE_ROWS,
	.most = 64 << 20,
	PAGE_ARGUMENTS(arguments),
	.write = write_usage,
};
