// SPDX-License-Identifier: Apache-2.0
#include "server/pages/project-data.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/strset.h"
#include "lib/domain/text/filename.h"
#include "lib/format/escape.h"
#include "lib/readme/readme.h"
#include "server/pages/page.h"

struct project_page {
	const struct html_frame *frame;
	const struct project_data *data;
	const struct project_query *query;
	struct buf *out;
};

// --- links ---

static void put_page_query(const struct project_page *p, const char *version)
{
	const struct view *view = p->query->view;
	buf_putc(p->out, '?');
	if (view)
		html_put(p->out, "view=%u&amp;", view->name ? view->name : "simple");
	if (version)
		html_put(p->out, "version=%u&amp;", version);
}

static void put_version_link(const struct project_page *p, const char *version)
{
	buf_puts(p->out, "<a href=\"");
	put_page_query(p, version);
	html_put(p->out, "\">%s</a>", version);
}

static void put_more_rows(const struct project_page *p, uint64_t shown, uint64_t all, const char *what)
{
	if (shown >= all)
		return;
	html_put(p->out, "<p class=\"note\">%n more %h.", all - shown, what);
	if (p->query->limit < LIMIT_PROJECT_ROWS) {
		buf_puts(p->out, " <a href=\"");
		put_page_query(p, *p->query->version ? p->query->version : NULL);
		buf_printf(p->out, "limit=%" PRIu64 "\">Show more</a>", 10 * p->query->limit);
	}
	buf_puts(p->out, "</p>\n");
}

// --- versions ---

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

// Platforms of which the same can be told share a row.
static void put_newest_row(const struct project_page *p, size_t first)
{
	const struct project_matrix *m = &p->data->matrix;
	const struct matrix_newest *n = &m->newest[first];
	const char *between = "";
	html_put(p->out, "<tr><th scope=\"row\">Python %s</th><td class=\"kind\" data-of=\"newest\">", n->python);
	if (n->version)
		put_version_link(p, n->version);
	else
		buf_puts(p->out, "<span class=\"verdict wrong\">none</span>");
	buf_puts(p->out, n->is_sdist ? " <span class=\"verdict goes\">to be built</span></td><td class=\"full\">"
				     : "</td><td class=\"full\">");
	for (size_t i = first; i < m->newests; i++)
		if (is_same_newest(n, &m->newest[i])) {
			html_put(p->out, "%h<span class=\"name\">%s</span>", between, m->newest[i].platform);
			between = ", ";
		}
	buf_puts(p->out, "</td><td class=\"why full\">");
	if (n->newer) {
		put_version_link(p, n->newer);
		html_put(p->out, ": %s", n->why);
	}
	if (n->newers > 1)
		html_put(p->out, "; %m not install", n->newers, "newer version does|newer versions do");
	buf_puts(p->out, "</td></tr>\n");
}

static void put_versions(const struct project_page *p)
{
	const struct project_matrix *m = &p->data->matrix;
	size_t rows = m->releases < p->query->limit ? m->releases : (size_t)p->query->limit;
	if (!m->releases)
		return;
	buf_puts(p->out, m->has_upstreams ? "<h2>Versions of upstream</h2>\n" : "<h2>Versions</h2>\n");
	html_begin_table(p->out, "Versions", "card wide builds",
		m->has_upstreams ? "Version|Files|Wheels|Size|Last file|Requires-Python"
				 : "Version|Files|Wheels|Size|Last file");
	for (size_t i = 0; i < rows; i++) {
		const struct matrix_release *r = &m->release[i];
		const char *shown = p->data->matrix.version;
		buf_puts(p->out, "<tr><th scope=\"row\"><a href=\"");
		put_page_query(p, r->version);
		html_put(p->out, "\"%h>%s</a>", shown && strcmp(shown, r->version) == 0 ? " aria-current=\"true\"" : "",
			r->version);
		if (r->is_yanked)
			buf_puts(p->out, " <span class=\"verdict wrong\">yanked</span>");
		buf_puts(p->out, "</th>");
		html_count_cell(p->out, r->files, "file|files");
		html_count_cell(p->out, r->wheels, "wheel|wheels");
		html_put(p->out, "<td class=\"n\" data-of=\"\">%b</td><td class=\"full\">", r->bytes);
		if (r->last)
			html_time(p->out, r->last);
		buf_puts(p->out, "</td>");
		if (p->data->matrix.has_upstreams)
			html_put(p->out, "<td class=\"kind\" data-of=\"Requires-Python\">%s</td>", r->requires_python);
		buf_puts(p->out, "</tr>\n");
	}
	html_end_table(p->out);
	put_more_rows(p, rows, m->releases, "versions");
}

