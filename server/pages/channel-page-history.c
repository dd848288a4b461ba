// SPDX-License-Identifier: Apache-2.0
#include "server/pages/channel-page-history.h"

#include <inttypes.h>

#include "lib/base/limits.h"
#include "lib/format/escape.h"
#include "lib/os/clock.h"
#include "server/pages/html-layout.h"
#include "server/pages/trend-picture.h"

static bool has_tests(const struct channel_day *d)
{
	return d->passed || d->failed || d->skipped;
}

// The picture's numbers as a table, for readers that see no picture.
static void put_test_days(struct buf *out, const struct channel_runs *r)
{
	static const char *const column[] = {"Day", "Passed", "Failed", "Skipped"};
	buf_puts(out, "<details><summary>The numbers of each day</summary>\n");
	html_begin_table(out, "The numbers of each day", "card wide builds", column, ARRAY_SIZE(column));
	for (size_t i = CHANNEL_DAYS; i-- > 0;) {
		const struct channel_day *d = &r->day[i];
		char when[CLOCK_TEXT];
		if (!has_tests(d))
			continue;
		clock_write(d->day, when);
		buf_printf(out,
			"<tr><th scope=\"row\">%.10s</th><td class=\"n\" data-of=\"passed\">%" PRIu64
			"</td><td class=\"n\" data-of=\"failed\">%" PRIu64
			"</td><td class=\"n\" data-of=\"skipped\">%" PRIu64 "</td></tr>\n",
			when, d->passed, d->failed, d->skipped);
	}
	html_end_table(out);
	buf_puts(out, "</details>\n");
}

static void put_test_trend(struct buf *out, const struct channel_runs *r)
{
	static const struct trend_words words = {"Tests", {"passed", "skipped", "failed"}};
	struct trend_day day[CHANNEL_DAYS];
	for (size_t i = 0; i < CHANNEL_DAYS; i++) {
		const struct channel_day *d = &r->day[i];
		day[i] = (struct trend_day){
			d->day, {[TREND_GOOD] = d->passed, [TREND_IDLE] = d->skipped, [TREND_BAD] = d->failed}};
	}
	buf_puts(out, "<div class=\"card chart\">\n");
	trend_picture_write(day, CHANNEL_DAYS, &words, out);
	buf_puts(out, "</div>\n");
	put_test_days(out, r);
}

// --- evidence ---

static void put_run_result(struct buf *out, const struct catalog_evidence *r)
{
	uint64_t ran = r->passed + r->failed;
	const char *class = r->overrides || r->failed ? " wrong" : ran ? " good" : "";
	if (r->overrides) {
		buf_puts(out, "<span class=\"verdict wrong\">override</span> ");
		html_text(out, r->overrides);
		return;
	}
	buf_printf(out, "<span class=\"verdict%s\">%" PRIu64 " passed, %" PRIu64 " failed, %" PRIu64 " skipped</span>",
		class, r->passed, r->failed, r->skipped);
}

static void put_run(struct buf *out, const struct catalog_evidence *r, bool sees_names)
{
	char id[SHA256_HEX + 1] = "";
	hex_encode(r->id, SHA256_SIZE, id);
	buf_printf(out, "<tr><th scope=\"row\"><a class=\"name\" href=\"../../evidence/%s\">", id);
	html_text(out, r->kind);
	buf_puts(out, "</a></th><td><span class=\"name\">");
	html_text(out, r->platform);
	buf_puts(out, "</span> <span class=\"name\">Python ");
	html_text(out, r->python);
	buf_puts(out, "</span></td><td>");
	put_run_result(out, r);
	buf_puts(out, "</td>");
	html_count_cell(out, r->wheels, "wheel");
	buf_puts(out, "<td>");
	html_time(out, r->received);
	if (sees_names) {
		buf_puts(out, "</td><td class=\"why\">");
		html_text(out, r->by);
		buf_puts(out, *r->address ? " from " : "");
		html_text(out, r->address);
	}
	buf_puts(out, "</td></tr>\n");
}

