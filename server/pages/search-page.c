// SPDX-License-Identifier: Apache-2.0
#include "server/pages/search-page.h"

// html-script.h shows what is found while a person types. Without it this is a plain form.
static void put_search_form(struct buf *out, const char *typed)
{
	buf_printf(out,
		"<form role=\"search\" method=\"get\" action=\"search\"><label class=\"sr\" for=\"name\">Name of a project"
		"</label><input type=\"search\" id=\"name\" name=\"q\" maxlength=\"%d\" placeholder=\"Name of a project\" "
		"autocapitalize=\"none\" spellcheck=\"false\" value=\"",
		LIMIT_FILE_NAME);
	html_text(out, typed);
	buf_puts(out, "\"><button>Search</button></form>\n");
}

static void put_platform_list(struct buf *out, const struct search_found *f)
{
	for (size_t i = 0; i < f->platforms; i++) {
		buf_puts(out, i ? ", <span class=\"name\">" : "<span class=\"name\">");
		html_text(out, f->platform[i]->name);
		buf_puts(out, "</span>");
	}
}

static void put_result(struct buf *out, const struct search_found *f)
{
	html_begin_project_row(out, "", f->name);
	if (f->is_upstreams) {
		buf_puts(out, "<td class=\"n\"></td><td></td><td class=\"full\"><span class=\"verdict\">upstream’s</span></td></tr>\n");
		return;
	}
	html_count_cell(out, f->files, "file");
	buf_puts(out, "<td class=\"name\">");
	if (f->newest)
		html_time(out, f->newest);
	buf_puts(out, "</td><td class=\"full\">");
	put_platform_list(out, f);
	buf_puts(out, "</td></tr>\n");
}

static void put_results(struct buf *out, const struct search_data *d)
{
	static const char *const column[] = {"Project", "Files", "Newest file", "Platforms"};
	html_begin_table(out, "Projects", "card wide", column, ARRAY_SIZE(column));
	for (size_t i = 0; i < d->count; i++)
		put_result(out, &d->found[i]);
	html_end_table(out);
	if (d->total > d->count) {
		buf_puts(out, "<p class=\"note\">");
		html_count(out, d->total - d->count);
		buf_puts(out, " more. Type more letters, or see <a href=\"../simple/\">all projects</a>.</p>\n");
	}
}

// A heading says what follows, also to those that do not see the table.
static void put_answer(struct buf *out, const struct search_page_query *q, const struct search_data *d)
{
	buf_puts(out, "<h2>");
	if (!q->name->len) {
		buf_puts(out, "That is no name of a project</h2>\n");
		return;
	}
	if (d->total && !d->is_near) {
		html_count(out, d->total);
		buf_puts(out, d->total == 1 ? " project" : " projects");
	} else {
		buf_puts(out, "No project");
	}
	buf_puts(out, " with “");
	html_text(out, q->name->text);
	buf_puts(out, "”</h2>\n");
	if (d->is_near)
		buf_puts(out, d->count ? "<p class=\"note\">These names are similar:</p>\n"
				       : "<p class=\"note\">No name is similar.</p>\n");
	if (d->count)
		put_results(out, d);
}

void search_page_write(const struct html_frame *frame, const struct search_page_query *q, const struct search_data *d,
	struct buf *out)
{
	html_begin(out, frame, "Search", "Projects by name");
	buf_puts(out, "</header>\n");
	put_search_form(out, q->typed);
	if (*q->typed)
		put_answer(out, q, d);
	html_end(out, "<a href=\"../simple/\">all projects</a>");
}
