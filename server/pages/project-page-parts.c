// SPDX-License-Identifier: Apache-2.0
#include "server/pages/project-page-parts.h"

#include <inttypes.h>
#include <string.h>

#include "lib/domain/text/filename.h"
#include "lib/format/escape.h"
#include "lib/readme/readme.h"

void project_part_query(const struct project_page *p, const char *version)
{
	const struct view *view = p->query->view;
	buf_putc(p->out, '?');
	if (view) {
		buf_puts(p->out, "view=");
		escape_url(p->out, str_from(view->name ? view->name : "simple"));
		buf_puts(p->out, "&amp;");
	}
	if (version) {
		buf_puts(p->out, "version=");
		escape_url(p->out, str_from(version));
		buf_puts(p->out, "&amp;");
	}
}

void project_part_version_link(const struct project_page *p, const char *version)
{
	buf_puts(p->out, "<a href=\"");
	project_part_query(p, version);
	buf_puts(p->out, "\">");
	html_text(p->out, version);
	buf_puts(p->out, "</a>");
}

static void put_more_rows(const struct project_page *p, uint64_t shown, uint64_t all, const char *what)
{
	if (shown >= all)
		return;
	buf_puts(p->out, "<p class=\"note\">");
	html_count(p->out, all - shown);
	buf_printf(p->out, " more %s.", what);
	if (p->query->limit < LIMIT_PROJECT_ROWS) {
		buf_puts(p->out, " <a href=\"");
		project_part_query(p, *p->query->version ? p->query->version : NULL);
		buf_printf(p->out, "limit=%" PRIu64 "\">Show more</a>", 10 * p->query->limit);
	}
	buf_puts(p->out, "</p>\n");
}

// --- versions ---

static void put_version_row(const struct project_page *p, const struct matrix_release *r)
{
	const char *shown = p->data->matrix.version;
	buf_puts(p->out, "<tr><th scope=\"row\"><a href=\"");
	project_part_query(p, r->version);
	buf_printf(p->out, "\"%s>", shown && strcmp(shown, r->version) == 0 ? " aria-current=\"true\"" : "");
	html_text(p->out, r->version);
	buf_puts(p->out, "</a>");
	if (r->is_yanked)
		buf_puts(p->out, " <span class=\"verdict wrong\">yanked</span>");
	buf_printf(p->out,
		"</th><td class=\"n\" data-of=\"file%s\">%zu</td><td class=\"n\" data-of=\"wheel%s\">%zu</td>",
		r->files == 1 ? "" : "s", r->files, r->wheels == 1 ? "" : "s", r->wheels);
	buf_puts(p->out, "<td class=\"n\" data-of=\"\">");
	html_size(p->out, r->bytes);
	buf_puts(p->out, "</td><td class=\"full\">");
	if (r->last)
		html_time(p->out, r->last);
	buf_puts(p->out, "</td>");
	if (p->data->matrix.has_upstreams) {
		buf_puts(p->out, "<td class=\"kind\" data-of=\"Requires-Python\">");
		html_text(p->out, r->requires_python ? r->requires_python : "");
		buf_puts(p->out, "</td>");
	}
	buf_puts(p->out, "</tr>\n");
}

static bool is_same_newest(const struct matrix_newest *a, const struct matrix_newest *b)
{
	return strcmp(a->python, b->python) == 0 && a->newers == b->newers && a->is_sdist == b->is_sdist &&
	       strcmp(a->version ? a->version : "", b->version ? b->version : "") == 0 &&
	       strcmp(a->why ? a->why : "", b->why ? b->why : "") == 0;
}

static bool is_told_before(const struct project_matrix *m, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (is_same_newest(&m->newest[k], &m->newest[i]))
			return true;
	return false;
}

