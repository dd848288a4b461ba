// SPDX-License-Identifier: Apache-2.0
#include "lib/view/usage.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/format/csv.h"
#include "lib/format/escape.h"
#include "lib/format/jsondoc.h"

enum { USAGE_DAY = 86400, DATE_TEXT = 10 };

const char *const usage_by_name[USAGE_BY_COUNT] = {"platform", "project", "version", "age"};

// The last one has all that is older.
static const struct usage_span {
	int64_t days;
	const char *name;
} spans[] = {{7, "less than 7 days"}, {30, "less than 30 days"}, {90, "less than 90 days"}, {365, "less than a year"},
	{INT64_MAX / USAGE_DAY, "a year or more"}};

// The arguments of take_used_file.
struct usage_reader {
	const struct usage_query *query;
	struct catalog *catalog;
	struct usage *out;
	const struct usage_platform *platform;
	const char *project;
	struct usage_row *open; // the row of the files before; NULL: none
};

// --- reading ---

static void add_to_row(struct usage_row *row, const struct usage_row *more)
{
	row->files += more->files;
	row->bytes += more->bytes;
	row->newest = more->newest > row->newest ? more->newest : row->newest;
	row->downloaded = more->downloaded > row->downloaded ? more->downloaded : row->downloaded;
}

static const char *name_of_row(const struct usage_reader *r, int64_t came)
{
	if (r->query->by == USAGE_PLATFORM)
		return r->platform->name;
	if (r->query->by != USAGE_AGE)
		return r->project;
	int64_t age = r->query->now - came;
	size_t i = 0;
	while (i + 1 < ARRAY_SIZE(spans) && age >= spans[i].days * USAGE_DAY)
		i++;
	return spans[i].name;
}

// Files come by platform, project and version, so that most belong to the row before. Of platforms and spans there are
// few.
static struct usage_row *find_usage_row(struct usage_reader *r, const char *name, const char *version)
{
	struct usage *u = r->out;
	bool is_short = r->query->by == USAGE_PLATFORM || r->query->by == USAGE_AGE;
	for (size_t i = 0; is_short && i < u->rows; i++)
		if (strcmp(u->row[i].name, name) == 0)
			return &u->row[i];
	if (r->open && strcmp(r->open->name, name) == 0 && strcmp(r->open->version, version) == 0)
		return r->open;
	GROW(u->row, u->rows, u->room);
	r->open = &u->row[u->rows++];
	*r->open = (struct usage_row){
		.name = arena_copy(&u->text, str_from(name)), .version = arena_copy(&u->text, str_from(version))};
	return r->open;
}

static int take_used_file(void *ctx, const struct catalog_file *f, struct err *e UNUSED)
{
	struct usage_reader *r = ctx;
	struct download download = {0};
	int64_t came = catalog_file_came(f);
	if (r->query->downloads)
		downloads_find(r->query->downloads, r->platform->name, f->filename, &download);
	const struct usage_row file = {.files = 1, .bytes = f->size, .newest = came, .downloaded = download.last};
	const char *version = r->query->by == USAGE_VERSION && f->version ? f->version : "";
	add_to_row(find_usage_row(r, name_of_row(r, came), version), &file);
	add_to_row(&r->out->total, &file);
	return 0;
}

static int take_used_project(void *ctx, const struct catalog_project *p, struct err *e)
{
	struct usage_reader *r = ctx;
	const struct usage_query *q = r->query;
	if (q->may_read && !q->may_read(q->ctx, p->platform, p->project))
		return 0;
	r->project = p->project;
	return catalog_project_files(r->catalog, p->platform, p->project, take_used_file, r, e);
}

// --- order ---

static int by_usage_name(const void *a, const void *b)
{
	const struct usage_row *x = a, *y = b;
	int order = strcmp(x->name, y->name);
	return order ? order : strcmp(x->version, y->version);
}

static int by_used_bytes(const void *a, const void *b)
{
	const struct usage_row *x = a, *y = b;
	int order = (x->bytes < y->bytes) - (x->bytes > y->bytes);
	return order ? order : by_usage_name(a, b);
}

static int by_usage_newest(const void *a, const void *b)
{
	const struct usage_row *x = a, *y = b;
	return (x->newest < y->newest) - (x->newest > y->newest);
}

static void join_rows(struct usage *u)
{
	size_t kept = 0;
	if (!u->rows)
		return;
	qsort(u->row, u->rows, sizeof(*u->row), by_usage_name);
	for (size_t i = 1; i < u->rows; i++)
		if (by_usage_name(&u->row[kept], &u->row[i]) == 0)
			add_to_row(&u->row[kept], &u->row[i]);
		else
			u->row[++kept] = u->row[i];
	u->rows = kept + 1;
}

