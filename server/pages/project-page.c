// SPDX-License-Identifier: Apache-2.0
#include "server/pages/project-page.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/strset.h"
#include "lib/format/escape.h"
#include "server/pages/explain-page-losses.h"
#include "server/pages/install-index.h"
#include "server/pages/project-install.h"
#include "server/pages/project-page-parts.h"

// --- the command that installs it ---

static void put_install(const struct project_page *p)
{
	struct client_index index;
	CLEANUP(buf_release) struct buf command;
	buf_init(&command, LIMIT_PAGE);
	if (!project_install_find(p->data, p->query, &index, &command))
		return;
	buf_puts(p->out, "<figure class=\"card\"><figcaption>Install with pip</figcaption><pre><code>");
	escape_html(p->out, buf_view(&command));
	buf_puts(p->out, "</code></pre></figure>\n<p class=\"note\">");
	if (index.platform) {
		buf_puts(p->out, "For jobs on <span class=\"name\">");
		html_text(p->out, index.platform);
		buf_puts(p->out, "</span>. ");
	}
	buf_puts(p->out, index.needs_token ? "pip asks for a user name, which may be any, and for the token as password. " : "");
	buf_printf(p->out, "Other clients: see <a href=\"%s", p->frame->root);
	install_index_page(&index, p->out);
	buf_puts(p->out, "\">how they use this index</a>.</p>\n");
}

// --- the matrix ---

// "PLATFORM/3.12", the id of a cell and the fragment of links to it.
static void put_cell_id(struct buf *out, const struct matrix_cell *c)
{
	html_text(out, c->platform);
	buf_putc(out, '/');
	html_text(out, c->python);
}

static void put_cell_fragment(struct buf *out, const struct matrix_cell *c)
{
	escape_url(out, str_from(c->platform));
	buf_putc(out, '/');
	escape_url(out, str_from(c->python));
}

static void put_letter(struct buf *out, enum wheel_status state, bool is_lost)
{
	buf_printf(out, "<span aria-hidden=\"true\">%c</span><span class=\"sr\">%s%s</span>",
		wheel_status_letter[state], wheel_status_name[state], is_lost ? ", lost" : "");
}

// A link to the file or to the line that says why; upstream's file is none of ours.
static void put_matrix_cell(struct buf *out, const struct matrix_cell *c)
{
	const char *element = c->state == WHEEL_UPSTREAM ? "span" : "a";
	buf_puts(out, "<td id=\"");
	put_cell_id(out, c);
	buf_printf(out, "\"><%s class=\"cell %s%s\" data-of=\"", element, wheel_status_name[c->state],
		c->is_lost ? " lost" : "");
	html_text(out, c->python);
	buf_puts(out, "\" title=\"");
	html_text(out, c->why);
	buf_putc(out, '"');
	if (c->from) {
		buf_puts(out, " href=\"#");
		escape_url(out, str_from(c->from));
		buf_putc(out, '/');
		escape_url(out, str_from(c->filename));
		buf_putc(out, '"');
	} else if (c->state != WHEEL_UPSTREAM) {
		buf_puts(out, " href=\"#why/");
		put_cell_fragment(out, c);
		buf_putc(out, '"');
	}
	buf_putc(out, '>');
	put_letter(out, c->state, c->is_lost);
	buf_printf(out, "</%s></td>", element);
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
	buf_puts(p->out, "<tr><th scope=\"row\">");
	html_text(p->out, platform);
	buf_puts(p->out, "</th>");
	for (size_t k = 0; k < pythons; k++) {
		const struct matrix_cell *found = NULL;
		for (size_t i = first; i < m->cells && strcmp(m->cell[i].platform, platform) == 0; i++)
			if (strcmp(m->cell[i].python, python[k]) == 0)
				found = &m->cell[i];
		if (found && project_query_has(p->query, found))
			put_matrix_cell(p->out, found);
		else
			buf_puts(p->out, "<td></td>");
	}
	buf_puts(p->out, "</tr>\n");
}

static void put_matrix_table(const struct project_page *p, const char *const *python, size_t pythons)
{
	const struct project_matrix *m = &p->data->matrix;
	html_begin_box(p->out, "Platforms and Pythons", "card matrix");
	buf_puts(p->out, "<table>\n<thead><tr><th scope=\"col\">Platform</th>");
	for (size_t i = 0; i < pythons; i++) {
		buf_puts(p->out, "<th scope=\"col\">");
		html_text(p->out, python[i]);
		buf_puts(p->out, "</th>");
	}
	buf_puts(p->out, "</tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < m->cells; i++) {
		bool is_first = i == 0 || strcmp(m->cell[i].platform, m->cell[i - 1].platform) != 0;
		const char *only = p->query->only_platform;
		if (is_first && (!*only || strcmp(only, m->cell[i].platform) == 0))
			put_matrix_row(p, i, python, pythons);
	}
	buf_puts(p->out, "</tbody>\n</table></div>\n");
}