static void put_runs(struct buf *out, const struct channel_runs *r, bool sees_names)
{
	static const char *const column[] = {"Evidence", "Where", "Result", "Wheels", "Received", "Sent by"};
	buf_puts(out, "<h2>Tests of the last 60 days</h2>\n");
	if (!r->runs) {
		buf_puts(out, "<p class=\"note\">There is no evidence.</p>\n");
		return;
	}
	put_test_trend(out, r);
	html_begin_table(out, "Test runs", "card wide builds runs", column, sees_names ? 6 : 5);
	for (size_t i = 0; i < r->runs; i++)
		put_run(out, &r->run[i], sees_names);
	html_end_table(out);
}

// --- generations ---

static void put_changed_file(struct buf *out, const struct generation_file *f)
{
	buf_puts(out, f->is_removed ? "<li>left: <span class=\"name\">" : "<li><span class=\"name\">");
	html_text(out, f->filename);
	buf_puts(out, "</span> ");
	html_text(out, f->platform);
	if (f->override) {
		buf_puts(out, " <span class=\"verdict wrong\">override</span> ");
		html_text(out, f->override_by ? f->override_by : "");
		buf_puts(out, f->override_by ? ": " : "");
		html_text(out, f->override);
	}
	buf_puts(out, f->testeds ? " <span class=\"verdict goes\">other bytes</span> " : "");
	membership_tested_words(f->tested, f->testeds, out);
	buf_puts(out, "</li>\n");
}

// An override is seen without a click.
static void put_changed_files(struct buf *out, const struct channel_change *c)
{
	bool has_override = c->files && c->file[0].override;
	if (!c->files && !c->is_cut)
		return;
	buf_printf(out, "<details%s><summary>%zu file%s%s</summary><ul>\n", has_override ? " open" : "", c->files,
		c->files == 1 ? "" : "s", c->is_cut ? " and more" : "");
	for (size_t i = 0; i < c->files; i++)
		put_changed_file(out, &c->file[i]);
	buf_puts(out, "</ul></details>\n");
}

static void put_generation(struct buf *out, const struct catalog_generation *g, const struct channel_change *change,
	const char *view, bool sees_names)
{
	char when[CLOCK_TEXT];
	CLEANUP(buf_release) struct buf at;
	buf_init(&at, LIMIT_PATH);
	clock_write(g->made, when);
	buf_printf(&at, "%s@%s", view, when);
	buf_puts(out, "<tr><th scope=\"row\"><a href=\"../../../");
	escape_url(out, buf_view(&at));
	buf_printf(out, "/simple/\">%" PRId64 "</a></th><td>", g->number);
	html_time(out, g->made);
	buf_puts(out, "</td><td>");
	html_text(out, g->action);
	buf_printf(out,
		"</td><td class=\"n\" data-of=\"added\">%" PRIu64 "</td><td class=\"n\" data-of=\"removed\">%" PRIu64
		"</td>",
		g->added, g->removed);
	if (sees_names) {
		buf_puts(out, "<td class=\"name\">");
		html_text(out, g->by);
		buf_puts(out, "</td>");
	}
	buf_puts(out, "<td class=\"why full\">");
	html_text(out, g->reason);
	put_changed_files(out, change);
	buf_puts(out, "</td></tr>\n");
}

static void put_generations(struct buf *out, const struct channel_runs *r, const char *view, bool sees_names)
{
	const char *column[] = {"Generation", "Made", "Action", "Added", "Removed", "By", "Reason and files"};
	size_t columns = ARRAY_SIZE(column);
	if (!sees_names) {
		columns--;
		column[columns - 1] = column[columns];
	}
	if (!r->generations)
		return;
	buf_puts(out, "<h2>Generations</h2>\n");
	html_begin_table(out, "Generations", "card wide builds", column, columns);
	for (size_t i = 0; i < r->generations; i++)
		put_generation(out, &r->generation[i], &r->change[i], view, sees_names);
	html_end_table(out);
}

void channel_page_history(const struct channel_runs *runs, const char *view, bool sees_names, struct buf *out)
{
	put_runs(out, runs, sees_names);
	put_generations(out, runs, view, sees_names);
}
