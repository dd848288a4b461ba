// SPDX-License-Identifier: Apache-2.0
#include "cli/missing-print.h"

#include <inttypes.h>
#include <string.h>

#include "lib/format/escape.h"

enum { MOST_WIDTH = 48 }; // of the column with project and version

static int max_width(int width, const char *text)
{
	int len = (int)strlen(text);
	return len > width ? len : width;
}

static void put_totals(struct buf *out, const struct missing *m, int width, const char *platform, const char *python,
	const uint64_t total[WHEEL_STATUS_COUNT])
{
	buf_printf(out, "%-*s  %-6s", width, platform, python);
	for (size_t i = 0; i < WHEEL_STATUSES_OF_MISSING; i++)
		if (missing_has_column(m, wheel_status_shown[i]))
			buf_printf(out, "  %*" PRIu64, max_width(4, wheel_status_name[wheel_status_shown[i]]),
				total[wheel_status_shown[i]]);
	buf_putc(out, '\n');
}

static void put_all_totals(struct buf *out, const struct missing *m)
{
	int width = max_width(0, "platform");
	for (size_t i = 0; i < m->environments; i++)
		width = max_width(width, m->environment[i].platform);
	buf_printf(out, "%-*s  %-6s", width, "platform", "python");
	for (size_t i = 0; i < WHEEL_STATUSES_OF_MISSING; i++)
		if (missing_has_column(m, wheel_status_shown[i]))
			buf_printf(out, "  %*s", max_width(4, wheel_status_name[wheel_status_shown[i]]),
				wheel_status_name[wheel_status_shown[i]]);
	buf_putc(out, '\n');
	for (size_t i = 0; i < m->environments; i++)
		put_totals(out, m, width, m->environment[i].platform, m->environment[i].python,
			m->environment[i].total);
	if (m->environments > 1)
		put_totals(out, m, width, "all", "", m->total);
}

static bool is_of_environment(const struct missing_row *row, const struct missing_row *other)
{
	return other && strcmp(row->platform, other->platform) == 0 && strcmp(row->python, other->python) == 0;
}

// The bytes of "project version".
static int name_width(const struct missing_row *row)
{
	return (int)(strlen(row->project) + (row->version ? 1 + strlen(row->version) : 0));
}

static int names_width(const struct missing *m, size_t from)
{
	int width = 0;
	for (size_t i = from; i < m->rows && is_of_environment(&m->row[i], &m->row[from]); i++)
		if (name_width(&m->row[i]) > width)
			width = name_width(&m->row[i]);
	return width < MOST_WIDTH ? width : MOST_WIDTH;
}

static void print_missing_row(struct buf *out, const struct missing_row *row, int width)
{
	int pad = width - name_width(row);
	buf_printf(out, "  %-10s  %s%s%s%*s  ", wheel_status_name[row->status], row->project, row->version ? " " : "",
		row->version ? row->version : "", pad > 0 ? pad : 0, "");
	escape_terminal(out, str_from(row->why));
	for (size_t i = 0; i < row->branches; i++)
		buf_printf(out, "%s%s", i ? " " : " [", row->branch[i]);
	buf_puts(out, row->branches ? "]\n" : "\n");
}

void missing_print(const struct missing *m, struct buf *out)
{
	int width = 0;
	put_all_totals(out, m);
	for (size_t i = 0; i < m->branches; i++)
		if (m->branch[i].is_over)
			buf_printf(out, "Branch %s wants nothing: its last day was %s.\n", m->branch[i].name,
				m->branch[i].until);
	for (size_t i = 0; i < m->rows; i++) {
		if (!i || !is_of_environment(&m->row[i], &m->row[i - 1])) {
			buf_printf(out, "\n%s, Python %s\n", m->row[i].platform, m->row[i].python);
			width = names_width(m, i);
		}
		print_missing_row(out, &m->row[i], width);
	}
}
