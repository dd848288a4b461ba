// SPDX-License-Identifier: Apache-2.0
#include "builder/build-report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lib/base/counted.h"
#include "lib/format/escape.h"
#include "lib/format/jsondoc.h"
#include "lib/net/fetch.h"
#include "lib/os/clock.h"

void build_report_release(struct build_report *r)
{
	for (size_t i = 0; i < r->schedule.count; i++)
		free(r->row[i].wheel);
	free(r->row);
	free(r->index);
	schedule_release(&r->schedule);
	missing_release(&r->missing);
	*r = (struct build_report){0};
}

// --- for people ---

static void print_rows(const struct build_report *r, enum schedule_state state, const char *head, struct buf *out)
{
	size_t count[SCHEDULE_STATE_COUNT];
	schedule_count(&r->schedule, count);
	if (!count[state])
		return;
	buf_printf(out, "%s:\n", head);
	for (size_t i = 0; i < r->schedule.count; i++) {
		const struct schedule_row *s = &r->schedule.row[i];
		if (s->state == state)
			escape_terminal_line(out, "  python %-5s %s %s%s%s", s->row->python, s->row->project,
				s->row->version ? s->row->version : "(no version)", s->why && *s->why ? ": " : "",
				s->why ? s->why : "");
	}
}

static void print_plan_of_build(const struct build_report *r, struct buf *out)
{
	print_rows(r, SCHEDULE_READY, "to be built, in this order", out);
	print_rows(r, SCHEDULE_AWAITING, "after their build requirements", out);
	print_rows(r, SCHEDULE_LEFT_OUT, "not built", out);
}

void build_report_text(const struct build_report *r, struct buf *out)
{
	if (r->is_dry_run)
		print_plan_of_build(r, out);
	else {
		print_rows(r, SCHEDULE_BAD, "failed", out);
		print_rows(r, SCHEDULE_INTERRUPTED, "interrupted", out);
		print_rows(r, SCHEDULE_WAITING, "waiting for the index or a file host, until the next run", out);
		print_rows(r, SCHEDULE_READY, "not tried", out);
		print_rows(r, SCHEDULE_AWAITING, "awaiting build requirements", out);
	}
	size_t count[SCHEDULE_STATE_COUNT];
	const char *comma = "";
	schedule_count(&r->schedule, count);
	buf_printf(out, "%s: ", r->platform);
	for (int i = 0; i < SCHEDULE_STATE_COUNT; i++)
		if (count[i]) {
			buf_printf(out, "%s%zu %s", comma, count[i], schedule_state_name[i]);
			comma = ", ";
		}
	buf_puts(out, *comma ? "\n" : r->unknown ? "nothing else is missing\n" : "nothing is missing\n");
	if (r->unknown)
		buf_printf(out,
			"upstream could not tell about %" PRIu64 " more: \"wheelcache missing\" has the reasons\n",
			r->unknown);
	if (r->unsent)
		buf_printf(out, "%s sent by the next run\n",
			COUNTED(r->unsent, "result could not be sent, and is|results could not be sent, and are"));
}

// --- JSON ---

static struct jsondoc *attempt_json(const struct build_row *row)
{
	struct jsondoc *doc = jsondoc_object();
	jsondoc_put_str(doc, "id", row->id);
	jsondoc_put_str(doc, "result", results_result_name[row->result]);
	jsondoc_put_str(doc, "step", attempt_step_name[row->step]);
	jsondoc_put_real(doc, "seconds", row->seconds);
	jsondoc_put_str(doc, "wheel", row->wheel);
	return doc;
}

static struct jsondoc *row_json(const struct schedule_row *r, const struct build_row *row)
{
	struct jsondoc *doc = jsondoc_object();
	jsondoc_put_str(doc, "platform", r->row->platform);
	jsondoc_put_str(doc, "python", r->row->python);
	jsondoc_put_str(doc, "project", r->row->project);
	jsondoc_put_str(doc, "version", r->row->version);
	jsondoc_put_str(doc, "state", schedule_state_name[r->state]);
	jsondoc_put_str(doc, "why", r->why ? r->why : "");
	if (row->id[0])
		jsondoc_put(doc, "attempt", attempt_json(row));
	else
		jsondoc_put_str(doc, "attempt", NULL);
	return doc;
}

static struct jsondoc *totals_json(const struct build_report *r)
{
	struct jsondoc *doc = jsondoc_object();
	size_t count[SCHEDULE_STATE_COUNT];
	schedule_count(&r->schedule, count);
	for (int i = 0; i < SCHEDULE_STATE_COUNT; i++)
		jsondoc_put_int(doc, schedule_state_name[i], (int64_t)count[i]);
	jsondoc_put_int(doc, "unknown", (int64_t)r->unknown);
	return doc;
}

