// SPDX-License-Identifier: Apache-2.0
#include "server/pages/builds-page.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/format/escape.h"
#include "lib/os/clock.h"
#include "server/pages/builds-page-parts.h"
#include "server/pages/html-layout.h"
#include "server/pages/trend-picture.h"

static void put_build_totals(struct buf *out, const struct builds_data *d)
{
	uint64_t good = 0, failed = 0;
	for (size_t i = 0; i < BUILDS_DAYS; i++) {
		good += d->day[i].good;
		failed += d->day[i].failed;
	}
	buf_puts(out, "<dl>");
	html_total(out, "Fail now", d->failures);
	html_total(out, "Running", d->running);
	html_total(out, "Good in 60 days", good);
	html_total(out, "Failed in 60 days", failed);
	buf_puts(out, "</dl>\n");
}

// --- what the rows of all projects have in common ---

// The result, the step where it failed, and the log.
static void put_result_cell(struct buf *out, const struct results_attempt *a, bool is_in_folder)
{
	CLEANUP(buf_release) struct buf folder;
	buf_init(&folder, LIMIT_PATH);
	if (is_in_folder) {
		escape_url(&folder, str_from(a->project));
		buf_putc(&folder, '/');
	}
	buf_puts(out, "<td>");
	builds_part_result(out, a->result);
	if (results_is_failure(a->result) && *a->step) {
		buf_puts(out, " in ");
		html_text(out, a->step);
	}
	buf_putc(out, ' ');
	builds_part_log(out, is_in_folder ? folder.data : "", a);
	buf_puts(out, "</td>");
}

// Project and version, with a link to the project's page.
static void put_project_head(struct buf *out, const struct results_attempt *a)
{
	buf_puts(out, "<tr><th scope=\"row\"><a href=\"");
	escape_url(out, str_from(a->project));
	buf_puts(out, "/\">");
	html_text(out, a->project);
	buf_puts(out, "</a> ");
	html_text(out, a->version);
	buf_puts(out, "</th><td><span class=\"name\">");
	html_text(out, a->platform);
	buf_puts(out, "</span> <span class=\"name\">Python ");
	html_text(out, a->python);
	buf_puts(out, "</span></td>");
	put_result_cell(out, a, true);
}

static void put_why(struct buf *out, const struct results_attempt *a)
{
	buf_puts(out, "<td class=\"why full\">");
	html_text(out, a->why);
}

// --- /-/builds/ ---

static void put_failure_rows(struct buf *out, const struct builds_data *d)
{
	static const char *const column[] = {"Project", "Platform", "Result", "Fails since", "Why"};
	if (!d->failures) {
		buf_puts(out, "<p class=\"note\">Nothing fails: the last attempt at each wheel was good.</p>\n");
		return;
	}
	html_begin_table(out, "What fails now", "card wide builds", column, ARRAY_SIZE(column));
	for (size_t i = 0; i < d->failures; i++) {
		const struct builds_failure *f = &d->failure[i];
		put_project_head(out, &f->attempt);
		buf_puts(out, "<td>");
		html_time(out, f->since);
		if (f->count > 1)
			buf_printf(out, ", %u times", f->count);
		buf_puts(out, "</td>");
		put_why(out, &f->attempt);
		buf_puts(out, "</td></tr>\n");
	}
	html_end_table(out);
}

// The picture's numbers as a table, for readers that see no picture.
static void put_day_table(struct buf *out, const struct builds_data *d)
{
	static const char *const column[] = {"Day", "Good", "Failed"};
	buf_puts(out, "<details><summary>The numbers of each day</summary>\n");
	html_begin_table(out, "The numbers of each day", "card wide builds", column, ARRAY_SIZE(column));
	for (size_t i = BUILDS_DAYS; i-- > 0;) {
		char when[CLOCK_TEXT];
		if (!d->day[i].good && !d->day[i].failed)
			continue;
		clock_write(d->day[i].day, when);
		buf_printf(out,
			"<tr><th scope=\"row\">%.10s</th><td class=\"n\" data-of=\"good\">%" PRIu64
			"</td><td class=\"n\" data-of=\"failed\">%" PRIu64 "</td></tr>\n",
			when, d->day[i].good, d->day[i].failed);
	}
	html_end_table(out);
	buf_puts(out, "</details>\n");
}

