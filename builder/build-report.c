// SPDX-License-Identifier: Apache-2.0
#include "builder/build-report.h"

#include <inttypes.h>
#include <stdlib.h>

#include "lib/format/escape.h"
#include "lib/format/jsondoc.h"
#include "lib/net/fetch.h"

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

static bool is_taken(const struct schedule_row *r)
{
	return r->state != SCHEDULE_LEFT_OUT && (r->state != SCHEDULE_AWAITING || r->was_tried);
}

// Nothing is to be done about it. A row that waits for the network is no failure.
static bool is_good(const struct schedule_row *r)
{
	return r->state == SCHEDULE_GOOD || r->state == SCHEDULE_COVERED || r->state == SCHEDULE_ELSEWHERE ||
	       r->state == SCHEDULE_WAITING;
}

// --- for people ---

static void print_row(const struct schedule_row *r, struct buf *out)
{
	escape_terminal_line(out, "  python %-5s %s %s%s%s", r->row->python, r->row->project,
		r->row->version ? r->row->version : "(no version)", r->why && *r->why ? ": " : "",
		r->why ? r->why : "");
}

static void print_rows(const struct build_report *r, enum schedule_state state, const char *head, struct buf *out)
{
	size_t count[SCHEDULE_STATE_COUNT];
	schedule_count(&r->schedule, count);
	if (!count[state])
		return;
	buf_printf(out, "%s:\n", head);
	for (size_t i = 0; i < r->schedule.count; i++)
		if (r->schedule.row[i].state == state)
			print_row(&r->schedule.row[i], out);
}

static void print_plan_of_build(const struct build_report *r, struct buf *out)
{
	print_rows(r, SCHEDULE_READY, "to be built, in this order", out);
	print_rows(r, SCHEDULE_AWAITING, "after their build requirements", out);
	print_rows(r, SCHEDULE_LEFT_OUT, "not built", out);
}

static void print_totals(const struct build_report *r, struct buf *out)
{
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
		buf_printf(out, "%zu results could not be sent, and are sent by the next run\n", r->unsent);
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
	print_totals(r, out);
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

// The URL of an index may have a password.
static void put_index(struct jsondoc *doc, const char *index)
{
	CLEANUP(fetch_url_release) struct fetch_url url = {0};
	struct err ignored = ERR_INIT;
	jsondoc_put_str(doc, "index", fetch_url_parse(index, &url, &ignored) == 0 ? url.text : NULL);
}

void build_report_json(const struct build_report *r, struct buf *out)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
	struct jsondoc *rows = jsondoc_array();
	jsondoc_put_str(doc, "platform", r->platform);
	put_index(doc, r->index);
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
		taken += is_taken(&r->schedule.row[i]);
		good += is_good(&r->schedule.row[i]);
	}
	if (r->stop.kind != ERR_NONE) {
		*e = r->stop;
		return -1;
	}
	if (good == taken || r->is_dry_run)
		return 0;
	return err_set(e, ERR_INVALID, "%zu of %zu rows are without a wheel", taken - good, taken);
}