// --- files ---

// One of several notes.
static void put_fact_of_file(struct buf *out, const char *words, const char *text)
{
	if (text)
		html_put(out, "%h%s. ", words, text);
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
	const struct jsondoc *audit = f->audit ? jsondoc_get(f->audit, "audit") : NULL;
	const char *unknown = audit ? jsondoc_get_str(audit, "unknown") : NULL;
	const struct jsondoc *findings = audit ? jsondoc_get(audit, "findings") : NULL;
	if (unknown) {
		html_put(p->out, "Audit: %s", unknown);
	} else if (audit && !jsondoc_count(findings)) {
		buf_puts(p->out, "Audit: good");
	}
	for (size_t i = 0; findings && i < jsondoc_count(findings); i++) {
		const struct jsondoc *one = jsondoc_at(findings, i);
		const char *level = jsondoc_get_str(one, "level"), *why = jsondoc_get_str(one, "why");
		html_put(p->out, "%h%s %s%h%s", i ? "; " : "Audit: ", level, jsondoc_get_str(one, "code"),
			why ? ": " : "", why);
	}
	buf_puts(p->out, audit ? ". " : "");
	const char *const part[] = {f->platform, f->before, f->platform, f->filename};
	if (f->before && filename_kind(str_from(f->filename)) == FILENAME_WHEEL) {
		buf_printf(p->out, " <a href=\"%s-/compare", p->frame->root);
		for (size_t i = 0; i < ARRAY_SIZE(part); i++)
			html_put(p->out, "/%u", part[i]);
		html_put(p->out, "\">Compared with %s<span class=\"sr\"> of %s</span></a>", p->data->matrix.before,
			f->filename);
	}
	buf_puts(p->out, "</td>");
}

static void put_file_row(const struct project_page *p, const struct project_file *f)
{
	html_put(p->out, "<tr id=\"%s/%s\"><th scope=\"row\" class=\"file\"><a "
		"href=\"%hfiles/%u/%u/%u\">%s</a></th><td class=\"name\">%s</td><td class=\"n\" "
		"data-of=\"\">%b</td><td class=\"full\">%t</td>", f->platform, f->filename, p->frame->root, f->platform,
		p->query->project, f->filename, f->filename, f->platform, f->size, f->came);
	html_hash_cell(p->out, "SHA-256", f->sha256);
	put_notes(p, f);
	buf_puts(p->out, "</tr>\n");
}

// --- METADATA ---

static void put_field(struct buf *out, const char *name, const char *value)
{
	if (value)
		html_put(out, "<div><dt>%h</dt><dd>%s</dd></div>\n", name, value);
}