static void put_trend(struct buf *out, const struct builds_data *d)
{
	static const struct trend_words words = {"Attempts", {[TREND_GOOD] = "good", [TREND_BAD] = "failed"}};
	struct trend_day day[BUILDS_DAYS];
	for (size_t i = 0; i < BUILDS_DAYS; i++)
		day[i] = (struct trend_day){
			d->day[i].day, {[TREND_GOOD] = d->day[i].good, [TREND_BAD] = d->day[i].failed}};
	buf_puts(out, "<h2>The last 60 days</h2>\n<div class=\"card chart\">\n");
	trend_picture_write(day, BUILDS_DAYS, &words, out);
	buf_puts(out, "</div>\n");
	put_day_table(out, d);
}

static void put_choice(struct buf *out, const char *value, const char *words, const char *chosen)
{
	buf_puts(out, "<option value=\"");
	html_text(out, value);
	buf_puts(out, chosen && strcmp(value, chosen) == 0 ? "\" selected>" : "\">");
	html_text(out, words);
	buf_puts(out, "</option>");
}

static void put_builds_form(struct buf *out, const struct builds_page_query *q)
{
	buf_puts(out, "<form method=\"get\" action=\"./\"><select name=\"platform\" aria-label=\"Platform\">");
	put_choice(out, "", "All platforms", q->search->platform);
	for (size_t i = 0; i < q->platforms; i++)
		put_choice(out, q->platform[i], q->platform[i], q->search->platform);
	buf_puts(out, "</select><select name=\"result\" aria-label=\"Result\">");
	put_choice(out, "", "Any result", q->search->result);
	for (size_t i = 0; i < RESULTS_RESULT_COUNT; i++)
		put_choice(out, results_result_name[i], results_result_name[i], q->search->result);
	buf_puts(out, "</select><input type=\"search\" name=\"project\" placeholder=\"Project\" aria-label=\"Project\" "
		      "value=\"");
	html_text(out, q->search->project);
	buf_puts(out, "\"><button>Show</button></form>\n");
}

static void put_more_link(struct buf *out, const struct builds_page_query *q)
{
	const char *const part[][2] = {
		{"platform", q->search->platform}, {"project", q->search->project}, {"result", q->search->result}};
	buf_puts(out, "<nav aria-label=\"Rows\"><a href=\"./?");
	for (size_t i = 0; i < ARRAY_SIZE(part); i++) {
		if (!*part[i][1])
			continue;
		buf_printf(out, "%s=", part[i][0]);
		escape_url(out, str_from(part[i][1]));
		buf_puts(out, "&amp;");
	}
	buf_printf(out, "limit=%" PRIu64 "\">Show more</a></nav>\n", 4 * q->search->limit);
}

static void put_attempt_rows(struct buf *out, const struct builds_data *d)
{
	static const char *const column[] = {"Project", "Platform", "Result", "Begun", "Took", "Why"};
	html_begin_table(out, "The last attempts", "card wide builds", column, ARRAY_SIZE(column));
	for (size_t i = 0; i < d->attempts; i++) {
		const struct results_attempt *a = &d->attempt[i];
		put_project_head(out, a);
		buf_puts(out, "<td>");
		html_time(out, a->begun);
		buf_puts(out, "</td><td class=\"name\">");
		if (a->result != RESULTS_RUNNING)
			builds_part_duration(out, a->seconds);
		buf_puts(out, "</td>");
		put_why(out, a);
		buf_puts(out, "</td></tr>\n");
	}
	html_end_table(out);
}

static void put_state(struct buf *out, const struct builds_data *d)
{
	buf_puts(out, d->failures ? "<span class=\"state busy still\">" : "<span class=\"state\">");
	if (d->failures)
		html_count(out, d->failures);
	buf_puts(out, d->failures == 1 ? " fails" : d->failures ? " fail" : "Nothing fails");
	buf_puts(out, "</span>\n</header>\n");
}

static int end_page(struct buf *out, const char *links, struct err *e)
{
	html_end(out, links);
	return out->failed ? err_set(e, ERR_LIMIT, "page of builds: larger than %zu bytes", out->cap) : 0;
}