static void put_legend(const struct project_page *p)
{
	const struct project_matrix *m = &p->data->matrix;
	buf_puts(p->out, "<ul class=\"key\">");
	for (size_t i = 0; i < WHEEL_STATUSES_OF_MATRIX; i++) {
		enum wheel_status state = wheel_status_matrix[i];
		if (m->count[state])
			buf_printf(p->out,
				"<li><span class=\"cell %s\" aria-hidden=\"true\">%c</span>%s: %s (%zu)</li>",
				wheel_status_name[state], wheel_status_letter[state], wheel_status_name[state],
				wheel_status_text[state], m->count[state]);
	}
	buf_puts(p->out, "</ul>\n");
}

static void put_matrix(const struct project_page *p)
{
	size_t pythons;
	const struct project_matrix *m = &p->data->matrix;
	const char **python CLEANUP(mem_free) = list_pythons(p, &pythons);
	buf_puts(p->out, "<h2>Version ");
	html_text(p->out, m->version);
	buf_puts(p->out, "</h2>\n");
	if (!pythons) {
		buf_puts(p->out, m->cells ? "<p class=\"note\">There is no such platform and Python.</p>\n"
					  : "<p class=\"note\">The Pythons of the platforms are not known: [platform] "
					    "pythons in the configuration names them.</p>\n");
		return;
	}
	put_matrix_table(p, python, pythons);
	put_legend(p);
}

// --- why cells are not green ---

static void put_log_link(const struct project_page *p, const struct matrix_cell *c)
{
	buf_puts(p->out, "<td>");
	if (c->attempt && c->has_log) {
		buf_printf(p->out, "<a href=\"%s-/builds/", p->frame->root);
		escape_url(p->out, str_from(p->query->project));
		buf_printf(p->out, "/%s\">log<span class=\"sr\"> of ", c->attempt);
		put_cell_id(p->out, c);
		buf_puts(p->out, "</span></a>");
	}
	buf_puts(p->out, "</td>");
}

static void put_why_row(const struct project_page *p, const struct matrix_cell *c)
{
	const char *class = c->state == WHEEL_FAILED || c->state == WHEEL_MISSING ? " wrong"
			    : c->state == WHEEL_BUILDING                           ? " goes"
										    : "";
	buf_puts(p->out, "<tr id=\"why/");
	put_cell_id(p->out, c);
	buf_puts(p->out, "\"><th scope=\"row\"><a href=\"#");
	put_cell_fragment(p->out, c);
	buf_puts(p->out, "\">");
	html_text(p->out, c->platform);
	buf_puts(p->out, ", Python ");
	html_text(p->out, c->python);
	buf_printf(p->out, "</a></th><td><span class=\"verdict%s\">%s</span></td><td>", class,
		wheel_status_name[c->state]);
	if (c->since)
		html_time(p->out, c->since);
	buf_puts(p->out, "</td>");
	put_log_link(p, c);
	buf_puts(p->out, "<td class=\"why full\">");
	html_text(p->out, c->why);
	buf_puts(p->out, "</td></tr>\n");
}

static bool needs_reason(const struct project_page *p, const struct matrix_cell *c)
{
	return !wheel_status_is_green(c->state) && project_query_has(p->query, c);
}

static void put_reasons(const struct project_page *p)
{
	static const char *const column[] = {"Environment", "State", "Since", "Log", "Why"};
	const struct project_matrix *m = &p->data->matrix;
	size_t rows = 0;
	for (size_t i = 0; i < m->cells; i++)
		rows += needs_reason(p, &m->cell[i]);
	if (!rows)
		return;
	buf_puts(p->out, "<h2>Where there is no wheel, and why</h2>\n");
	html_begin_table(p->out, "Where there is no wheel", "card wide builds", column, ARRAY_SIZE(column));
	for (size_t i = 0; i < m->cells; i++)
		if (needs_reason(p, &m->cell[i]))
			put_why_row(p, &m->cell[i]);
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
	project_part_version_link(p, m->before);
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

static void put_age(struct buf *out, int64_t seconds)
{
	int64_t hours = seconds / 3600;
	if (hours < 1)
		buf_puts(out, "less than an hour");
	else if (hours < 48)
		buf_printf(out, "%" PRId64 " hour%s", hours, hours == 1 ? "" : "s");
	else
		buf_printf(out, "%" PRId64 " days", hours / 24);
}

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
		put_age(p->out, p->query->now > when ? p->query->now - when : 0);
		buf_puts(p->out, " old (");
		html_time(p->out, when);
		buf_puts(p->out, ")");
		if (m->upstream.result != UPSTREAM_KNOWN)
			buf_printf(p->out, "; the last request: %s", upstream_result_name[m->upstream.result]);
	}
	if (m->upstream.newest) {
		buf_puts(p->out, "; its newest version is ");
		project_part_version_link(p, m->upstream.newest);
	}
	buf_puts(p->out, ".");
	if (m->tried) {
		buf_puts(p->out, " A later version was tried to be built: ");
		project_part_version_link(p, m->tried);
		buf_puts(p->out, ".");
	}
	buf_puts(p->out, "</p>\n");
}

