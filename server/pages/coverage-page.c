// SPDX-License-Identifier: Apache-2.0
#include "server/pages/coverage-page.h"

#include <string.h>

#include "lib/format/escape.h"

// --- what is asked for ---

static void put_field(struct buf *out, const char *name, const char *label, const char *value)
{
	buf_printf(out,
		"<input name=\"%s\" aria-label=\"%s\" placeholder=\"%s\" autocapitalize=\"none\" spellcheck=\"false\" "
		"value=\"",
		name, label, label);
	html_text(out, value);
	buf_puts(out, "\">");
}

static void put_filter(struct buf *out, const struct coverage_query *q)
{
	static const struct {
		const char *value, *words;
	} choice[] = {{"", "All states"}, {"missing failed unmerged unknown", "With a gap"}, {"missing", "With a missing wheel"},
		{"failed", "With a failed build"}, {"building", "With a running build"}};
	buf_puts(out, "<form method=\"get\" action=\"coverage\">");
	put_field(out, "projects", "Projects: names or globs", q->projects);
	put_field(out, "platforms", "Platforms: names or globs", q->platforms);
	put_field(out, "python", "Pythons", q->pythons);
	buf_puts(out, "<select name=\"state\" aria-label=\"States\">");
	for (size_t i = 0; i < ARRAY_SIZE(choice); i++)
		buf_printf(out, "<option value=\"%s\"%s>%s</option>", choice[i].value,
			strcmp(choice[i].value, q->states) == 0 ? " selected" : "", choice[i].words);
	buf_puts(out, "</select><button>Show</button></form>\n");
}

static void put_states_key(struct buf *out)
{
	buf_puts(out, "<ul class=\"key\">");
	for (size_t i = 0; i < WHEEL_STATUSES_OF_MATRIX; i++)
		buf_printf(out, "<li><span class=\"cell %s\">%c</span>%s</li>", wheel_status_name[wheel_status_matrix[i]],
			wheel_status_letter[wheel_status_matrix[i]], wheel_status_text[wheel_status_matrix[i]]);
	buf_puts(out, "</ul>\n");
}

// --- the matrix ---

enum {
	FITTING_COLUMNS = 16, // of a matrix that is no wider than a page
	ROWS_BETWEEN_HEADS = 20,
};

// A platform's name above its Pythons. class: of the first row.
static void put_platform_heads(struct buf *out, const struct coverage_data *d, const char *class)
{
	buf_printf(out,
		"<tr%s><th scope=\"col\" rowspan=\"2\">Project</th><th scope=\"col\" rowspan=\"2\">Version</th>", class);
	for (size_t i = 0, end; i < d->columns; i = end) {
		for (end = i; end < d->columns && d->column[end].platform == d->column[i].platform;)
			end++;
		buf_printf(out, "<th scope=\"colgroup\" colspan=\"%zu\">", end - i);
		html_text(out, d->column[i].platform->name);
		buf_puts(out, "</th>");
	}
	buf_puts(out, "</tr>\n<tr class=\"heads pythons\">");
	for (size_t i = 0; i < d->columns; i++)
		buf_printf(out, "<th scope=\"col\">%s</th>", d->column[i].python);
	buf_puts(out, "</tr>\n");
}

// is_first: of its platform.
static void put_coverage_cell(struct buf *out, const char *project, const struct matrix_cell *cell, bool is_first)
{
	if (!cell) {
		buf_puts(out, "<td></td>");
		return;
	}
	CLEANUP(buf_release) struct buf url;
	buf_init(&url, LIMIT_PATH);
	coverage_query_cell_url(project, cell->platform, cell->python, &url);
	const char *name = wheel_status_name[cell->state];
	buf_puts(out, is_first ? "<td data-part=\"" : "<td>");
	if (is_first) {
		html_text(out, cell->platform);
		buf_puts(out, "\">");
	}
	buf_printf(out, "<a class=\"cell %s%s\" data-of=\"", name, cell->is_lost ? " lost" : "");
	html_text(out, cell->python);
	buf_printf(out, "\" aria-label=\"%s%s\" href=\"", name, cell->is_lost ? ", lost" : "");
	escape_html(out, buf_view(&url));
	buf_printf(out, "\">%c</a></td>", wheel_status_letter[cell->state]);
}

static void put_coverage_row(struct buf *out, const struct coverage_data *d, const struct coverage_row *row)
{
	const char *project = row->matrix.project;
	html_begin_project_row(out, "", project);
	buf_puts(out, "<td class=\"name\">");
	html_text(out, row->matrix.version ? row->matrix.version : "");
	buf_puts(out, "</td>");
	for (size_t i = 0, last = d->columns; i < d->columns; i++) {
		bool is_first = last == d->columns || d->column[last].platform != d->column[i].platform;
		put_coverage_cell(out, project, row->cell[i], is_first);
		last = row->cell[i] ? i : last;
	}
	buf_puts(out, "</tr>\n");
}

