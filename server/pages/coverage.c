// SPDX-License-Identifier: Apache-2.0
#include "server/pages/coverage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/format/csv.h"
#include "lib/format/escape.h"
#include "lib/os/clock.h"
#include "lib/state/store/retired.h"
#include "server/pages/page.h"
#include "server/pages/project-data.h"

enum { MAKERS = 16 };

// What makes the matrices of the projects that the client may read on the same platforms: a token may be for some
// projects only.
struct coverage_maker {
	bool *has; // by site->store.platform
	const struct platform **platform;
	struct matrix_view *view;
	size_t platforms, views;
	long *column; // by cell of a matrix; -1: none
	struct project_matrix_maker *maker;
};

struct coverage_reader {
	struct page_query *query;
	struct coverage_data *data;
	struct results *results; // NULL: nothing was built
	struct coverage_maker maker[MAKERS];
	size_t makers;
	bool *has;         // of the project that is read
	bool *is_retired;  // by site->store.platform, the same for all rows
	struct arena text; // of the names
	const char **name; // of projects that come after the argument
	size_t names, name_room;
	struct coverage_taken taken;
};

static void maker_release(struct coverage_maker *m)
{
	project_matrix_free(m->maker);
	free(m->has);
	free(m->platform);
	free(m->view);
	free(m->column);
	*m = (struct coverage_maker){0};
}

static void coverage_reader_release(struct coverage_reader *r)
{
	for (size_t i = 0; i < r->makers; i++)
		maker_release(&r->maker[i]);
	results_close(r->results);
	arena_release(&r->text);
	free(r->name);
	free(r->has);
	free(r->is_retired);
}

// --- columns ---

// --- names ---

static void take_project_name(void *ctx, const struct project_entry *p)
{
	struct coverage_reader *r = ctx;
	if (!readable_has_project(&r->query->readable, p) || !page_list_has(r->query->text[ARGUMENT_PROJECTS], p->name))
		return;
	r->data->total++;
	if (strcmp(p->name, r->query->text[ARGUMENT_AFTER]) <= 0)
		return;
	GROW(r->name, r->names, r->name_room);
	r->name[r->names++] = arena_copy(&r->text, str_from(p->name));
}

// --- makers ---

static long find_column(const struct coverage_data *d, const struct platform *p, const struct environment *environment)
{
	CLEANUP(buf_release) struct buf python = buf_up_to(LIMIT_FILE_NAME);
	python_print(&environment->python, &python);
	for (size_t i = 0; i < d->columns; i++)
		if (d->column[i].platform == p && strcmp(d->column[i].python, python.data) == 0)
			return (long)i;
	return -1;
}

static int open_maker(struct coverage_reader *r, struct coverage_maker *m, struct err *e)
{
	const struct site *site = r->query->site;
	m->has = xcalloc(site->store.platform_count + 1, sizeof(*m->has));
	memcpy(m->has, r->has, site->store.platform_count * sizeof(*m->has));
	m->platform = xcalloc(site->store.platform_count + 1, sizeof(*m->platform));
	for (size_t i = 0; i < site->store.platform_count; i++)
		if (m->has[i])
			m->platform[m->platforms++] = &site->store.platform[i];
	const struct project_query asked = {
		.site = site, .platform = (const struct platform *const *)m->platform, .platforms = m->platforms};
	m->view = matrix_views_of(&asked, &m->views);
	CLEANUP(mem_free) bool *lacks_upstream = xcalloc(m->platforms + 1, sizeof(*lacks_upstream));
	CLEANUP(mem_free) bool *is_retired = xcalloc(m->platforms + 1, sizeof(*is_retired));
	for (size_t i = 0; i < m->platforms; i++) {
		lacks_upstream[i] = !site_has_upstream(site, NULL, m->platform[i]);
		is_retired[i] = r->is_retired[m->platform[i] - site->store.platform];
	}
	// The cells of a matrix are in the order of its platforms and their Pythons.
	size_t cells = 0, cell = 0;
	for (size_t i = 0; i < m->platforms; i++)
		cells += m->platform[i]->profile.environment_count;
	m->column = xcalloc(cells + 1, sizeof(*m->column));
	for (size_t i = 0; i < m->platforms; i++)
		for (size_t k = 0; !is_retired[i] && k < m->platform[i]->profile.environment_count; k++)
			m->column[cell++] =
				find_column(r->data, m->platform[i], &m->platform[i]->profile.environment[k]);
	const struct project_matrix_options options = {
		.config = &site->config,
		.platform = m->platform,
		.platforms = m->platforms,
		.view = m->view,
		.views = m->views,
		.lacks_upstream = lacks_upstream,
		.is_retired = is_retired,
		.results = r->results,
	};
	return project_matrix_open(&options, &m->maker, e);
}

