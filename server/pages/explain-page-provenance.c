// SPDX-License-Identifier: Apache-2.0
#include "server/pages/explain-page-provenance.h"

#include "lib/domain/wheel/attachment.h"
#include "lib/format/escape.h"
#include "server/pages/html-layout.h"

enum { FILES_SHOWN = 1000, TABLES_SHOWN = 50, ROWS_SHOWN = 200 };

struct provenance_page {
	struct buf *out;
	const char *project, *up;
	size_t files, tables;
};

// "…" behind the first 300 bytes: anybody who may upload chose them.
static void put_said(struct buf *out, const char *text)
{
	enum { MOST = 300 };
	struct str said = str_from(text ? text : ""), head = str_head(said, MOST);
	escape_html(out, head);
	if (head.len < said.len)
		buf_puts(out, "…");
}

static void put_said_cell(struct buf *out, const char *text)
{
	buf_puts(out, "<td class=\"why full\">");
	put_said(out, text);
	buf_puts(out, "</td>");
}

static void put_document_link(const struct provenance_page *p, const struct jsondoc *row, enum attachment kind,
	const char *words)
{
	buf_printf(p->out, "<a href=\"%s/../files/", p->up);
	escape_url(p->out, str_from(jsondoc_get_str(row, "platform")));
	buf_putc(p->out, '/');
	escape_url(p->out, str_from(p->project));
	buf_putc(p->out, '/');
	escape_url(p->out, str_from(jsondoc_get_str(row, "filename")));
	buf_printf(p->out, "%s\">%s</a>", attachment_ending[kind], words);
}

// --- who and when ---

static void put_provenance_line(struct provenance_page *p, const struct jsondoc *row)
{
	static const char *const column[] = {"File", "Platform", "Built by", "Finished", "Documents"};
	const struct jsondoc *said = jsondoc_get(row, "provenance");
	const char *builder = said ? jsondoc_get_str(said, "builder") : NULL;
	bool has_attestations = jsondoc_is_true(row, "attestations");
	if ((!said && !has_attestations) || p->files == FILES_SHOWN)
		return;
	if (!p->files++)
		html_begin_table(p->out, "Where the files are from", "card wide", column, ARRAY_SIZE(column));
	buf_puts(p->out, "<tr><th scope=\"row\" class=\"file\">");
	put_said(p->out, jsondoc_get_str(row, "filename"));
	buf_puts(p->out, "</th><td>");
	put_said(p->out, jsondoc_get_str(row, "platform"));
	buf_puts(p->out, "</td>");
	put_said_cell(p->out, builder ? builder : said ? jsondoc_get_str(said, "predicate") : NULL);
	put_said_cell(p->out, said ? jsondoc_get_str(said, "finished") : NULL);
	buf_puts(p->out, "<td>");
	if (said)
		put_document_link(p, row, ATTACHMENT_STATEMENT, "statement");
	buf_puts(p->out, said && has_attestations ? ", " : "");
	if (has_attestations)
		put_document_link(p, row, ATTACHMENT_PROVENANCE, "attestations");
	buf_puts(p->out, "</td></tr>\n");
}

// --- from what ---

static void put_component(struct buf *out, const struct jsondoc *one)
{
	static const char *const keys[] = {"component", "version", "source", "path", "how", "options"};
	buf_puts(out, "<tr>");
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		put_said_cell(out, jsondoc_get_str(one, keys[i]));
	buf_puts(out, "</tr>\n");
}

static void put_components(struct provenance_page *p, const struct jsondoc *row)
{
	static const char *const column[] = {"Component", "Version", "From", "Installed in", "As", "Options"};
	const struct jsondoc *said = jsondoc_get(row, "provenance");
	const struct jsondoc *rows = said ? jsondoc_get(said, "rows") : NULL;
	size_t count = rows ? jsondoc_count(rows) : 0;
	if (!count || p->tables == TABLES_SHOWN)
		return;
	p->tables++;
	buf_puts(p->out, "<p class=\"note\">");
	put_said(p->out, jsondoc_get_str(row, "filename"));
	buf_puts(p->out, " of ");
	put_said(p->out, jsondoc_get_str(row, "platform"));
	buf_puts(p->out, "</p>\n");
	CLEANUP(mem_free)
	char *label =
		xasprintf("Components of %s of %s", jsondoc_get_str(row, "filename"), jsondoc_get_str(row, "platform"));
	html_begin_table(p->out, label, "card wide", column, ARRAY_SIZE(column));
	for (size_t i = 0; i < count && i < ROWS_SHOWN; i++)
		put_component(p->out, jsondoc_at(rows, i));
	html_end_table(p->out);
	if (count > ROWS_SHOWN)
		buf_printf(p->out, "<p class=\"note\">These are the first %d of %zu.</p>\n", ROWS_SHOWN, count);
}

void explain_page_provenance(const struct jsondoc *explanation, const char *up, struct buf *out)
{
	const struct jsondoc *here = jsondoc_get(explanation, "here");
	struct provenance_page p = {.out = out, .project = jsondoc_get_str(explanation, "project"), .up = up};
	bool has_any = false;
	for (size_t i = 0; i < jsondoc_count(here); i++)
		has_any |= jsondoc_get(jsondoc_at(here, i), "provenance") ||
			   jsondoc_is_true(jsondoc_at(here, i), "attestations");
	if (!has_any)
		return;
	buf_puts(out,
		"<h2>Where the files are from</h2>\n<p class=\"note\">As their uploaders and builders say; nothing of it "
		"is verified.</p>\n");
	for (size_t i = 0; i < jsondoc_count(here); i++)
		put_provenance_line(&p, jsondoc_at(here, i));
	html_end_table(out);
	for (size_t i = 0; i < jsondoc_count(here); i++)
		put_components(&p, jsondoc_at(here, i));
}