static void put_why_not_newer(const struct project_page *p, const struct matrix_newest *n)
{
	buf_puts(p->out, "</td><td class=\"why full\">");
	if (n->newer) {
		project_part_version_link(p, n->newer);
		buf_puts(p->out, ": ");
		html_text(p->out, n->why);
	}
	if (n->newers > 1)
		buf_printf(p->out, "; %zu newer versions do not install", n->newers);
	buf_puts(p->out, "</td></tr>\n");
}

// Platforms of which the same can be told share a row.
static void put_newest_row(const struct project_page *p, size_t first)
{
	const struct project_matrix *m = &p->data->matrix;
	const struct matrix_newest *n = &m->newest[first];
	const char *between = "";
	buf_puts(p->out, "<tr><th scope=\"row\">Python ");
	html_text(p->out, n->python);
	buf_puts(p->out, "</th><td class=\"kind\" data-of=\"newest\">");
	if (n->version)
		project_part_version_link(p, n->version);
	else
		buf_puts(p->out, "<span class=\"verdict wrong\">none</span>");
	buf_puts(p->out, n->is_sdist ? " <span class=\"verdict goes\">to be built</span></td><td class=\"full\">"
				     : "</td><td class=\"full\">");
	for (size_t i = first; i < m->newests; i++)
		if (is_same_newest(n, &m->newest[i])) {
			buf_printf(p->out, "%s<span class=\"name\">", between);
			html_text(p->out, m->newest[i].platform);
			buf_puts(p->out, "</span>");
			between = ", ";
		}
	put_why_not_newer(p, n);
}

void project_part_newest(const struct project_page *p)
{
	static const char *const column[] = {"Python", "Newest", "Platforms", "Why none newer"};
	const struct project_matrix *m = &p->data->matrix;
	if (!m->newests)
		return;
	buf_puts(p->out, "<h2>Newest version for each Python</h2>\n");
	html_begin_table(p->out, "Newest version by Python", "card wide builds", column, ARRAY_SIZE(column));
	for (size_t i = 0; i < m->newests; i++)
		if (!is_told_before(m, i))
			put_newest_row(p, i);
	html_end_table(p->out);
}

void project_part_versions(const struct project_page *p)
{
	static const char *const column[] = {"Version", "Files", "Wheels", "Size", "Last file", "Requires-Python"};
	const struct project_matrix *m = &p->data->matrix;
	size_t rows = m->releases < p->query->limit ? m->releases : (size_t)p->query->limit;
	if (!m->releases)
		return;
	buf_puts(p->out, m->has_upstreams ? "<h2>Versions of upstream</h2>\n" : "<h2>Versions</h2>\n");
	html_begin_table(p->out, "Versions", "card wide builds", column, ARRAY_SIZE(column) - !m->has_upstreams);
	for (size_t i = 0; i < rows; i++)
		put_version_row(p, &m->release[i]);
	html_end_table(p->out);
	put_more_rows(p, rows, m->releases, "versions");
}

// --- files ---

static void put_file_link(const struct project_page *p, const struct project_file *f)
{
	buf_puts(p->out, "<tr id=\"");
	html_text(p->out, f->platform);
	buf_putc(p->out, '/');
	html_text(p->out, f->filename);
	buf_printf(p->out, "\"><th scope=\"row\" class=\"file\"><a href=\"%sfiles/", p->frame->root);
	escape_url(p->out, str_from(f->platform));
	buf_putc(p->out, '/');
	escape_url(p->out, str_from(p->query->project));
	buf_putc(p->out, '/');
	escape_url(p->out, str_from(f->filename));
	buf_puts(p->out, "\">");
	html_text(p->out, f->filename);
	buf_puts(p->out, "</a></th>");
}

static void put_compare(const struct project_page *p, const struct project_file *f)
{
	const char *const part[] = {f->platform, f->before, f->platform, f->filename};
	if (!f->before || filename_kind(str_from(f->filename)) != FILENAME_WHEEL)
		return;
	buf_printf(p->out, " <a href=\"%s-/compare", p->frame->root);
	for (size_t i = 0; i < ARRAY_SIZE(part); i++) {
		buf_putc(p->out, '/');
		escape_url(p->out, str_from(part[i]));
	}
	buf_puts(p->out, "\">Compared with ");
	html_text(p->out, p->data->matrix.before);
	buf_puts(p->out, "<span class=\"sr\"> of ");
	html_text(p->out, f->filename);
	buf_puts(p->out, "</span></a>");
}