// The maker for what the client may read of this project. A new one takes the place of the first where there are too
// many.
static struct coverage_maker *find_maker(struct coverage_reader *r, const char *project, struct err *e)
{
	const struct store *store = &r->query->site->store;
	for (size_t i = 0; i < store->platform_count; i++)
		r->has[i] = readable_has(&r->query->readable, &store->platform[i], project);
	for (size_t i = 0; i < r->makers; i++)
		if (memcmp(r->maker[i].has, r->has, store->platform_count * sizeof(*r->has)) == 0)
			return &r->maker[i];
	struct coverage_maker *m = &r->maker[r->makers < MAKERS ? r->makers++ : 0];
	maker_release(m);
	return open_maker(r, m, e) < 0 ? NULL : m;
}

// --- rows ---

static void coverage_row_release(struct coverage_row *row)
{
	project_matrix_release(&row->matrix);
	free(row->cell);
	*row = (struct coverage_row){0};
}

static int add_coverage_row(struct coverage_reader *r, const char *project, struct err *e)
{
	struct coverage_data *d = r->data;
	CLEANUP(coverage_row_release) struct coverage_row row = {0};
	struct coverage_maker *m = find_maker(r, project, e);
	if (!m || project_matrix_make(m->maker, r->query->catalog, project, NULL, &row.matrix, e) < 0)
		return -1;
	row.cell = xcalloc(r->data->columns + 1, sizeof(*row.cell));
	for (size_t i = 0; i < row.matrix.cells; i++)
		if (m->column[i] >= 0)
			row.cell[m->column[i]] = &row.matrix.cell[i];
	const char *states = r->query->text[ARGUMENT_STATE];
	bool is_wanted = page_list_has(states, ""); // all are wanted
	for (size_t k = 0; k < r->data->columns && !is_wanted; k++)
		is_wanted = row.cell[k] && page_list_has(states, wheel_status_name[row.cell[k]->state]);
	if (!is_wanted)
		return 0;
	r->taken.bytes += row.matrix.text.total + row.matrix.cells * sizeof(struct matrix_cell);
	GROW(d->row, d->rows, d->row_room);
	d->row[d->rows++] = row;
	row = (struct coverage_row){0};
	r->taken.rows = d->rows;
	return 0;
}

static int add_coverage_rows(struct coverage_reader *r, struct err *e)
{
	struct err late = ERR_INIT;
	for (size_t i = 0; i < r->names; i++) {
		if (i > 0 && coverage_is_full(r->query->limit, &r->taken, clock_ms())) {
			r->data->next = xstrdup(r->name[i - 1]);
			return 0;
		}
		if (add_coverage_row(r, r->name[i], &late) == 0)
			continue;
		if (late.kind != ERR_TIME || i == 0) {
			*e = late;
			return -1;
		}
		r->data->next = xstrdup(r->name[i - 1]);
		return 0;
	}
	return 0;
}

bool coverage_is_full(size_t limit, const struct coverage_taken *t, int64_t now_ms)
{
	return t->rows >= limit || t->rows * t->columns >= LIMIT_COVERAGE_CELLS || t->bytes >= LIMIT_COVERAGE_TEXT ||
	       now_ms - t->begun_ms >= LIMIT_COVERAGE_MS;
}

static void coverage_data_release(struct coverage_data *d)
{
	for (size_t i = 0; i < d->rows; i++)
		coverage_row_release(&d->row[i]);
	free(d->row);
	free(d->column);
	free(d->next);
	*d = (struct coverage_data){0};
}

