// SPDX-License-Identifier: Apache-2.0
#include "server/pages/coverage-data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/format/escape.h"
#include "lib/os/clock.h"
#include "lib/state/store/retired.h"

enum { MAKERS = 16 };

// What makes the matrices of the projects that the client may read on the same platforms: a token may be for some projects
// only.
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

static void add_columns(struct coverage_reader *r, const struct platform *p)
{
	struct coverage_data *d = r->data;
	for (size_t i = 0; i < p->profile.environment_count; i++) {
		struct coverage_column column = {.platform = p};
		CLEANUP(buf_release) struct buf python;
		buf_init(&python, sizeof(column.python) - 1);
		python_print(&p->profile.environment[i].python, &python);
		if (python.failed || !page_list_has(r->query->text[ARGUMENT_PYTHON], python.data))
			continue;
		memcpy(column.python, python.data, python.len + 1);
		GROW(d->column, d->columns, d->column_room);
		d->column[d->columns++] = column;
	}
}

static void list_columns(struct coverage_reader *r)
{
	const struct store *store = &r->query->site->store;
	for (size_t i = 0; i < store->platform_count; i++)
		if (r->query->readable.is_readable[i] && !r->is_retired[i] &&
			page_list_has(r->query->text[ARGUMENT_PLATFORMS], store->platform[i].name))
			add_columns(r, &store->platform[i]);
}

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

static void list_platforms(const struct site *site, struct coverage_maker *m)
{
	m->platform = xcalloc(site->store.platform_count + 1, sizeof(*m->platform));
	for (size_t i = 0; i < site->store.platform_count; i++)
		if (m->has[i])
			m->platform[m->platforms++] = &site->store.platform[i];
}

static bool has_all_of_view(const struct site *site, const struct coverage_maker *m, const struct view *v)
{
	for (size_t i = 0; i < v->platform_count; i++)
		if (!m->has[v->platform[i] - site->store.platform])
			return false;
	return v->platform_count > 1;
}

// Views of which the client may read everything. One platform alone covers no other.
static void list_views(const struct site *site, struct coverage_maker *m)
{
	m->view = xcalloc(site->view_count + 1, sizeof(*m->view));
	for (size_t i = 0; i < site->view_count; i++) {
		const struct view *v = &site->view[i];
		if (has_all_of_view(site, m, v))
			m->view[m->views++] = (struct matrix_view){.platform = v->platform,
				.platforms = v->platform_count,
				.membership = v->membership,
				.generation = site_generation(site, v)};
	}
}

static long find_column(const struct coverage_data *d, const struct platform *p, const struct environment *environment)
{
	CLEANUP(buf_release) struct buf python;
	buf_init(&python, LIMIT_FILE_NAME);
	python_print(&environment->python, &python);
	for (size_t i = 0; i < d->columns; i++)
		if (d->column[i].platform == p && strcmp(d->column[i].python, python.data) == 0)
			return (long)i;
	return -1;
}

// The cells of a matrix are in the order of its platforms and their Pythons.
static void map_columns(const struct coverage_data *d, const bool *is_retired, struct coverage_maker *m)
{
	size_t cells = 0, cell = 0;
	for (size_t i = 0; i < m->platforms; i++)
		cells += m->platform[i]->profile.environment_count;
	m->column = xcalloc(cells + 1, sizeof(*m->column));
	for (size_t i = 0; i < m->platforms; i++)
		for (size_t k = 0; !is_retired[i] && k < m->platform[i]->profile.environment_count; k++)
			m->column[cell++] = find_column(d, m->platform[i], &m->platform[i]->profile.environment[k]);
}

static int open_maker(struct coverage_reader *r, struct coverage_maker *m, struct err *e)
{
	const struct site *site = r->query->site;
	m->has = xcalloc(site->store.platform_count + 1, sizeof(*m->has));
	memcpy(m->has, r->has, site->store.platform_count * sizeof(*m->has));
	list_platforms(site, m);
	list_views(site, m);
	CLEANUP(mem_free) bool *lacks_upstream = xcalloc(m->platforms + 1, sizeof(*lacks_upstream));
	CLEANUP(mem_free) bool *is_retired = xcalloc(m->platforms + 1, sizeof(*is_retired));
	for (size_t i = 0; i < m->platforms; i++) {
		lacks_upstream[i] = !site_has_upstream(site, NULL, m->platform[i]);
		is_retired[i] = r->is_retired[m->platform[i] - site->store.platform];
	}
	map_columns(r->data, is_retired, m);
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

// The maker for what the client may read of this project. A new one takes the place of the first where there are too many.
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

static bool is_wanted_row(const struct coverage_reader *r, const struct coverage_row *row)
{
	const char *states = r->query->text[ARGUMENT_STATE];
	bool is_wanted = page_list_has(states, ""); // all are wanted
	for (size_t i = 0; i < r->data->columns && !is_wanted; i++)
		is_wanted = row->cell[i] && page_list_has(states, wheel_status_name[row->cell[i]->state]);
	return is_wanted;
}

static void coverage_row_release(struct coverage_row *row)
{
	project_matrix_release(&row->matrix);
	free(row->cell);
	*row = (struct coverage_row){0};
}

static int make_coverage_row(struct coverage_reader *r, const char *project,
	struct coverage_row *row, struct err *e)
{
	struct coverage_maker *m = find_maker(r, project, e);
	if (!m || project_matrix_make(m->maker, r->query->catalog, project, NULL, &row->matrix, e) < 0)
		return -1;
	row->cell = xcalloc(r->data->columns + 1, sizeof(*row->cell));
	for (size_t i = 0; i < row->matrix.cells; i++)
		if (m->column[i] >= 0)
			row->cell[m->column[i]] = &row->matrix.cell[i];
	return 0;
}

static int add_coverage_row(struct coverage_reader *r, const char *project, struct err *e)
{
	struct coverage_data *d = r->data;
	CLEANUP(coverage_row_release) struct coverage_row row = {0};
	if (make_coverage_row(r, project, &row, e) < 0)
		return -1;
	if (!is_wanted_row(r, &row))
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

int coverage_data_read(struct page_query *q, struct coverage_data *out, struct err *e)
{
	*out = (struct coverage_data){0};
	CLEANUP(coverage_reader_release)
	struct coverage_reader r = {.query = q, .data = out, .taken = {.begun_ms = clock_ms()}};
	r.has = xcalloc(q->site->store.platform_count + 1, sizeof(*r.has));
	r.is_retired = xcalloc(q->site->store.platform_count + 1, sizeof(*r.is_retired));
	for (size_t i = 0; i < q->site->store.platform_count; i++)
		r.is_retired[i] = retired_is(&q->site->store.platform[i]);
	list_columns(&r);
	r.taken.columns = out->columns;
	project_directory_each(q->context->project_directory, take_project_name, &r);
	if (page_open_results(q->context, &r.results, e) == 0 && add_coverage_rows(&r, e) == 0)
		return 0;
	coverage_data_release(out);
	return -1;
}

void coverage_data_release(struct coverage_data *d)
{
	for (size_t i = 0; i < d->rows; i++)
		coverage_row_release(&d->row[i]);
	free(d->row);
	free(d->column);
	free(d->next);
	*d = (struct coverage_data){0};
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
	CLEANUP(buf_release) struct buf url;
	buf_init(&url, LIMIT_PATH);
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
	buf_puts(out, "coverage?projects=");
	escape_url(out, str_from(project));
	buf_puts(out, "&platforms=");
	escape_url(out, str_from(platform));
	buf_puts(out, "&python=");
	escape_url(out, str_from(python));
}