// --- the whole ---

static void put_project_state(const struct project_page *p)
{
	const struct project_matrix *m = &p->data->matrix;
	size_t red = m->count[WHEEL_FAILED] + m->count[WHEEL_MISSING] + m->count[WHEEL_UNMERGED];
	explain_page_lost_state(p->data->lost, p->out);
	if (!m->cells)
		;
	else if (m->lost || red)
		buf_printf(p->out, "<span class=\"state busy still\">%zu %s</span>\n", m->lost ? m->lost : red,
			m->lost ? "lost" : "without a wheel");
	else if (!m->count[WHEEL_UNKNOWN] && !m->count[WHEEL_BUILDING])
		buf_puts(p->out, "<span class=\"state\">A wheel everywhere</span>\n");
	buf_puts(p->out, "</header>\n");
}

static void put_words(const struct project_page *p, struct buf *words)
{
	const char *summary = p->data->metadata.summary;
	if (summary)
		buf_puts(words, summary);
	if (p->query->view)
		buf_printf(words, "%sin the view %s", summary ? ", " : "",
			p->query->view->name ? p->query->view->name : "simple");
	if (!words->len)
		buf_puts(words, p->data->matrix.has_upstreams ? "A project of upstream" : "What is here of it");
}

static void put_links_of_project(const struct project_page *p)
{
	CLEANUP(buf_release) struct buf links;
	const char *view = p->query->view ? p->query->view->name : NULL, *root = p->frame->root;
	struct project_page to_links = *p;
	buf_init(&links, 16 << 10);
	to_links.out = &links;
	buf_puts(&links, "<a href=\"");
	project_part_query(&to_links, *p->query->version ? p->query->version : NULL);
	buf_puts(&links, "format=json\">JSON</a>");
	const struct {
		const char *before, *after, *words;
	} link[] = {
		{"", "/", "simple page"}, {"-/explain/", "?format=html", "explanation"}, {"-/builds/", "/", "builds"}};
	for (size_t i = 0; i < ARRAY_SIZE(link); i++) {
		bool is_of_builds = i == 2;
		if (is_of_builds && !p->data->tried)
			continue;
		buf_printf(&links, " · <a href=\"%s%s", root, link[i].before);
		if (!is_of_builds && view) {
			escape_url(&links, str_from(view));
			buf_puts(&links, "/");
		}
		if (i == 0 || (i == 1 && !view))
			buf_puts(&links, "simple/");
		escape_url(&links, str_from(p->query->project));
		buf_printf(&links, "%s\">%s</a>", link[i].after, link[i].words);
	}
	buf_printf(&links, " · <a href=\"%s-/usage/?by=version&amp;project=", root);
	escape_url(&links, str_from(p->query->project));
	buf_puts(&links, "\">usage</a>");
	if (p->query->nameds) { // others are asked for a token
		buf_printf(&links, " · <a href=\"%s-/log/?q=", root);
		escape_url(&links, str_from(p->query->project));
		buf_puts(&links, "\">log</a>");
	}
	html_end(p->out, links.data);
}

int project_page_write(const struct html_frame *frame, const struct project_data *data,
	const struct project_query *query, struct buf *out, struct err *e)
{
	const struct project_page p = {frame, data, query, out};
	CLEANUP(buf_release) struct buf words;
	buf_init(&words, 16 << 10);
	put_words(&p, &words);
	html_begin(out, frame, query->project, words.data);
	put_project_state(&p);
	CLEANUP(mem_free) char *up = xasprintf("%s-", frame->root);
	explain_page_losses(data->lost, up, out);
	put_install(&p);
	if (data->matrix.version) {
		put_matrix(&p);
		put_lost(&p);
		put_upstream_answer(&p);
		put_reasons(&p);
	}
	project_part_newest(&p);
	project_part_versions(&p);
	project_part_files(&p);
	project_part_metadata(&p);
	project_part_unlisted(&p);
	put_links_of_project(&p);
	return out->failed ? err_set(e, ERR_LIMIT, "page of a project: larger than %zu bytes", out->cap) : 0;
}