// Ends sooner than at q->limit rows where that takes too long or becomes too large; then next is set. At least one row
// is made. Errors of project_matrix_make(). The caller releases *out if this returns 0.
static int coverage_data_read(struct page_query *q, struct coverage_data *out, struct err *e)
{
	*out = (struct coverage_data){0};
	CLEANUP(coverage_reader_release)
	struct coverage_reader r = {.query = q, .data = out, .taken = {.begun_ms = clock_ms()}};
	r.has = xcalloc(q->site->store.platform_count + 1, sizeof(*r.has));
	r.is_retired = xcalloc(q->site->store.platform_count + 1, sizeof(*r.is_retired));
	for (size_t i = 0; i < q->site->store.platform_count; i++)
		r.is_retired[i] = retired_is(&q->site->store.platform[i]);
	const struct store *store = &r.query->site->store;
	for (size_t i = 0; i < store->platform_count; i++)
		if (r.query->readable.is_readable[i] && !r.is_retired[i] &&
			page_list_has(r.query->text[ARGUMENT_PLATFORMS], store->platform[i].name)) {
			const struct platform *p = &store->platform[i];
			struct coverage_data *d = r.data;
			for (size_t k = 0; k < p->profile.environment_count; k++) {
				struct coverage_column column = {.platform = p};
				CLEANUP(buf_release) struct buf python = buf_up_to(sizeof(column.python) - 1);
				python_print(&p->profile.environment[k].python, &python);
				if (python.failed || !page_list_has(r.query->text[ARGUMENT_PYTHON], python.data))
					continue;
				memcpy(column.python, python.data, python.len + 1);
				GROW(d->column, d->columns, d->column_room);
				d->column[d->columns++] = column;
			}
		}
	r.taken.columns = out->columns;
	project_directory_each(q->context->project_directory, take_project_name, &r);
	if (page_open_results(q->context, &r.results, e) == 0 && add_coverage_rows(&r, e) == 0)
		return 0;
	coverage_data_release(out);
	return -1;
}

// --- addresses ---

static void put_argument(struct buf *out, const char *name, const char *value)
{
	if (!*value)
		return;
	buf_printf(out, "%c%s=", out->len && strchr(out->data, '?') ? '&' : '?', name);
	escape_url(out, str_from(value));
}

void coverage_url(const struct page_query *q, enum page_form form, size_t limit, const char *after, struct buf *out)
{
	CLEANUP(buf_release) struct buf url = buf_up_to(LIMIT_PATH);
	buf_puts(&url, "coverage");
	put_argument(&url, "projects", q->text[ARGUMENT_PROJECTS]);
	put_argument(&url, "platforms", q->text[ARGUMENT_PLATFORMS]);
	put_argument(&url, "python", q->text[ARGUMENT_PYTHON]);
	put_argument(&url, "state", q->text[ARGUMENT_STATE]);
	put_argument(&url, "after", after);
	put_argument(&url, "format", form == PAGE_FORM_JSON ? "json" : form == PAGE_FORM_CSV ? "csv" : "");
	buf_printf(&url, "%climit=%zu", strchr(url.data, '?') ? '&' : '?', limit);
	buf_str(out, buf_view(&url));
}

void coverage_cell_url(const char *project, const char *platform, const char *python, struct buf *out)
{
	html_put(out, "coverage?projects=%u&platforms=%u&python=%u", project, platform, python);
}

// --- JSON ---

static void put_member(struct buf *out, const char *key, const char *text)
{
	buf_printf(out, ",\"%s\":", key);
	if (text)
		escape_json(out, str_from(text));
	else
		buf_puts(out, "null");
}

static void put_time(struct buf *out, const char *key, int64_t seconds)
{
	char when[CLOCK_TEXT];
	clock_write(seconds, when);
	put_member(out, key, seconds > 0 ? when : NULL);
}

static void put_json_row(struct buf *out, const struct coverage_data *d, const struct coverage_row *row)
{
	const struct project_matrix *m = &row->matrix;
	const char *between = "";
	buf_puts(out, "{\"project\":");
	escape_json(out, str_from(m->project));
	buf_printf(out, ",\"url\":\"project/%s\"", m->project); // a name in normal form needs no escapes
	put_member(out, "version", m->version);
	put_member(out, "version_before", m->before);
	put_member(out, "upstream_version", m->upstream.newest);
	put_time(out, "upstream_asked", m->upstream.asked);
	buf_puts(out, ",\"cells\":[");
	for (size_t i = 0; i < d->columns; i++) {
		if (!row->cell[i])
			continue;
		buf_puts(out, between);
		const struct matrix_cell *cell = row->cell[i];
		CLEANUP(buf_release) struct buf url = buf_up_to(LIMIT_PATH);
		coverage_cell_url(m->project, cell->platform, cell->python, &url);
		buf_puts(out, "{\"platform\":");
		escape_json(out, str_from(cell->platform));
		put_member(out, "python", cell->python);
		put_member(out, "state", wheel_status_name[cell->state]);
		put_member(out, "filename", cell->filename);
		put_member(out, "from", cell->from);
		put_member(out, "why", cell->why);
		put_time(out, "since", cell->since);
		put_member(out, "attempt", cell->attempt);
		buf_printf(out, ",\"lost\":%s", cell->is_lost ? "true" : "false");
		put_member(out, "url", url.data);
		buf_puts(out, "}");
		between = ",\n";
	}
	buf_puts(out, "]}");
}