void build_report_json(const struct build_report *r, struct buf *out)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
	struct jsondoc *rows = jsondoc_array();
	jsondoc_put_str(doc, "platform", r->platform);
	// The URL of an index may have a password.
	CLEANUP(fetch_url_release) struct fetch_url url = {0};
	struct err ignored = ERR_INIT;
	jsondoc_put_str(doc, "index", fetch_url_parse(r->index, &url, &ignored) == 0 ? url.text : NULL);
	jsondoc_put_bool(doc, "dry_run", r->is_dry_run);
	jsondoc_put_str(doc, "stopped", r->stop.kind != ERR_NONE ? r->stop.msg : NULL);
	jsondoc_put_int(doc, "unsent", (int64_t)r->unsent);
	jsondoc_put(doc, "totals", totals_json(r));
	for (size_t i = 0; i < r->schedule.count; i++)
		jsondoc_add(rows, row_json(&r->schedule.row[i], &r->row[i]));
	jsondoc_put(doc, "rows", rows);
	jsondoc_write(doc, 2, out);
}

// --- the verdict ---

int build_report_verdict(const struct build_report *r, struct err *e)
{
	size_t taken = 0, good = 0;
	for (size_t i = 0; i < r->schedule.count; i++) {
		const struct schedule_row *s = &r->schedule.row[i];
		taken += s->state != SCHEDULE_LEFT_OUT && (s->state != SCHEDULE_AWAITING || s->was_tried);
		// Nothing is to be done about these. A row that waits for the network is no failure.
		good += s->state == SCHEDULE_GOOD || s->state == SCHEDULE_COVERED || s->state == SCHEDULE_ELSEWHERE ||
			s->state == SCHEDULE_WAITING;
	}
	if (r->stop.kind != ERR_NONE) {
		*e = r->stop;
		return -1;
	}
	if (good == taken || r->is_dry_run)
		return 0;
	return err_set(e, ERR_INVALID, "%zu of %s without a wheel", taken - good, COUNTED(taken, "row is|rows are"));
}

// --- the progress on a terminal ---

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

static void add_running(struct build_display *d, const struct schedule_row *r, const struct build_row *row,
	struct buf *out)
{
	int64_t s = row->begun_ms ? (clock_ms() - row->begun_ms) / 1000 : 0;
	CLEANUP(buf_release) struct buf line = buf_up_to(LINE_MOST);
	buf_printf(&line, "  %3" PRId64 ":%02d:%02d  %-6s  %-5s %s %s", s / 3600, (int)(s / 60 % 60), (int)(s % 60),
		row->step ? attempt_step_name[row->step] : "asks", r->row->python, r->row->project, r->row->version);
	add_display_line(d, out, &line);
}

void build_display_draw(struct build_display *d, const struct build_report *r)
{
	if (!d->is_on || clock_ms() - d->drawn_ms < EVERY_MS)
		return;
	build_display_clear(d);
	CLEANUP(buf_release) struct buf out = buf_up_to(TEXT_MOST);
	size_t count[SCHEDULE_STATE_COUNT];
	schedule_count(&r->schedule, count);
	size_t done = count[SCHEDULE_GOOD] + count[SCHEDULE_COVERED] + count[SCHEDULE_ELSEWHERE] + count[SCHEDULE_BAD] +
		      count[SCHEDULE_INTERRUPTED];
	size_t all = done + count[SCHEDULE_READY] + count[SCHEDULE_RUNNING];
	CLEANUP(buf_release) struct buf line = buf_up_to(LINE_MOST);
	buf_putc(&line, '[');
	for (size_t i = 0; i < CELLS; i++)
		buf_putc(&line, all && i < done * CELLS / all ? '#' : '.');
	buf_printf(&line, "] %zu of %s, %zu failed, %zu running", done, COUNTED(all, "row|rows"), count[SCHEDULE_BAD],
		count[SCHEDULE_RUNNING]);
	if (count[SCHEDULE_AWAITING])
		buf_printf(&line, ", %zu awaiting", count[SCHEDULE_AWAITING]);
	add_display_line(d, &out, &line);
	size_t running = 0;
	CLEANUP(buf_release) struct buf more = buf_up_to(LINE_MOST);
	for (size_t i = 0; i < r->schedule.count; i++)
		if (r->schedule.row[i].state == SCHEDULE_RUNNING && ++running <= LINES_MOST)
			add_running(d, &r->schedule.row[i], &r->row[i], &out);
	if (running > LINES_MOST) {
		buf_printf(&more, "  and %zu more", running - LINES_MOST);
		add_display_line(d, &out, &more);
	}
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