int usage_read(struct catalog *c, const struct usage_query *q, struct usage *out, struct err *e)
{
	*out = (struct usage){.total = {.name = "all", .version = ""}};
	CLEANUP(catalog_read_end) struct catalog *snapshot = NULL;
	if (catalog_read_begin(c, e) < 0)
		return -1;
	snapshot = c;
	for (size_t i = 0; i < q->platforms; i++) {
		struct usage_reader r = {.query = q, .catalog = snapshot, .out = out, .platform = &q->platform[i]};
		const struct catalog_project only = {.platform = q->platform[i].id, .project = q->project};
		if ((q->project ? take_used_project(&r, &only, e)
				: catalog_projects(c, q->platform[i].id, take_used_project, &r, e)) < 0)
			return -1;
		join_rows(out); // so there are never more rows than those of one platform and of all before it
	}
	if (out->rows)
		qsort(out->row, out->rows, sizeof(*out->row), q->by == USAGE_AGE ? by_usage_newest : by_used_bytes);
	return 0;
}

void usage_cut(struct usage *u, size_t most)
{
	u->cut = u->rows > most ? u->rows - most : 0;
	u->rows -= u->cut;
}

int usage_by_read(const char *name, enum usage_by *out)
{
	for (int i = 0; i < USAGE_BY_COUNT; i++)
		if (!name || strcmp(name, usage_by_name[i]) == 0) {
			*out = (enum usage_by)i;
			return 0;
		}
	return -1;
}

void usage_release(struct usage *u)
{
	free(u->row);
	arena_release(&u->text);
	*u = (struct usage){0};
}

// --- writing ---

void usage_write_date(int64_t when, char out[CLOCK_TEXT])
{
	if (when)
		clock_write(when, out);
	else
		snprintf(out, CLOCK_TEXT, "-");
	out[DATE_TEXT] = '\0';
}

static void write_table_row(const struct usage_row *row, struct buf *out)
{
	char came[CLOCK_TEXT], downloaded[CLOCK_TEXT];
	usage_write_date(row->newest, came);
	usage_write_date(row->downloaded, downloaded);
	escape_terminal_line(out, "%12.1f %9" PRIu64 "  %-10s  %-10s  %s%s%s", (double)row->bytes / (1 << 20), row->files,
		came, downloaded, row->name, *row->version ? " " : "", row->version);
}

void usage_write_table(const struct usage *u, enum usage_by by, struct buf *out)
{
	escape_terminal_line(out, "%12s %9s  %-10s  %-10s  %s", "MiB", "files", "newest", "downloaded",
		usage_by_name[by]);
	for (size_t i = 0; i < u->rows; i++)
		write_table_row(&u->row[i], out);
	write_table_row(&u->total, out);
}

static void write_csv_fields(const char *const *field, size_t count, struct buf *out)
{
	for (size_t i = 0; i < count; i++) {
		if (i)
			csv_next(out);
		csv_field(out, str_from(field[i]));
	}
	csv_end_row(out);
}

void usage_write_csv(const struct usage *u, enum usage_by by, struct buf *out)
{
	const char *const head[] = {
		by == USAGE_VERSION ? "project" : usage_by_name[by], "version", "files", "bytes", "newest", "downloaded"};
	write_csv_fields(head, ARRAY_SIZE(head), out);
	for (size_t i = 0; i < u->rows; i++) {
		const struct usage_row *row = &u->row[i];
		char came[CLOCK_TEXT], downloaded[CLOCK_TEXT];
		CLEANUP(mem_free) char *files = xasprintf("%" PRIu64, row->files);
		CLEANUP(mem_free) char *bytes = xasprintf("%" PRIu64, row->bytes);
		usage_write_date(row->newest, came);
		usage_write_date(row->downloaded, downloaded);
		const char *const field[] = {
			row->name, row->version, files, bytes, came, row->downloaded ? downloaded : ""};
		write_csv_fields(field, ARRAY_SIZE(field), out);
	}
}

static struct jsondoc *usage_row_json(const struct usage_row *row, enum usage_by by)
{
	char when[CLOCK_TEXT];
	struct jsondoc *doc = jsondoc_object();
	jsondoc_put_str(doc, by == USAGE_VERSION ? "project" : usage_by_name[by], row->name);
	if (by == USAGE_VERSION)
		jsondoc_put_str(doc, "version", row->version);
	jsondoc_put_int(doc, "files", (int64_t)row->files);
	jsondoc_put_int(doc, "bytes", (int64_t)row->bytes);
	clock_write(row->newest, when);
	jsondoc_put_str(doc, "newest", when);
	usage_write_date(row->downloaded, when);
	jsondoc_put_str(doc, "downloaded", row->downloaded ? when : NULL);
	return doc;
}

void usage_write_json(const struct usage *u, enum usage_by by, struct buf *out)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
	struct jsondoc *rows = jsondoc_array();
	for (size_t i = 0; i < u->rows; i++)
		jsondoc_add(rows, usage_row_json(&u->row[i], by));
	jsondoc_put_str(doc, "by", usage_by_name[by]);
	jsondoc_put_int(doc, "files", (int64_t)u->total.files);
	jsondoc_put_int(doc, "bytes", (int64_t)u->total.bytes);
	jsondoc_put(doc, "rows", rows);
	jsondoc_put_int(doc, "more", (int64_t)u->cut);
	jsondoc_write(doc, 2, out);
}