static void write_coverage_json(const struct page_query *q, const struct coverage_data *d, struct buf *out)
{
	CLEANUP(buf_release) struct buf next = buf_up_to(LIMIT_PATH);
	buf_puts(out, "{\"columns\":[");
	for (size_t i = 0; i < d->columns; i++) {
		buf_puts(out, i ? ",{\"platform\":" : "{\"platform\":");
		escape_json(out, str_from(d->column[i].platform->name));
		put_member(out, "python", d->column[i].python);
		buf_puts(out, "}");
	}
	buf_puts(out, "],\n\"projects\":[");
	for (size_t i = 0; i < d->rows; i++) {
		buf_puts(out, i ? ",\n" : "");
		put_json_row(out, d, &d->row[i]);
	}
	if (d->next)
		coverage_url(q, q->form, q->limit, d->next, &next);
	buf_printf(out, "],\n\"total\":%llu", (unsigned long long)d->total);
	put_member(out, "next", d->next ? next.data : NULL);
	buf_puts(out, "}\n");
}

// --- CSV: a row for each project, a column for each environment ---

static void write_coverage_csv(const struct coverage_data *d, struct buf *out)
{
	buf_puts(out, "project,version");
	for (size_t i = 0; i < d->columns; i++) {
		CLEANUP(mem_free) char *name = xasprintf("%s/%s", d->column[i].platform->name, d->column[i].python);
		csv_next(out);
		csv_field(out, str_from(name));
	}
	csv_end_row(out);
	for (size_t i = 0; i < d->rows; i++) {
		const struct coverage_row *row = &d->row[i];
		csv_field(out, str_from(row->matrix.project));
		csv_next(out);
		csv_field(out, str_from(row->matrix.version ? row->matrix.version : ""));
		for (size_t k = 0; k < d->columns; k++) {
			csv_next(out);
			csv_field(out, str_from(row->cell[k] ? wheel_status_name[row->cell[k]->state] : ""));
		}
		csv_end_row(out);
	}
}

// --- HTML: what is asked for ---

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
		html_put(out, "<th scope=\"colgroup\" colspan=\"%d\">%s</th>", end - i, d->column[i].platform->name);
	}
	buf_puts(out, "</tr>\n<tr class=\"heads pythons\">");
	for (size_t i = 0; i < d->columns; i++)
		buf_printf(out, "<th scope=\"col\">%s</th>", d->column[i].python);
	buf_puts(out, "</tr>\n");
}