static void put_coverage_matrix(struct buf *out, const struct coverage_data *d)
{
	put_states_key(out);
	bool fits = d->columns <= FITTING_COLUMNS;
	html_begin_box(out, "Wheels by platform and Python", fits ? "card matrix fits" : "card matrix");
	buf_puts(out, "<table>\n<thead>");
	put_platform_heads(out, d, "");
	buf_puts(out, "</thead>\n<tbody>\n");
	for (size_t i = 0; i < d->rows; i++) {
		if (!fits && i && i % ROWS_BETWEEN_HEADS == 0)
			put_platform_heads(out, d, " class=\"heads\"");
		put_coverage_row(out, d, &d->row[i]);
	}
	html_end_table(out);
}

// --- one project: each cell with its reason ---

static void put_link_to_file(struct buf *out, const char *project, const struct matrix_cell *cell)
{
	if (!cell->filename)
		return;
	if (cell->from) {
		buf_puts(out, "<a href=\"../files/");
		escape_url(out, str_from(cell->from));
		buf_printf(out, "/%s/", project);
		escape_url(out, str_from(cell->filename));
		buf_puts(out, "\">");
	}
	html_text(out, cell->filename);
	buf_puts(out, cell->from ? "</a>" : "");
}

static void put_cell_detail(struct buf *out, const char *project, const struct matrix_cell *cell)
{
	buf_puts(out, "<tr><th scope=\"row\">");
	html_text(out, cell->platform);
	buf_printf(out, " %s</th><td><span class=\"cell %s\">%c</span></td><td class=\"why full\">", cell->python,
		wheel_status_name[cell->state], wheel_status_letter[cell->state]);
	html_text(out, cell->why ? cell->why : wheel_status_text[cell->state]);
	if (cell->is_lost)
		buf_puts(out, ". The version before had a wheel here");
	if (cell->attempt && cell->has_log) {
		buf_printf(out, " (<a href=\"builds/%s/", project);
		escape_url(out, str_from(cell->attempt));
		buf_puts(out, "\">log</a>)");
	}
	buf_puts(out, "</td><td>");
	if (cell->since)
		html_time(out, cell->since);
	buf_puts(out, "</td><td class=\"why full\">");
	put_link_to_file(out, project, cell);
	buf_puts(out, "</td></tr>\n");
}

static void put_cell_details(struct buf *out, const struct coverage_data *d, const struct coverage_row *row)
{
	static const char *const column[] = {"Environment", "State", "Why", "Since", "File"};
	buf_printf(out, "<h2>%s in each environment</h2>\n", row->matrix.project);
	html_begin_table(out, "Reasons", "card wide", column, ARRAY_SIZE(column));
	for (size_t i = 0; i < d->columns; i++)
		if (row->cell[i])
			put_cell_detail(out, row->matrix.project, row->cell[i]);
	html_end_table(out);
}

// --- the page ---

static void put_url_of_form(struct buf *out, const struct coverage_query *q, enum coverage_form form, const char *after)
{
	CLEANUP(buf_release) struct buf url;
	struct coverage_query other = *q;
	other.form = form;
	if (form != q->form)
		other.limit = LIMIT_COVERAGE_ROWS;
	buf_init(&url, LIMIT_PATH);
	coverage_query_url(&other, after, &url);
	escape_html(out, buf_view(&url));
}

static void put_more(struct buf *out, const struct coverage_query *q, const struct coverage_data *d)
{
	buf_puts(out, "<nav aria-label=\"More\">");
	if (d->next) {
		buf_puts(out, "<a rel=\"next\" href=\"");
		put_url_of_form(out, q, COVERAGE_HTML, d->next);
		buf_puts(out, "\">Next projects</a>");
	}
	buf_puts(out, "<a href=\"");
	put_url_of_form(out, q, COVERAGE_CSV, "");
	buf_puts(out, "\">CSV</a><a href=\"");
	put_url_of_form(out, q, COVERAGE_JSON, "");
	buf_puts(out, "\">JSON</a></nav>\n");
}

static void put_coverage(struct buf *out, const struct coverage_query *q, const struct coverage_data *d)
{
	if (!d->columns) {
		buf_puts(out, "<p class=\"note\">No platform with a known Python fits.</p>\n");
		return;
	}
	buf_puts(out, "<p class=\"note\">");
	html_count(out, d->total);
	buf_puts(out, d->total == 1 ? " project" : " projects");
	buf_puts(out, !d->total ? " with such a name.</p>\n"
		      : d->rows ? ". Each cell leads to its reason.</p>\n"
				: "; none of these rows has such a state.</p>\n");
	if (d->rows)
		put_coverage_matrix(out, d);
	if (d->rows == 1 && d->total == 1)
		put_cell_details(out, d, &d->row[0]);
	put_more(out, q, d);
}

int coverage_page_write(const struct html_frame *frame, const struct coverage_query *q, const struct coverage_data *d,
	struct buf *out, struct err *e)
{
	html_begin(out, frame, "Coverage", "Wheels of the newest version of each project, by platform and Python");
	buf_puts(out, "</header>\n");
	put_filter(out, q);
	put_coverage(out, q, d);
	html_end(out, "<a href=\"../simple/\">all projects</a>");
	return out->failed ? err_set(e, ERR_LIMIT, "page larger than %zu bytes", out->cap) : 0;
}