static void put_metadata(const struct project_page *p)
{
	const struct project_metadata *m = &p->data->metadata;
	if (!p->data->metadata_of)
		return;
	buf_puts(p->out, "<h2>What METADATA says</h2>\n<dl class=\"facts\">");
	put_field(p->out, "Licence", m->license);
	put_field(p->out, "Author", m->author);
	put_field(p->out, "Requires-Python", m->requires_python);
	for (size_t i = 0; i < m->links; i++) {
		// project_metadata_read(): the URL has http or https, and nothing but a URL
		html_put(p->out, "%h<a rel=\"nofollow noopener noreferrer\" href=\"%s\">%s%h",
			i ? " · " : "<div><dt>Links</dt><dd>", m->link[i].url,
			*m->link[i].label ? m->link[i].label : m->link[i].url,
			i + 1 == m->links ? "</a></dd></div>\n" : "</a>");
	}
	put_field(p->out, "Of", p->data->metadata_of);
	buf_puts(p->out, "</dl>\n");
	enum { OPEN_ROWS = 12 };
	if (m->dependencies) {
		html_put(p->out, "<details%h><summary>%m</summary>\n<ul>", m->dependencies <= OPEN_ROWS ? " open" : "",
			m->dependencies, "dependency|dependencies");
		for (size_t i = 0; i < m->dependencies; i++)
			html_put(p->out, "<li><code>%s</code></li>\n", m->dependency[i]);
		buf_puts(p->out, m->has_more ? "</ul>and more</details>\n" : "</ul></details>\n");
	}
	if (m->description.len) {
		// Its headings are below those of the page. A text whose HTML is too long is left out.
		static const struct readme_options options = {.heading_offset = 2, .id_prefix = "readme-"};
		struct err e = ERR_INIT;
		struct str type = str_from(m->description_type ? m->description_type : "");
		buf_puts(p->out, "<h2 id=\"readme\">README</h2>\n<article class=\"card prose\">\n");
		if (readme_render(m->description, readme_kind_of(type, m->description), &options, p->out, &e) < 0)
			buf_puts(p->out, "<p>It is too long to be shown.</p>");
		buf_puts(p->out, "</article>\n");
	}
}

// --- files that are on no page ---

static void put_unlisted(const struct project_page *p)
{
	const struct project_files *files = &p->data->files;
	if (!files->unlisted_count)
		return;
	buf_puts(p->out, "<h2>Files that are on no page</h2>\n");
	html_begin_table(p->out, "Files that are on no page", "card wide builds", "File|Platform|State|Why");
	for (size_t i = 0; i < files->unlisted_count; i++) {
		const struct project_unlisted *f = &files->unlisted[i];
		html_put(p->out, "<tr><th scope=\"row\" class=\"file\">%s</th><td class=\"name\">%s</td><td><span "
			"class=\"verdict%h\">%h</span></td><td class=\"why full\">%s</td></tr>\n", f->filename,
			f->platform, strcmp(f->state, "quarantined") == 0 ? " wrong" : "", f->state, f->reason);
	}
	html_end_table(p->out);
	put_more_rows(p, files->unlisted_count, files->all_unlisted, "files");
}

// --- the command that installs it ---

static void put_install(const struct project_page *p)
{
	struct client_index index;
	CLEANUP(buf_release) struct buf command = buf_up_to(LIMIT_PAGE);
	if (!project_install_find(p->data, p->query, &index, &command))
		return;
	html_put(p->out, "<figure class=\"card\"><figcaption>Install with pip</figcaption><pre><code>%s</code></pre>"
		"</figure>\n<p class=\"note\">", command.data);
	if (index.platform)
		html_put(p->out, "For jobs on <span class=\"name\">%s</span>. ", index.platform);
	html_put(p->out, "%hOther clients: see <a href=\"%h",
		index.needs_token ? "pip asks for a user name, which may be any, and for the token as password. " : "",
		p->frame->root);
	install_index_page(&index, p->out);
	buf_puts(p->out, "\">how they use this index</a>.</p>\n");
}

// --- the matrix ---

// "PLATFORM/3.12", the id of a cell and the fragment of links to it.
static void put_cell_id(struct buf *out, const struct matrix_cell *c)
{
	html_put(out, "%s/%s", c->platform, c->python);
}

static void put_cell_fragment(struct buf *out, const struct matrix_cell *c)
{
	html_put(out, "%u/%u", c->platform, c->python);
}

static int compare_pythons(const void *a, const void *b)
{
	return strverscmp(*(const char *const *)a, *(const char *const *)b);
}