static void put_coverage_matrix(struct buf *out, const struct coverage_data *d)
{
	buf_puts(out, "<ul class=\"key\">");
	for (size_t i = 0; i < WHEEL_STATUSES_OF_MATRIX; i++)
		buf_printf(out, "<li><span class=\"cell %s\">%c</span>%s</li>",
			wheel_status_name[wheel_status_matrix[i]], wheel_status_letter[wheel_status_matrix[i]],
			wheel_status_text[wheel_status_matrix[i]]);
	buf_puts(out, "</ul>\n");
	bool fits = d->columns <= FITTING_COLUMNS;
	html_begin_box(out, "Wheels by platform and Python", fits ? "card matrix fits" : "card matrix");
	buf_puts(out, "<table>\n<thead>");
	put_platform_heads(out, d, "");
	buf_puts(out, "</thead>\n<tbody>\n");
	for (size_t i = 0; i < d->rows; i++) {
		if (!fits && i && i % ROWS_BETWEEN_HEADS == 0)
			put_platform_heads(out, d, " class=\"heads\"");
		const struct coverage_row *row = &d->row[i];
		const char *project = row->matrix.project;
		html_begin_project_row(out, "", project);
		html_put(out, "<td class=\"name\">%s</td>", row->matrix.version);
		for (size_t k = 0, last = d->columns; k < d->columns; k++) {
			bool is_first = last == d->columns || d->column[last].platform != d->column[k].platform;
			// is_first: of its platform.
			const struct matrix_cell *cell = row->cell[k];
			if (!cell) {
				buf_puts(out, "<td></td>");
			} else {
				CLEANUP(buf_release) struct buf url = buf_up_to(LIMIT_PATH);
				coverage_cell_url(project, cell->platform, cell->python, &url);
				const char *name = wheel_status_name[cell->state];
				buf_puts(out, is_first ? "<td data-part=\"" : "<td>");
				if (is_first)
					html_put(out, "%s\">", cell->platform);
				html_put(out, "<a class=\"cell %h%h\" data-of=\"%s\" aria-label=\"%h%h\" href=\"%s",
					name, cell->is_lost ? " lost" : "", cell->python, name,
					cell->is_lost ? ", lost" : "", url.data);
				buf_printf(out, "\">%c</a></td>", wheel_status_letter[cell->state]);
			}
			last = row->cell[k] ? k : last;
		}
		buf_puts(out, "</tr>\n");
	}
	html_end_table(out);
	size_t others = 0;
	const char *index = NULL;
	for (size_t i = 0; i < d->rows; i++)
		for (size_t k = 0; k < d->columns; k++)
			if (d->row[i].cell[k] && d->row[i].cell[k]->index) {
				index = d->row[i].cell[k]->index;
				others++;
			}
	matrix_others_note(others, index, out);
}

// --- one project: each cell with its reason ---

static void put_cell_detail(struct buf *out, const char *project, const struct matrix_cell *cell)
{
	html_put(out, "<tr><th scope=\"row\">%s", cell->platform);
	buf_printf(out, " %s</th><td><span class=\"cell %s\">%c</span></td><td class=\"why full\">", cell->python,
		wheel_status_name[cell->state], wheel_status_letter[cell->state]);
	html_text(out, cell->why ? cell->why : wheel_status_text[cell->state]);
	if (cell->is_lost)
		buf_puts(out, ". The version before had a wheel here");
	if (cell->attempt && cell->has_log)
		html_put(out, " (<a href=\"builds/%h/%u\">log</a>)", project, cell->attempt);
	buf_puts(out, "</td><td>");
	if (cell->since)
		html_time(out, cell->since);
	buf_puts(out, "</td><td class=\"why full\">");
	if (cell->filename) {
		if (cell->from)
			html_put(out, "<a href=\"../files/%u/%h/%u\">", cell->from, project, cell->filename);
		html_put(out, "%s%h", cell->filename, cell->from ? "</a>" : "");
	}
	buf_puts(out, "</td></tr>\n");
}

// --- the page ---

static void put_url_of_form(struct buf *out, const struct page_query *q, enum page_form form, const char *after)
{
	CLEANUP(buf_release) struct buf url = buf_up_to(LIMIT_PATH);
	coverage_url(q, form, form == q->form ? q->limit : LIMIT_COVERAGE_ROWS, after, &url);
	escape_html(out, buf_view(&url));
}

static void put_coverage(struct buf *out, const struct page_query *q, const struct coverage_data *d)
{
	if (!d->columns) {
		buf_puts(out, "<p class=\"note\">No platform with a known Python fits.</p>\n");
		return;
	}
	html_put(out, "<p class=\"note\">%m%h", d->total, "project|projects",
		!d->total ? " with such a name.</p>\n"
		: d->rows ? ". Each cell leads to its reason.</p>\n"
			  : "; none of these rows has such a state.</p>\n");
	if (d->rows)
		put_coverage_matrix(out, d);
	if (d->rows == 1 && d->total == 1) {
		const struct coverage_row *row = &d->row[0];
		buf_printf(out, "<h2>%s in each environment</h2>\n", row->matrix.project);
		html_begin_table(out, "Reasons", "card wide", "Environment|State|Why|Since|File");
		for (size_t i = 0; i < d->columns; i++)
			if (row->cell[i])
				put_cell_detail(out, row->matrix.project, row->cell[i]);
		html_end_table(out);
	}
	buf_puts(out, "<nav aria-label=\"More\">");
	if (d->next) {
		buf_puts(out, "<a rel=\"next\" href=\"");
		put_url_of_form(out, q, PAGE_FORM_HTML, d->next);
		buf_puts(out, "\">Next projects</a>");
	}
	buf_puts(out, "<a href=\"");
	put_url_of_form(out, q, PAGE_FORM_CSV, "");
	buf_puts(out, "\">CSV</a><a href=\"");
	put_url_of_form(out, q, PAGE_FORM_JSON, "");
	buf_puts(out, "\">JSON</a></nav>\n");
}