static void put_audit_words(struct buf *out, const struct jsondoc *row)
{
	const struct jsondoc *audit = row ? jsondoc_get(row, "audit") : NULL;
	const char *unknown = audit ? jsondoc_get_str(audit, "unknown") : NULL;
	const struct jsondoc *findings = audit ? jsondoc_get(audit, "findings") : NULL;
	if (unknown) {
		buf_puts(out, "Audit: ");
		html_text(out, unknown);
	} else if (audit && !jsondoc_count(findings)) {
		buf_puts(out, "Audit: good");
	}
	for (size_t i = 0; findings && i < jsondoc_count(findings); i++) {
		const struct jsondoc *one = jsondoc_at(findings, i);
		const char *level = jsondoc_get_str(one, "level"), *why = jsondoc_get_str(one, "why");
		buf_puts(out, i ? "; " : "Audit: ");
		html_text(out, level ? level : "");
		buf_putc(out, ' ');
		html_text(out, jsondoc_get_str(one, "code"));
		buf_puts(out, why ? ": " : "");
		html_text(out, why ? why : "");
	}
	buf_puts(out, audit ? ". " : "");
}

// One of several notes.
static void put_fact_of_file(struct buf *out, const char *words, const char *text)
{
	if (!text)
		return;
	buf_puts(out, words);
	html_text(out, text);
	buf_puts(out, ". ");
}

static void put_notes(const struct project_page *p, const struct project_file *f)
{
	buf_puts(p->out, "<td class=\"why full\">");
	if (f->yanked)
		put_fact_of_file(p->out, "Yanked", *f->yanked ? f->yanked : NULL);
	put_fact_of_file(p->out, "Requires-Python ", f->requires_python);
	put_fact_of_file(p->out, "Uploaded by ", f->uploader);
	put_fact_of_file(p->out, "Built by ", f->builder);
	if (f->has_attestations)
		buf_puts(p->out, "It has attestations, whose signatures are not verified here. ");
	put_audit_words(p->out, f->audit);
	put_compare(p, f);
	buf_puts(p->out, "</td>");
}

static void put_file_row(const struct project_page *p, const struct project_file *f)
{
	put_file_link(p, f);
	buf_puts(p->out, "<td class=\"name\">");
	html_text(p->out, f->platform);
	buf_puts(p->out, "</td><td class=\"n\" data-of=\"\">");
	html_size(p->out, f->size);
	buf_puts(p->out, "</td><td class=\"full\">");
	html_time(p->out, f->came);
	buf_puts(p->out, "</td>");
	html_hash_cell(p->out, "SHA-256", f->sha256);
	put_notes(p, f);
	buf_puts(p->out, "</tr>\n");
}

void project_part_files(const struct project_page *p)
{
	static const char *const column[] = {"File", "Platform", "Size", "Came", "SHA-256", "Facts"};
	const struct project_files *files = &p->data->files;
	if (!files->files)
		return;
	buf_puts(p->out, "<h2>Files of ");
	html_text(p->out, p->data->matrix.version);
	buf_puts(p->out, "</h2>\n");
	html_begin_table(p->out, "Files", "card wide builds", column, ARRAY_SIZE(column));
	for (size_t i = 0; i < files->files; i++)
		put_file_row(p, &files->file[i]);
	html_end_table(p->out);
	put_more_rows(p, files->files, files->all_files, "files");
}

// --- METADATA ---

static void put_field(struct buf *out, const char *name, const char *value)
{
	if (!value)
		return;
	buf_printf(out, "<div><dt>%s</dt><dd>", name);
	html_text(out, value);
	buf_puts(out, "</dd></div>\n");
}