// The Pythons of all cells, each once, in their order. The caller frees the array.
static const char **list_pythons(const struct project_page *p, size_t *count)
{
	const struct project_matrix *m = &p->data->matrix;
	const char **python = xcalloc(m->cells + 1, sizeof(const char *));
	*count = 0;
	for (size_t i = 0; i < m->cells; i++) {
		size_t k = 0;
		while (k < *count && strcmp(python[k], m->cell[i].python) != 0)
			k++;
		if (k == *count && project_query_has(p->query, &m->cell[i]))
			python[(*count)++] = m->cell[i].python;
	}
	qsort(python, *count, sizeof(*python), compare_pythons);
	return python;
}

// The cells of one platform from cell `first` on.
static void put_matrix_row(const struct project_page *p, size_t first, const char *const *python, size_t pythons)
{
	const struct project_matrix *m = &p->data->matrix;
	const char *platform = m->cell[first].platform;
	html_put(p->out, "<tr><th scope=\"row\">%s</th>", platform);
	for (size_t k = 0; k < pythons; k++) {
		const struct matrix_cell *found = NULL;
		for (size_t i = first; i < m->cells && strcmp(m->cell[i].platform, platform) == 0; i++)
			if (strcmp(m->cell[i].python, python[k]) == 0)
				found = &m->cell[i];
		if (found && project_query_has(p->query, found)) {
			// A link to the file or to the line that says why; upstream's file is none of ours.
			const char *element = found->state == WHEEL_UPSTREAM ? "span" : "a";
			buf_puts(p->out, "<td id=\"");
			put_cell_id(p->out, found);
			html_put(p->out, "\"><%h class=\"cell %h%h\" data-of=\"%s\" title=\"%s\"", element,
				wheel_status_name[found->state], found->is_lost ? " lost" : "", found->python,
				found->why);
			if (found->from) {
				html_put(p->out, " href=\"#%u/%u\"", found->from, found->filename);
			} else if (found->state != WHEEL_UPSTREAM) {
				buf_puts(p->out, " href=\"#why/");
				put_cell_fragment(p->out, found);
				buf_putc(p->out, '"');
			}
			buf_putc(p->out, '>');
			buf_printf(p->out, "<span aria-hidden=\"true\">%c</span><span class=\"sr\">%s%s</span>",
				wheel_status_letter[found->state], wheel_status_name[found->state],
				found->is_lost ? ", lost" : "");
			buf_printf(p->out, "</%s></td>", element);
		} else
			buf_puts(p->out, "<td></td>");
	}
	buf_puts(p->out, "</tr>\n");
}

void matrix_others_note(size_t cells, const char *index, struct buf *out)
{
	if (cells)
		html_put(out, "<p class=\"note\">%m a wheel of another platform, which pip gets from an index of both, such as "
			"<code>%s</code>. The index of its own platform has none there.</p>\n", cells, "cell has|cells have", index);
}

static void put_matrix(const struct project_page *p)
{
	size_t pythons;
	const struct project_matrix *m = &p->data->matrix;
	const char **python CLEANUP(mem_free) = list_pythons(p, &pythons);
	html_put(p->out, "<h2>Version %s</h2>\n", m->version);
	if (!pythons) {
		buf_puts(p->out, m->cells ? "<p class=\"note\">There is no such platform and Python.</p>\n"
					  : "<p class=\"note\">The Pythons of the platforms are not known: [platform] "
					    "pythons in the configuration names them.</p>\n");
		return;
	}
	html_begin_box(p->out, "Platforms and Pythons", "card matrix");
	buf_puts(p->out, "<table>\n<thead><tr><th scope=\"col\">Platform</th>");
	for (size_t i = 0; i < pythons; i++)
		html_put(p->out, "<th scope=\"col\">%s</th>", python[i]);
	buf_puts(p->out, "</tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < m->cells; i++) {
		bool is_first = i == 0 || strcmp(m->cell[i].platform, m->cell[i - 1].platform) != 0;
		const char *only = p->query->only_platform;
		if (is_first && (!*only || strcmp(only, m->cell[i].platform) == 0))
			put_matrix_row(p, i, python, pythons);
	}
	buf_puts(p->out, "</tbody>\n</table></div>\n<ul class=\"key\">");
	for (size_t i = 0; i < WHEEL_STATUSES_OF_MATRIX; i++) {
		enum wheel_status state = wheel_status_matrix[i];
		if (m->count[state])
			buf_printf(p->out,
				"<li><span class=\"cell %s\" aria-hidden=\"true\">%c</span>%s: %s (%zu)</li>",
				wheel_status_name[state], wheel_status_letter[state], wheel_status_name[state],
				wheel_status_text[state], m->count[state]);
	}
	buf_puts(p->out, "</ul>\n");
	const char *index = NULL;
	for (size_t i = 0; i < m->cells; i++)
		index = m->cell[i].index ? m->cell[i].index : index;
	matrix_others_note(m->others, index, p->out);
}