// --- the page ---

static int write_coverage(struct page_query *q, struct buf *out, struct err *e)
{
	CLEANUP(coverage_data_release) struct coverage_data data = {0};
	if (coverage_data_read(q, &data, e) < 0)
		return -1;
	if (data.next) {
		// "rel=next" of RFC 8288, for clients of the CSV too.
		buf_puts(&q->link, "<");
		coverage_url(q, q->form, q->limit, data.next, &q->link);
		buf_puts(&q->link, ">; rel=\"next\"");
	}
	if (q->form == PAGE_FORM_JSON)
		write_coverage_json(q, &data, out);
	else if (q->form == PAGE_FORM_CSV)
		write_coverage_csv(&data, out);
	else {
		html_begin(out, page_frame(q), "Coverage",
			"Wheels of the newest version of each project, by platform and Python");
		buf_puts(out, "</header>\n");
		static const struct {
			const char *value, *words;
		} choice[] = {{"", "All states"}, {"missing failed unmerged unknown", "With a gap"},
			{"missing", "With a missing wheel"}, {"failed", "With a failed build"},
			{"building", "With a running build"}};
		buf_puts(out, "<form method=\"get\" action=\"coverage\">");
		html_field(out, "projects", "Projects: names or globs", q->text[ARGUMENT_PROJECTS]);
		html_field(out, "platforms", "Platforms: names or globs", q->text[ARGUMENT_PLATFORMS]);
		html_field(out, "python", "Pythons", q->text[ARGUMENT_PYTHON]);
		buf_puts(out, "<select name=\"state\" aria-label=\"States\">");
		for (size_t i = 0; i < ARRAY_SIZE(choice); i++)
			buf_printf(out, "<option value=\"%s\"%s>%s</option>", choice[i].value,
				strcmp(choice[i].value, q->text[ARGUMENT_STATE]) == 0 ? " selected" : "",
				choice[i].words);
		buf_puts(out, "</select><button>Show</button></form>\n");
		put_coverage(out, q, &data);
		CLEANUP(buf_release) struct buf link = buf_up_to(LIMIT_PATH);
		all_projects_link(q->site, page_frame(q)->root, &link);
		html_end(out, "%h", link.data);
	}
	return 0;
}

static const char *const states[WHEEL_STATUSES_OF_MATRIX] = {
	"ours", "covered", "upstream", "building", "excluded", "failed", "unmerged", "unknown", "missing"};
static const struct page_argument arguments[] = {
	{ARGUMENT_PROJECTS, .form = FORM_PROJECTS, .is_normalized = true},
	{ARGUMENT_PLATFORMS, .form = FORM_PLATFORMS},
	{ARGUMENT_PYTHON, .form = FORM_PYTHONS},
	{ARGUMENT_STATE, .form = FORM_CHOICES, .choice = states, .choices = ARRAY_SIZE(states),
		.refusal = "state is a list of ours, covered, upstream, building, excluded, failed, unmerged, unknown and missing"},
	{ARGUMENT_AFTER, .form = FORM_PROJECT},
};

// A document of so many cells would take much memory as a tree: its forms are written from the matrices.
const struct page_row coverage_page = {
	.section = HTML_SECTION_COVERAGE,
	.kind = PAGE_COVERAGE,
	.scope = PAGE_SCOPE_ALL,
	.needs_directory = true,
	.has_own_frame = true,
	.forms = 1 << PAGE_FORM_HTML | 1 << PAGE_FORM_JSON | 1 << PAGE_FORM_CSV,
	.rows = 50, // of a page for people
	.rows_of_data = LIMIT_COVERAGE_ROWS,
	.rows_most = LIMIT_COVERAGE_ROWS,
	.most = 64 << 20,
	PAGE_ARGUMENTS(arguments),
	.write = write_coverage,
};
