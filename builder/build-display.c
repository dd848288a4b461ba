// SPDX-License-Identifier: Apache-2.0
#include "builder/build-display.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lib/os/clock.h"

enum { CELLS = 20, LINES_MOST = 12, LINE_MOST = 300, EVERY_MS = 250, TEXT_MOST = 32 << 10 };

void build_display_begin(struct build_display *d, bool wanted)
{
	*d = (struct build_display){.is_on = wanted && isatty(STDERR_FILENO)};
}

static unsigned width_of_terminal(void)
{
	struct winsize size;
	return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

// A line that is longer than the terminal would take two, which are not cleared.
static void add_display_line(struct build_display *d, struct buf *out, const struct buf *line)
{
	struct str shown = str_head(buf_view(line), width_of_terminal() - 1);
	buf_str(out, shown);
	buf_putc(out, '\n');
	d->lines++;
}

static void add_totals(struct build_display *d, const struct build_report *r, struct buf *out)
{
	CLEANUP(buf_release) struct buf line;
	size_t count[SCHEDULE_STATE_COUNT];
	schedule_count(&r->schedule, count);
	size_t done = count[SCHEDULE_GOOD] + count[SCHEDULE_COVERED] + count[SCHEDULE_ELSEWHERE] + count[SCHEDULE_BAD] +
		      count[SCHEDULE_INTERRUPTED];
	size_t all = done + count[SCHEDULE_READY] + count[SCHEDULE_RUNNING];
	buf_init(&line, LINE_MOST);
	buf_putc(&line, '[');
	for (size_t i = 0; i < CELLS; i++)
		buf_putc(&line, all && i < done * CELLS / all ? '#' : '.');
	buf_printf(&line, "] %zu of %zu rows, %zu failed, %zu running", done, all, count[SCHEDULE_BAD],
		count[SCHEDULE_RUNNING]);
	if (count[SCHEDULE_AWAITING])
		buf_printf(&line, ", %zu awaiting", count[SCHEDULE_AWAITING]);
	add_display_line(d, out, &line);
}

static void add_running(struct build_display *d, const struct schedule_row *r, const struct build_row *row,
	struct buf *out)
{
	CLEANUP(buf_release) struct buf line;
	int64_t s = row->begun_ms ? (clock_ms() - row->begun_ms) / 1000 : 0;
	buf_init(&line, LINE_MOST);
	buf_printf(&line, "  %3" PRId64 ":%02d:%02d  %-6s  %-5s %s %s", s / 3600, (int)(s / 60 % 60), (int)(s % 60),
		row->step ? attempt_step_name[row->step] : "asks", r->row->python, r->row->project, r->row->version);
	add_display_line(d, out, &line);
}

static void add_all_running(struct build_display *d, const struct build_report *r, struct buf *out)
{
	CLEANUP(buf_release) struct buf more;
	size_t running = 0;
	buf_init(&more, LINE_MOST);
	for (size_t i = 0; i < r->schedule.count; i++)
		if (r->schedule.row[i].state == SCHEDULE_RUNNING && ++running <= LINES_MOST)
			add_running(d, &r->schedule.row[i], &r->row[i], out);
	if (running <= LINES_MOST)
		return;
	buf_printf(&more, "  and %zu more", running - LINES_MOST);
	add_display_line(d, out, &more);
}

void build_display_draw(struct build_display *d, const struct build_report *r)
{
	if (!d->is_on || clock_ms() - d->drawn_ms < EVERY_MS)
		return;
	CLEANUP(buf_release) struct buf out;
	build_display_clear(d);
	buf_init(&out, TEXT_MOST);
	add_totals(d, r, &out);
	add_all_running(d, r, &out);
	fwrite(out.data, 1, out.len, stderr);
	fflush(stderr);
	d->drawn_ms = clock_ms();
}

void build_display_clear(struct build_display *d)
{
	if (d->lines)
		fprintf(stderr, "\033[%uA\r\033[J", d->lines);
	d->lines = 0;
	d->drawn_ms = 0;
}