static void put_web_links(struct buf *out, const struct project_metadata *m)
{
	for (size_t i = 0; i < m->links; i++) {
		buf_puts(out, i ? " · <a rel=\"nofollow noopener noreferrer\" href=\""
				: "<div><dt>Links</dt><dd><a rel=\"nofollow noopener noreferrer\" href=\"");
		html_text(out, m->link[i].url); // project_metadata_read(): http or https, and nothing but a URL
		buf_puts(out, "\">");
		html_text(out, *m->link[i].label ? m->link[i].label : m->link[i].url);
		buf_puts(out, i + 1 == m->links ? "</a></dd></div>\n" : "</a>");
	}
}

static void put_dependencies(struct buf *out, const struct project_metadata *m)
{
	enum { OPEN_ROWS = 12 };
	if (!m->dependencies)
		return;
	buf_printf(out, "<details%s><summary>%zu dependenc%s</summary>\n<ul>",
		m->dependencies <= OPEN_ROWS ? " open" : "", m->dependencies, m->dependencies == 1 ? "y" : "ies");
	for (size_t i = 0; i < m->dependencies; i++) {
		buf_puts(out, "<li><code>");
		html_text(out, m->dependency[i]);
		buf_puts(out, "</code></li>\n");
	}
	buf_puts(out, m->has_more ? "</ul>and more</details>\n" : "</ul></details>\n");
}

// Its headings are below those of the page. A text whose HTML is too long is left out.
static void put_readme(struct buf *out, const struct project_metadata *m)
{
	static const struct readme_options options = {.heading_offset = 2, .id_prefix = "readme-"};
	struct err e = ERR_INIT;
	struct str type = str_from(m->description_type ? m->description_type : "");
	buf_puts(out, "<h2 id=\"readme\">README</h2>\n<article class=\"card prose\">\n");
	if (readme_render(m->description, readme_kind_of(type, m->description), &options, out, &e) < 0)
		buf_puts(out, "<p>It is too long to be shown.</p>");
	buf_puts(out, "</article>\n");
}

void project_part_metadata(const struct project_page *p)
{
	const struct project_metadata *m = &p->data->metadata;
	if (!p->data->metadata_of)
		return;
	buf_puts(p->out, "<h2>What METADATA says</h2>\n<dl class=\"facts\">");
	put_field(p->out, "Licence", m->license);
	put_field(p->out, "Author", m->author);
	put_field(p->out, "Requires-Python", m->requires_python);
	put_web_links(p->out, m);
	put_field(p->out, "Of", p->data->metadata_of);
	buf_puts(p->out, "</dl>\n");
	put_dependencies(p->out, m);
	if (m->description.len)
		put_readme(p->out, m);
}

// --- files that are on no page ---

void project_part_unlisted(const struct project_page *p)
{
	static const char *const column[] = {"File", "Platform", "State", "Why"};
	const struct project_files *files = &p->data->files;
	if (!files->unlisted_count)
		return;
	buf_puts(p->out, "<h2>Files that are on no page</h2>\n");
	html_begin_table(p->out, "Files that are on no page", "card wide builds", column, ARRAY_SIZE(column));
	for (size_t i = 0; i < files->unlisted_count; i++) {
		const struct project_unlisted *f = &files->unlisted[i];
		buf_puts(p->out, "<tr><th scope=\"row\" class=\"file\">");
		html_text(p->out, f->filename);
		buf_puts(p->out, "</th><td class=\"name\">");
		html_text(p->out, f->platform);
		buf_printf(p->out, "</td><td><span class=\"verdict%s\">%s</span></td><td class=\"why full\">",
			strcmp(f->state, "quarantined") == 0 ? " wrong" : "", f->state);
		html_text(p->out, f->reason ? f->reason : "");
		buf_puts(p->out, "</td></tr>\n");
	}
	html_end_table(p->out);
	put_more_rows(p, files->unlisted_count, files->all_unlisted, "files");
}
