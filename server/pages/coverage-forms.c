// SPDX-License-Identifier: Apache-2.0
// The forms of /-/coverage for programs: JSON and CSV. They are written without a tree, because they have many cells.
#include "lib/format/csv.h"
#include "lib/format/escape.h"
#include "lib/os/clock.h"
#include "server/pages/coverage-page.h"

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

static void put_json_cell(struct buf *out, const char *project, const struct matrix_cell *cell)
{
	CLEANUP(buf_release) struct buf url;
	buf_init(&url, LIMIT_PATH);
	coverage_query_cell_url(project, cell->platform, cell->python, &url);
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
		put_json_cell(out, m->project, row->cell[i]);
		between = ",\n";
	}
	buf_puts(out, "]}");
}

static int check_size(const struct buf *out, struct err *e)
{
	return out->failed ? err_set(e, ERR_LIMIT, "document larger than %zu bytes", out->cap) : 0;
}

int coverage_json_write(const struct coverage_query *q, const struct coverage_data *d, struct buf *out, struct err *e)
{
	CLEANUP(buf_release) struct buf next;
	buf_init(&next, LIMIT_PATH);
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
		coverage_query_url(q, d->next, &next);
	buf_printf(out, "],\n\"total\":%llu", (unsigned long long)d->total);
	put_member(out, "next", d->next ? next.data : NULL);
	buf_puts(out, "}\n");
	return check_size(out, e);
}

// --- CSV: a row for each project, a column for each environment ---

int coverage_csv_write(const struct coverage_data *d, struct buf *out, struct err *e)
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
	return check_size(out, e);
}