// --- why cells are not green ---

static bool needs_reason(const struct project_page *p, const struct matrix_cell *c)
{
	return !wheel_status_is_green(c->state) && project_query_has(p->query, c);
}

static void put_reasons(const struct project_page *p)
{
	const struct project_matrix *m = &p->data->matrix;
	size_t rows = 0;
	for (size_t i = 0; i < m->cells; i++)
		rows += needs_reason(p, &m->cell[i]);
	if (!rows)
		return;
	buf_puts(p->out, "<h2>Where there is no wheel, and why</h2>\n");
	html_begin_table(p->out, "Where there is no wheel", "card wide builds", "Environment|State|Since|Log|Why");
	for (size_t i = 0; i < m->cells; i++)
		if (needs_reason(p, &m->cell[i])) {
			const struct matrix_cell *c = &m->cell[i];
			const char *class = c->state == WHEEL_FAILED || c->state == WHEEL_MISSING ? " wrong"
					    : c->state == WHEEL_BUILDING                           ? " goes"
												    : "";
			buf_puts(p->out, "<tr id=\"why/");
			put_cell_id(p->out, c);
			buf_puts(p->out, "\"><th scope=\"row\"><a href=\"#");
			put_cell_fragment(p->out, c);
			html_put(p->out, "\">%s, Python %s</a></th><td><span class=\"verdict%h\">%h</span></td><td>",
				c->platform, c->python, class, wheel_status_name[c->state]);
			if (c->since)
				html_time(p->out, c->since);
			buf_puts(p->out, "</td><td>");
			if (c->attempt && c->has_log) {
				html_put(p->out, "<a href=\"%h-/builds/%u/%h\">log<span class=\"sr\"> of ",
					p->frame->root, p->query->project, c->attempt);
				put_cell_id(p->out, c);
				buf_puts(p->out, "</span></a>");
			}
			html_put(p->out, "</td><td class=\"why full\">%s</td></tr>\n", c->why);
		}
	html_end_table(p->out);
}

static void put_lost(const struct project_page *p)
{
	const struct project_matrix *m = &p->data->matrix;
	const char *between = "";
	if (!m->before)
		return;
	buf_puts(p->out, m->lost ? "<p class=\"note\"><strong>Lost:</strong> " : "<p class=\"note\">Version ");
	if (m->lost)
		buf_puts(p->out, "version ");
	put_version_link(p, m->before);
	buf_puts(p->out, m->lost ? " has a wheel for " : ", the one before, has a wheel nowhere else.");
	for (size_t i = 0; i < m->cells && m->lost; i++) {
		if (!m->cell[i].is_lost)
			continue;
		buf_printf(p->out, "%s<a href=\"#why/", between);
		put_cell_fragment(p->out, &m->cell[i]);
		buf_puts(p->out, "\">");
		put_cell_id(p->out, &m->cell[i]);
		buf_puts(p->out, "</a>");
		between = ", ";
	}
	buf_puts(p->out, m->lost ? "; this one has none there.</p>\n" : "</p>\n");
}

