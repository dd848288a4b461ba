// SPDX-License-Identifier: Apache-2.0
#include "cli/locked-output.h"

#include <string.h>

#include "lib/base/counted.h"
#include "lib/format/escape.h"
#include "lib/format/jsondoc.h"

static bool row_fails(const struct locked_row *row)
{
	return row->is_wanted && row->status != LOCKED_HERE && row->status != LOCKED_UPSTREAM;
}

bool locked_output_fails(const struct locked_files *l)
{
	for (size_t i = 0; i < l->rows; i++)
		if (row_fails(&l->row[i]))
			return true;
	return false;
}

static bool is_of_place(const struct locked_row *a, const struct locked_row *b)
{
	return strcmp(a->lock, b->lock) == 0 && strcmp(a->platform, b->platform) == 0;
}

// Of the files that are wanted.
static void count_wanted(const struct locked_files *l, size_t first, size_t end, size_t total[LOCKED_STATUS_COUNT])
{
	memset(total, 0, LOCKED_STATUS_COUNT * sizeof(*total));
	for (size_t i = first; i < end; i++)
		total[l->row[i].status] += l->row[i].is_wanted;
}

static void put_totals_of_place(const struct locked_files *l, size_t first, size_t end, struct buf *out)
{
	size_t total[LOCKED_STATUS_COUNT];
	CLEANUP(buf_release) struct buf line = buf_up_to(SIZE_MAX / 2);
	count_wanted(l, first, end, total);
	buf_printf(&line, "%s, %s:", l->row[first].lock, l->row[first].platform);
	for (size_t i = 0; i < LOCKED_STATUS_COUNT; i++)
		if (total[i] || i != LOCKED_CONFLICT) // locks have none
			buf_printf(&line, "%s %zu %s", i ? "," : "", total[i], locked_status_name[i]);
	escape_terminal_line(out, "%s", line.data);
}

static void put_row(const struct locked_row *row, struct buf *out)
{
	escape_terminal_line(out, "  %-11s  %s  Python %s%s%s  [line %u]%s", locked_status_name[row->status],
		row->filename ? row->filename : row->project, row->pythons, *row->why ? ": " : "", row->why, row->line,
		row->is_wanted ? "" : "  not preferred");
}

void locked_output_table(const struct locked_files *l, bool wants_all, struct buf *out)
{
	for (size_t first = 0, end; first < l->rows; first = end) {
		for (end = first; end < l->rows && is_of_place(&l->row[first], &l->row[end]); end++)
			;
		put_totals_of_place(l, first, end, out);
		for (size_t i = first; i < end; i++)
			if (wants_all || row_fails(&l->row[i]))
				put_row(&l->row[i], out);
	}
	if (!l->rows)
		buf_puts(out, "no file installs on the platforms\n");
	if (l->skipped)
		buf_printf(out, "%s of no index: of a version control, a folder or a URL\n",
			COUNTED(l->skipped, "package is|packages are"));
}

void locked_output_json(const struct locked_files *l, struct buf *out)
{
	size_t total[LOCKED_STATUS_COUNT];
	count_wanted(l, 0, l->rows, total);
	buf_puts(out, "{\"totals\": {");
	for (size_t i = 0; i < LOCKED_STATUS_COUNT; i++)
		if (total[i] || i != LOCKED_CONFLICT)
			buf_printf(out, "%s\"%s\": %zu", i ? ", " : "", locked_status_name[i], total[i]);
	buf_printf(out, "}, \"skipped\": %zu, \"rows\": [", l->skipped);
	for (size_t i = 0; i < l->rows; i++) {
		const struct locked_row *row = &l->row[i];
		CLEANUP(jsondoc_cleanup)
		struct jsondoc *doc =
			jsondoc_new("lock:s line:d platform:s project:s version:s filename:s sha256:s wanted:b "
				    "status:s offered:T why:s by:k",
				row->lock, (int64_t)row->line, row->platform, row->project, row->version, row->filename,
				row->sha256, row->is_wanted, locked_status_name[row->status], row->offered, row->why, row->by);
		struct jsondoc *pythons = jsondoc_array();
		for (struct str rest = str_from(row->pythons); rest.len;) {
			struct str word = str_cut(&rest, ' ');
			CLEANUP(mem_free) char *python = xstrndup(word.ptr, word.len);
			jsondoc_add_str(pythons, python);
		}
		jsondoc_put(doc, "pythons", pythons);
		buf_puts(out, i ? ",\n" : "\n");
		jsondoc_write_compact(doc, out);
	}
	buf_puts(out, "\n]}\n");
}
