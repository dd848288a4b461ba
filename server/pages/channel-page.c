// SPDX-License-Identifier: Apache-2.0
#include "server/pages/channel-page.h"

#include <inttypes.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/format/escape.h"
#include "lib/os/clock.h"
#include "server/pages/html-layout.h"
#include "server/pages/trend-picture.h"

// --- its history: tests by day, evidence, generations ---

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
		html_put(out, "<span class=\"verdict wrong\">override</span> %s", r->overrides);
		return;
	}
	buf_printf(out, "<span class=\"verdict%s\">%" PRIu64 " passed, %" PRIu64 " failed, %" PRIu64 " skipped</span>",
		class, r->passed, r->failed, r->skipped);
}

static void put_run(struct buf *out, const struct catalog_evidence *r, bool sees_names)
{
	char id[SHA256_HEX + 1] = "";
	hex_encode(r->id, SHA256_SIZE, id);
	html_put(out, "<tr><th scope=\"row\"><a class=\"name\" href=\"../../evidence/%h\">%s</a></th><td><span "
		"class=\"name\">%s</span> <span class=\"name\">Python %s</span></td><td>", id, r->kind, r->platform,
		r->python);
	put_run_result(out, r);
	buf_puts(out, "</td>");
	html_count_cell(out, r->wheels, "wheel");
	html_put(out, "<td>%t", r->received);
	if (sees_names)
		html_put(out, "</td><td class=\"why\">%s%h%s", r->by, *r->address ? " from " : "", r->address);
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
	html_put(out, "%h%s</span> %s",
		f->is_removed ? "<li>left: <span class=\"name\">" : "<li><span class=\"name\">", f->filename,
		f->platform);
	if (f->override) {
		html_put(out, " <span class=\"verdict wrong\">override</span> %s%h%s", f->override_by,
			f->override_by ? ": " : "", f->override);
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
	html_put(out, "/simple/\">%d</a></th><td>%t</td><td>%s</td><td class=\"n\" data-of=\"added\">%d</td><td "
		"class=\"n\" data-of=\"removed\">%d</td>", g->number, g->made, g->action, g->added, g->removed);
	if (sees_names)
		html_put(out, "<td class=\"name\">%s</td>", g->by);
	html_put(out, "<td class=\"why full\">%s", g->reason);
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

static void put_history(const struct channel_runs *runs, const char *view, bool sees_names, struct buf *out)
{
	put_runs(out, runs, sees_names);
	put_generations(out, runs, view, sees_names);
}

// --- the packages ---

static void put_age(struct buf *out, int64_t came, int64_t now)
{
	int64_t hours = came < now ? (now - came) / 3600 : 0;
	if (came <= 0)
		buf_puts(out, "unknown");
	else if (hours < 48)
		buf_printf(out, "%" PRId64 " h", hours);
	else
		buf_printf(out, "%" PRId64 " days", hours / 24);
}

static void put_state_cell(struct buf *out, const struct channel_row *row)
{
	const char *class = row->state == VIEW_CHANNEL_CURRENT ? " good" : " goes";
	buf_printf(out, "<td><span class=\"verdict%s\">%s</span>", class, view_channel_state_name[row->state]);
	if (row->state == VIEW_CHANNEL_BEHIND && row->newest)
		html_put(out, " %s", row->newest);
	buf_puts(out, "</td>");
}

// What the tests of a kind say, with a link to the record.
static void put_test_cell(struct buf *out, const char *kind, const struct wheel_test *test)
{
	static const struct {
		const char *class, *word;
	} shown[WHEEL_TEST_RESULT_COUNT] = {
		[WHEEL_TEST_UNTESTED] = {"", "no tests"},
		[WHEEL_TEST_GREEN] = {" good", "green"},
		[WHEEL_TEST_RED] = {" wrong", "red"},
		[WHEEL_TEST_OVERRIDE] = {" wrong", "override"},
	};
	if (test->result == WHEEL_TEST_UNNEEDED) {
		buf_puts(out, "<td class=\"zero\">–</td>");
		return;
	}
	buf_printf(out, "<td class=\"kind\" data-of=\"%s\"><span class=\"verdict%s\">", kind,
		shown[test->result].class);
	if (*test->id)
		buf_printf(out, "<a href=\"../../evidence/%s\">%s</a></span>", test->id, shown[test->result].word);
	else
		buf_printf(out, "%s</span>", shown[test->result].word);
	if (test->result == WHEEL_TEST_OVERRIDE) {
		html_put(out, "%h%s%h%s</span>", *test->by ? " <span class=\"why\">by " : " <span class=\"why\">",
			test->by, *test->by ? ": " : "", test->why);
	} else if (*test->tested) {
		buf_puts(out, " <span class=\"why\">");
		promotion_tested_words(test->match, test->tested, out);
		buf_puts(out, "</span>");
	} else if (test->result == WHEEL_TEST_UNTESTED && *test->why) {
		buf_printf(out, " <span class=\"why\">%s</span>", test->why); // words of ours
	}
	buf_puts(out, "</td>");
}

static bool has_same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static const char *version_of_next(const struct channel_row *row)
{
	return row->next ? row->next->version : NULL;
}

// Whether the row says the same as the one before of another Python, so that one line stands for both. A record is about
// one Python.
static bool is_same_line(const struct channel_data *d, const struct channel_row *a, const struct channel_row *b)
{
	for (size_t i = 0; i < d->kinds && (a->test || b->test); i++)
		if (!a->test || !b->test || a->test[i].result != b->test[i].result ||
			strcmp(a->test[i].id, b->test[i].id) != 0 || strcmp(a->test[i].why, b->test[i].why) != 0)
			return false;
	return strcmp(a->project, b->project) == 0 && strcmp(a->platform, b->platform) == 0 && a->state == b->state &&
	       has_same_text(a->version, b->version) &&
	       (!d->kinds || has_same_text(version_of_next(a), version_of_next(b)));
}

// A value, whose name is shown in narrow windows; NULL: there is none, and it is not shown there.
static void put_named_value(struct buf *out, const char *name, const char *value)
{
	buf_printf(out, value ? "<td class=\"name kind\" data-of=\"%s\">" : "<td class=\"zero\">", name);
	html_put(out, "%s</td>", value ? value : "–");
}

static void put_package(struct buf *out, const struct channel_data *d, size_t first, size_t count, int64_t now)
{
	const struct channel_row *row = &d->row[first];
	html_put(out, "<tr><th scope=\"row\"><a href=\"../../project/%u", row->project);
	if (row->version) { // otherwise the view may know nothing of the project
		html_put(out, "?view=%u", d->view);
	}
	html_put(out, "\">%s</a></th><td><span class=\"name\">%s</span>", row->project, row->platform);
	for (size_t i = 0; i < count; i++) {
		html_put(out, "%h%s</span>", i ? ", <span class=\"name\">" : " <span class=\"name\">Python ",
			row[i].python);
	}
	buf_puts(out, "</td>");
	put_named_value(out, "last version", row->version);
	buf_puts(out, row->version ? "<td class=\"name kind\" data-of=\"age\">" : "<td>");
	if (row->version)
		put_age(out, row->came, now);
	buf_puts(out, "</td>");
	put_state_cell(out, row);
	if (d->kinds)
		put_named_value(out, "tested", version_of_next(row));
	for (size_t i = 0; i < d->kinds; i++) {
		if (row->test)
			put_test_cell(out, d->kind[i], &row->test[i]);
		else
			buf_puts(out, "<td></td>");
	}
	buf_puts(out, "</tr>\n");
}

static void put_package_form(struct buf *out, const struct channel_query *q)
{
	html_put(out, "<form method=\"get\" action=\"./\"><input type=\"search\" name=\"project\" "
		"placeholder=\"Project\" aria-label=\"Project\" value=\"%s\"><button>Show</button></form>\n",
		q->project);
}

static void put_packages(struct buf *out, const struct channel_data *d, const struct channel_query *q)
{
	const char *column[6 + LIMIT_PROMOTION_RULES] = {
		"Project", "Environment", "Last version", "Age", "State", "Tested"};
	put_package_form(out, q);
	if (!d->rows) {
		buf_puts(out, "<p class=\"note\">There are none.</p>\n");
		return;
	}
	for (size_t i = 0; i < d->kinds; i++)
		column[6 + i] = d->kind[i]; // evidence_kind_is_valid(): letters, digits and dashes
	html_begin_table(out, "Packages", "card wide builds", column, d->kinds ? 6 + d->kinds : 5);
	for (size_t i = 0, count; i < d->rows; i += count) {
		for (count = 1; i + count < d->rows && is_same_line(d, &d->row[i], &d->row[i + count]); count++)
			;
		put_package(out, d, i, count, q->now);
	}
	html_end_table(out);
	if (d->kinds) {
		buf_puts(out, "<p class=\"note\">Tested: the newest version there");
		if (d->source)
			html_put(out, " in %s", d->source);
		html_put(out, ", by what %s requires.</p>\n", d->judge);
	}
}

// --- what waits, and what ends ---

static void put_waiting_row(struct buf *out, const struct channel_data *d, const struct channel_waiting *w)
{
	const char *class = w->has_left ? "" : *w->why ? " goes" : " good";
	html_put(out, "<tr><th scope=\"row\"><a href=\"../../project/%u?view=%u&amp;version=%u\">%s</a></th><td "
		"class=\"name\">%s</td><td class=\"file\">%s<div class=\"why\">%s</div></td><td><span "
		"class=\"verdict%h\">%h</span></td><td class=\"why full\">%s</td></tr>\n", w->project, d->source,
		w->wheel->version, w->project, w->wheel->version, w->wheel->filename, w->wheel->platform, class,
		w->has_left ? "taken out" : *w->why   ? "not promoted" : "ready",
		*w->why ? w->why : "wheelcache promote takes it");
}

static void put_waiting(struct buf *out, const struct channel_data *d)
{
	static const char *const column[] = {"Project", "Version", "File and platform", "State", "Why"};
	if (!d->source)
		return;
	html_put(out, "<h2>What waits in <a href=\"../%u/\">%s</a></h2>\n", d->source, d->source);
	if (!d->waitings) {
		buf_puts(out, "<p class=\"note\">Nothing: the view has the newest of each project.</p>\n");
		return;
	}
	html_begin_table(out, "What waits", "card wide builds", column, ARRAY_SIZE(column));
	for (size_t i = 0; i < d->waitings; i++)
		put_waiting_row(out, d, &d->waiting[i]);
	html_end_table(out);
}

static void put_endings(struct buf *out, const struct channel_data *d)
{
	static const char *const column[] = {"Project", "Version", "Ends"};
	if (!d->endings)
		return;
	buf_puts(out, "<h2>What ends</h2>\n");
	html_begin_table(out, "What ends", "card wide builds", column, ARRAY_SIZE(column));
	for (size_t i = 0; i < d->endings; i++) {
		const struct channel_ending *v = &d->ending[i];
		html_put(out, "<tr><th scope=\"row\">%s</th><td class=\"name\">%s</td><td>", v->project, v->version);
		if (v->ends)
			html_time(out, v->ends);
		else
			buf_puts(out, "<span class=\"verdict goes\">ended</span> at the next wheelcache retain");
		buf_puts(out, "</td></tr>\n");
	}
	html_end_table(out);
}

// --- the whole ---

static void put_rule(struct buf *out, const char *what, const char *value)
{
	html_put(out, "<div><dt>%h</dt><dd>%s</dd></div>", what, value);
}

// The keys of the configuration that decide what comes in and what stays. Cells are of the view's own platforms.
static void put_channel_rules(struct buf *out, const struct config_view *v)
{
	enum { DAY_SECONDS = 86400 };
	if (!v)
		return;
	CLEANUP(mem_free) char *versions = xasprintf("%" PRIu64, v->keep_versions);
	CLEANUP(mem_free) char *days = xasprintf("%" PRIu64, v->keep_seconds / DAY_SECONDS);
	if (!v->requires && !v->cells && !v->expect && !v->keep_versions && !v->keep_seconds)
		return;
	buf_puts(out, "<h2>Rules</h2>\n<dl class=\"facts\">");
	if (v->requires)
		put_rule(out, "Requires", v->requires);
	if (v->cells)
		put_rule(out, "Cells", v->cells);
	if (v->expect)
		put_rule(out, "Expects", v->expect);
	if (v->keep_versions)
		put_rule(out, "Keeps versions", versions);
	if (v->keep_seconds)
		put_rule(out, "Keeps days", days);
	buf_puts(out, "</dl>\n");
}

static void put_count_of_state(struct buf *out, const char *class, uint64_t n, const char *what)
{
	html_put(out, "<span class=\"state %h\">%n%h</span>\n", class, n, what);
}

static void put_channel_state(struct buf *out, const struct channel_data *d)
{
	size_t empty = d->state[VIEW_CHANNEL_EMPTY], stale = d->state[VIEW_CHANNEL_STALE];
	if (d->runs.members.is_damaged)
		buf_puts(out, "<span class=\"state wrong\">The membership is damaged</span>\n");
	if (d->all_lost)
		put_count_of_state(out, "wrong", d->all_lost, " lost");
	if (d->silences.silent)
		put_count_of_state(out, "wrong", d->silences.silent, " silent");
	if (empty)
		put_count_of_state(out, "busy still", empty, " empty");
	if (stale)
		put_count_of_state(out, "busy still", stale, " stale");
	buf_puts(out, empty || stale ? "</header>\n" : "<span class=\"state\">Nothing is stale</span>\n</header>\n");
}

static void put_channel_totals(struct buf *out, const struct channel_data *d)
{
	buf_puts(out, "<dl>");
	html_total(out, "Projects", d->projects);
	html_total(out, "Environments", d->environments);
	html_total(out, "Empty", d->state[VIEW_CHANNEL_EMPTY]);
	html_total(out, "Stale", d->state[VIEW_CHANNEL_STALE]);
	html_total(out, "Behind", d->state[VIEW_CHANNEL_BEHIND]);
	if (d->source) {
		html_total(out, "Ready", d->ready);
		html_total(out, "Not promoted", d->refused);
	}
	if (d->judge)
		html_total(out, "Overrides in 60 days", d->runs.overrides);
	buf_puts(out, "</dl>\n");
}

static void put_lost_file(struct buf *out, const struct channel_data *d, const struct member_loss *l)
{
	html_put(out, "<tr><th scope=\"row\" class=\"file\"><a href=\"../../explain/%u/%u?format=html\">%s</a></th>"
		"<td>%s</td><td>generation %d</td><td>", d->view, l->project, l->filename, l->platform, l->generation);
	if (l->since)
		html_time(out, l->since);
	buf_puts(out, "</td></tr>\n");
}

static void put_lost_files(struct buf *out, const struct channel_data *d)
{
	static const char *const column[] = {"File", "Platform", "Member since", "Lost since"};
	if (!d->losts)
		return;
	buf_puts(out, "<h2>Lost</h2>\n<p class=\"note\">Members whose bytes the store no longer has: clients do not find "
		      "them. Copy them back, or demote them; each name leads to what is known of it.</p>\n");
	html_begin_table(out, "Lost files", "card wide builds", column, ARRAY_SIZE(column));
	for (size_t i = 0; i < d->losts; i++)
		put_lost_file(out, d, d->lost[i]);
	html_end_table(out);
}

static void put_silent_kinds(struct buf *out, const struct channel_data *d)
{
	static const char *const column[] = {"Tests", "Where", "Last", "Expected within"};
	if (!d->silences.silent)
		return;
	buf_puts(out, "<h2>Silent</h2>\n<p class=\"note\">Test runs that do not come any more: their pipelines have "
		      "stopped reporting.</p>\n");
	html_begin_table(out, "Silent tests", "card wide builds", column, ARRAY_SIZE(column));
	for (size_t i = 0; i < d->silences.count; i++) {
		const struct view_silence *s = &d->silences.item[i];
		const struct catalog_expected *x = &s->known;
		if (!s->is_silent)
			continue;
		html_put(out, "<tr><th scope=\"row\"><span class=\"verdict wrong\">%h</span></th><td "
			"class=\"name\">%h%h%h</td><td class=\"kind\" data-of=\"last\">", x->kind,
			*x->platform ? x->platform : "anywhere", *x->python ? "/" : "", x->python);
		if (x->newest)
			html_time(out, x->newest);
		else
			buf_puts(out, "never");
		buf_puts(out, "</td><td class=\"kind\" data-of=\"expected within\">");
		put_age(out, 1, s->seconds + 1);
		buf_puts(out, "</td></tr>\n");
	}
	html_end_table(out);
}

static void put_channel_words(struct buf *out, const struct channel_data *d)
{
	buf_puts(out, d->runs.members.generation ? "Generation " : "A channel of versions");
	if (d->runs.members.generation)
		html_count(out, (uint64_t)d->runs.members.generation);
	if (d->source)
		buf_printf(out, ", from %s", d->source);
}

static void put_channel_more(struct buf *out, const struct channel_query *q)
{
	buf_puts(out, "<nav aria-label=\"Rows\"><a href=\"./?");
	if (*q->project)
		html_put(out, "project=%u&amp;", q->project);
	buf_printf(out, "limit=%" PRIu64 "\">Show more</a></nav>\n", 4 * q->limit);
}

static void put_channel_end(struct buf *out, const struct channel_data *d)
{
	CLEANUP(buf_release) struct buf links;
	buf_init(&links, 4096);
	html_put(&links, "<a href=\"?format=json\">JSON</a> · <a href=\"../../../%u/simple/\">index</a>", d->view);
	html_end(out, links.data);
}

void channel_page_write(const struct html_frame *frame, const struct channel_data *data,
	const struct channel_query *query, struct buf *out)
{
	CLEANUP(buf_release) struct buf words;
	buf_init(&words, 4096);
	put_channel_words(&words, data);
	html_begin(out, frame, data->view, words.data);
	put_channel_state(out, data);
	put_channel_totals(out, data);
	put_lost_files(out, data);
	put_silent_kinds(out, data);
	put_channel_rules(out, data->own);
	buf_puts(out, "<h2>Packages</h2>\n");
	put_packages(out, data, query);
	put_waiting(out, data);
	put_endings(out, data);
	put_history(&data->runs, data->view, query->sees_names, out);
	if (data->has_more && query->limit < LIMIT_CHANNEL_ROWS)
		put_channel_more(out, query);
	else if (data->has_more)
		buf_printf(out, "<p class=\"note\">Each list has its first %" PRIu64 " rows.</p>\n", query->limit);
	put_channel_end(out, data);
}