// --- upstream ---

static void put_upstream_answer(const struct project_page *p)
{
	const struct project_matrix *m = &p->data->matrix;
	int64_t when = m->upstream.fetched ? m->upstream.fetched : m->upstream.asked;
	buf_puts(p->out, "<p class=\"note\">Upstream: ");
	if (m->upstream.result == UPSTREAM_PRIVATE)
		buf_puts(p->out, "the name is ours, so its files do not count");
	else if (!m->upstream.asked)
		buf_puts(p->out, "it was never asked about this project");
	else {
		buf_puts(p->out, "its answer is ");
		int64_t hours = (p->query->now > when ? p->query->now - when : 0) / 3600;
		if (hours < 1)
			buf_puts(p->out, "less than an hour");
		else if (hours < 48)
			html_put(p->out, "%m", hours, "hour|hours");
		else
			html_put(p->out, "%m", hours / 24, "day|days");
		html_put(p->out, " old (%t)", when);
		if (m->upstream.result != UPSTREAM_KNOWN)
			buf_printf(p->out, "; the last request: %s", upstream_result_name[m->upstream.result]);
	}
	if (m->upstream.hidden)
		html_put(p->out, "; %m not offered, which the explanation tells", m->upstream.hidden,
			"of its files is|of its files are");
	if (m->upstream.newest) {
		buf_puts(p->out, "; its newest version is ");
		put_version_link(p, m->upstream.newest);
	}
	buf_puts(p->out, ".");
	if (m->tried) {
		buf_puts(p->out, " A later version was tried to be built: ");
		put_version_link(p, m->tried);
		buf_puts(p->out, ".");
	}
	for (size_t i = 0; i < m->upstream.conflicts; i++)
		html_put(p->out, " Of %s upstream %s has other bytes than upstream %s, whose file counts.",
			m->upstream.conflict[i].filename, m->upstream.conflict[i].other, m->upstream.conflict[i].counts);
	buf_puts(p->out, "</p>\n");
}

// --- the whole ---

static void put_project_state(const struct project_page *p)
{
	const struct project_matrix *m = &p->data->matrix;
	size_t red = m->count[WHEEL_FAILED] + m->count[WHEEL_MISSING] + m->count[WHEEL_UNMERGED];
	losses_state(p->data->lost, p->out);
	if (!m->cells)
		;
	else if (m->lost || red)
		buf_printf(p->out, "<span class=\"state busy still\">%zu %s</span>\n", m->lost ? m->lost : red,
			m->lost ? "lost" : "without a wheel");
	else if (!m->count[WHEEL_UNKNOWN] && !m->count[WHEEL_BUILDING] && m->others)
		html_put(p->out, "<span class=\"state\">A wheel everywhere, %d of another platform</span>\n", m->others);
	else if (!m->count[WHEEL_UNKNOWN] && !m->count[WHEEL_BUILDING])
		buf_puts(p->out, "<span class=\"state\">A wheel everywhere</span>\n");
	buf_puts(p->out, "</header>\n");
}

// The view or platform of the explanation: that of the page, else the default view if it has the platform that the page
// leads to. index NULL: no index has a file, so that it is the platform of a file that is on no page.
static const char *explained_view(const struct project_page *p, const struct client_index *index)
{
	const struct project_query *q = p->query;
	const struct project_files *f = &p->data->files;
	if (q->view)
		return q->view->name ? q->view->name : "simple";
	const char *home = index ? (index->platform ? index->platform : index->view)
			   : f->unlisted_count ? f->unlisted[0].platform
			   : q->platforms      ? q->platform[0]->name
					       : NULL;
	const struct platform *platform = home ? site_platform(q->site, str_from(home)) : NULL;
	return !home || (platform && view_has(&q->site->view[0], platform)) ? "simple" : home;
}