int builds_page_write(const struct html_frame *frame, const struct builds_data *data,
	const struct builds_page_query *query, struct buf *out, struct err *e)
{
	html_begin(out, frame, "Builds", "What builders tried, and what fails now");
	put_state(out, data);
	put_build_totals(out, data);
	buf_puts(out, "<h2>What fails now</h2>\n");
	put_failure_rows(out, data);
	put_trend(out, data);
	buf_puts(out, "<h2>The last attempts</h2>\n");
	put_builds_form(out, query);
	if (data->attempts)
		put_attempt_rows(out, data);
	else
		buf_puts(out, "<p class=\"note\">There are none.</p>\n");
	if (data->has_more)
		put_more_link(out, query);
	return end_page(out, "<a href=\"?format=json\">JSON</a>", e);
}

// --- /-/builds/PROJECT/ ---

static bool is_same_group(const struct results_attempt *a, const struct results_attempt *b)
{
	return strcmp(a->platform, b->platform) == 0 && strcmp(a->python, b->python) == 0;
}

// By platform, then Python (3.9 before 3.10), then the newest first.
static int compare_attempts(const void *a, const void *b)
{
	const struct results_attempt *const *x = a, *const *y = b;
	int order = strcmp((*x)->platform, (*y)->platform);
	order = order ? order : strverscmp((*x)->python, (*y)->python);
	return order ? order : (*x > *y) - (*x < *y); // they are in this order in the array
}

static void put_attempt(struct buf *out, const struct results_attempt *a)
{
	buf_puts(out, "<tr><th scope=\"row\">");
	html_time(out, a->begun);
	buf_puts(out, "</th><td class=\"name\">");
	html_text(out, a->version);
	buf_puts(out, "</td>");
	put_result_cell(out, a, false);
	buf_puts(out, "<td class=\"name\">");
	if (a->result != RESULTS_RUNNING)
		builds_part_duration(out, a->seconds);
	buf_puts(out, "</td><td class=\"name\">");
	if (a->peak_memory)
		html_size(out, a->peak_memory);
	buf_puts(out, "</td>");
	put_why(out, a);
	builds_part_facts(out, a);
	buf_puts(out, "</td></tr>\n");
}

static void put_group_head(struct buf *out, const struct results_attempt *a)
{
	static const char *const column[] = {"Begun", "Version", "Result", "Took", "Memory", "Why"};
	buf_puts(out, "<h2>");
	html_text(out, a->platform);
	buf_puts(out, ", Python ");
	html_text(out, a->python);
	buf_puts(out, "</h2>\n");
	CLEANUP(mem_free) char *label = xasprintf("%s, Python %s", a->platform, a->python);
	html_begin_table(out, label, "card wide builds", column, ARRAY_SIZE(column));
}

int builds_page_project(const struct html_frame *frame, const struct builds_data *data, const char *project,
	uint64_t limit, struct buf *out, struct err *e)
{
	const struct results_attempt **order CLEANUP(mem_free) =
		xcalloc(data->attempts + 1, sizeof(const struct results_attempt *));
	for (size_t i = 0; i < data->attempts; i++)
		order[i] = &data->attempt[i];
	qsort(order, data->attempts, sizeof(*order), compare_attempts);
	CLEANUP(mem_free) char *title = xasprintf("Builds of %s", project);
	html_begin(out, frame, title, "Each attempt, the newest first");
	buf_puts(out, "</header>\n");
	for (size_t i = 0; i < data->attempts; i++) {
		if (i == 0 || !is_same_group(order[i - 1], order[i]))
			put_group_head(out, order[i]);
		put_attempt(out, order[i]);
		if (i + 1 == data->attempts || !is_same_group(order[i], order[i + 1]))
			html_end_table(out);
	}
	if (data->has_more)
		buf_printf(out, "<nav aria-label=\"Rows\"><a href=\"./?limit=%" PRIu64 "\">Show more</a></nav>\n",
			4 * limit);
	CLEANUP(mem_free) // a name in normal form needs no escapes
	char *links =
		xasprintf("<a href=\"?format=json\">JSON</a> · <a href=\"../../project/%s\">project</a>", project);
	return end_page(out, links, e);
}