// The index is that of the command on top.
static void put_simple_link(const struct project_page *p, const struct client_index *index, struct buf *out)
{
	const char *const part[] = {index->view, index->platform};
	html_put(out, " · <a href=\"%h", p->frame->root);
	for (size_t i = 0; i < ARRAY_SIZE(part); i++)
		if (part[i])
			html_put(out, "%u/", part[i]);
	html_put(out, "simple/%u/\">simple page</a>", p->query->project);
}

static void put_links_of_project(const struct project_page *p)
{
	struct client_index found;
	CLEANUP(buf_release) struct buf links = buf_up_to(16 << 10), command = buf_up_to(LIMIT_PAGE);
	const struct client_index *index = project_install_find(p->data, p->query, &found, &command) ? &found : NULL;
	const char *root = p->frame->root;
	struct project_page to_links = *p;
	to_links.out = &links;
	buf_puts(&links, "<a href=\"");
	put_page_query(&to_links, *p->query->version ? p->query->version : NULL);
	buf_puts(&links, "format=json\">JSON</a>");
	if (index)
		put_simple_link(p, index, &links);
	html_put(&links, " · <a href=\"%h-/explain/%u/%u?format=html\">explanation</a>", root, explained_view(p, index),
		p->query->project);
	if (p->data->tried)
		html_put(&links, " · <a href=\"%h-/builds/%u/\">builds</a>", root, p->query->project);
	html_put(&links, " · <a href=\"%h-/usage/?by=version&amp;project=%u\">usage</a>", root, p->query->project);
	if (p->query->nameds) { // others are asked for a token
		html_put(&links, " · <a href=\"%h-/log/?q=%u\">log</a>", root, p->query->project);
	}
	html_end(p->out, "%h", links.data);
}

void project_page_write(const struct html_frame *frame, const struct project_data *data,
	const struct project_query *query, struct buf *out)
{
	const struct project_page p = {frame, data, query, out};
	CLEANUP(buf_release) struct buf words = buf_up_to(16 << 10);
	const char *summary = p.data->metadata.summary;
	if (summary)
		buf_puts(&words, summary);
	if (p.query->view)
		buf_printf(&words, "%sin the view %s", summary ? ", " : "",
			p.query->view->name ? p.query->view->name : "simple");
	if (!words.len)
		buf_puts(&words, p.data->matrix.has_upstreams ? "A project of upstream" : "What is here of it");
	html_begin(out, frame, query->project, words.data);
	put_project_state(&p);
	CLEANUP(mem_free) char *up = xasprintf("%s-", frame->root);
	losses_table(data->lost, up, out);
	if (data->status.status != SIMPLEPAGE_ACTIVE)
		html_put(out, "<p class=\"note\">The project is %h here: %s</p>\n",
			simplepage_status_name[data->status.status], data->status.reason);
	if (data->status.status != SIMPLEPAGE_QUARANTINED)
		put_install(&p);
	if (data->matrix.version) {
		put_matrix(&p);
		put_lost(&p);
		put_upstream_answer(&p);
		put_reasons(&p);
	}
	const struct project_matrix *m = &p.data->matrix;
	if (m->newests) {
		buf_puts(p.out, "<h2>Newest version for each Python</h2>\n");
		html_begin_table(p.out, "Newest version by Python", "card wide builds",
			"Python|Newest|Platforms|Why none newer");
		for (size_t i = 0; i < m->newests; i++)
			if (!is_told_before(m, i))
				put_newest_row(&p, i);
		html_end_table(p.out);
	}
	put_versions(&p);
	const struct project_files *files = &p.data->files;
	if (files->files) {
		html_put(p.out, "<h2>Files of %s</h2>\n", p.data->matrix.version);
		html_begin_table(p.out, "Files", "card wide builds", "File|Platform|Size|Came|SHA-256|Facts");
		for (size_t i = 0; i < files->files; i++)
			put_file_row(&p, &files->file[i]);
		html_end_table(p.out);
		put_more_rows(&p, files->files, files->all_files, "files");
	}
	put_metadata(&p);
	put_unlisted(&p);
	put_links_of_project(&p);
}
