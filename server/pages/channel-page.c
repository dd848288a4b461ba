// SPDX-License-Identifier: Apache-2.0
#include "server/pages/channel-data.h"

#include <inttypes.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/format/escape.h"
#include "lib/format/jsondoc.h"
#include "lib/os/clock.h"
#include "server/pages/html-layout.h"
#include "server/pages/page.h"

// --- its history: tests by day, evidence, generations ---

// --- evidence ---

static void put_run(struct buf *out, const struct catalog_evidence *r, bool sees_names)
{
	char id[SHA256_HEX + 1] = "";
	hex_encode(r->id, SHA256_SIZE, id);
	html_put(out, "<tr><th scope=\"row\"><a class=\"name\" href=\"../../evidence/%h\">%s</a></th><td><span "
		"class=\"name\">%s</span> <span class=\"name\">Python %s</span></td><td>", id, r->kind, r->platform,
		r->python);
	uint64_t ran = r->passed + r->failed;
	const char *class = r->overrides || r->failed ? " wrong" : ran ? " good" : "";
	if (r->overrides) {
		html_put(out, "<span class=\"verdict wrong\">override</span> %s", r->overrides);
	} else {
		buf_printf(out,
			"<span class=\"verdict%s\">%" PRIu64 " passed, %" PRIu64 " failed, %" PRIu64 " skipped</span>",
			class, r->passed, r->failed, r->skipped);
	}
	buf_puts(out, "</td>");
	html_count_cell(out, r->wheels, "wheel|wheels");
	html_put(out, "<td>%t", r->received);
	if (sees_names)
		html_put(out, "</td><td class=\"why\">%s%h%s", r->by, *r->address ? " from " : "", r->address);
	buf_puts(out, "</td></tr>\n");
}

static const struct trend_words test_words = {"Tests", {"passed", "skipped", "failed"}};

static void put_runs(struct buf *out, const struct channel_runs *r, bool sees_names)
{
	buf_puts(out, "<h2>Tests of the last 60 days</h2>\n");
	if (!r->runs) {
		buf_puts(out, "<p class=\"note\">There is no evidence.</p>\n");
		return;
	}
	trend_write(r->day, &test_words, out);
	html_begin_table(out, "Test runs", "card wide builds runs",
		sees_names ? "Evidence|Where|Result|Wheels|Received|Sent by" : "Evidence|Where|Result|Wheels|Received");
	for (size_t i = 0; i < r->runs; i++)
		put_run(out, &r->run[i], sees_names);
	html_end_table(out);
}

// --- generations ---

static void put_generation(struct buf *out, const struct catalog_generation *g, const struct channel_change *change,
	const char *view, bool sees_names)
{
	char when[CLOCK_TEXT];
	CLEANUP(buf_release) struct buf at = buf_up_to(LIMIT_PATH);
	clock_write(g->made, when);
	buf_printf(&at, "%s@%s", view, when);
	buf_puts(out, "<tr><th scope=\"row\"><a href=\"../../../");
	escape_url(out, buf_view(&at));
	html_put(out, "/simple/\">%d</a></th><td>%t</td><td>%s</td><td class=\"n\" data-of=\"added\">%d</td><td "
		"class=\"n\" data-of=\"removed\">%d</td>", g->number, g->made, g->action, g->added, g->removed);
	if (sees_names)
		html_put(out, "<td class=\"name\">%s</td>", g->by);
	html_put(out, "<td class=\"why full\">%s", g->reason);
	// An override is seen without a click.
	bool has_override = change->files && change->file[0].override;
	if (change->files || change->is_cut) {
		html_put(out, "<details%h><summary>%m%h</summary><ul>\n", has_override ? " open" : "", change->files,
			"file|files", change->is_cut ? " and more" : "");
		for (size_t i = 0; i < change->files; i++) {
			const struct generation_file *f = &change->file[i];
			html_put(out, "%h%s</span> %s",
				f->is_removed ? "<li>left: <span class=\"name\">" : "<li><span class=\"name\">",
				f->filename, f->platform);
			if (f->override)
				html_put(out, " <span class=\"verdict wrong\">override</span> %s%h%s", f->override_by,
					f->override_by ? ": " : "", f->override);
			buf_puts(out, f->testeds ? " <span class=\"verdict goes\">other bytes</span> " : "");
			membership_tested_words(f->tested, f->testeds, out);
			buf_puts(out, "</li>\n");
		}
		buf_puts(out, "</ul></details>\n");
	}
	buf_puts(out, "</td></tr>\n");
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
		html_put(out, "%m", hours / 24, "day|days");
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

// Whether the row says the same as the one before of another Python, so that one line stands for both. A record is
// about one Python.
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
	for (size_t i = 0; i < count; i++)
		html_put(out, "%h%s</span>", i ? ", <span class=\"name\">" : " <span class=\"name\">Python ",
			row[i].python);
	buf_puts(out, "</td>");
	put_named_value(out, "last version", row->version);
	buf_puts(out, row->version ? "<td class=\"name kind\" data-of=\"age\">" : "<td>");
	if (row->version)
		put_age(out, row->came, now);
	buf_puts(out, "</td>");
	const char *class = row->state == VIEW_CHANNEL_CURRENT ? " good" : " goes";
	buf_printf(out, "<td><span class=\"verdict%s\">%s</span>", class, view_channel_state_name[row->state]);
	if (row->state == VIEW_CHANNEL_BEHIND && row->newest)
		html_put(out, " %s", row->newest);
	buf_puts(out, "</td>");
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

static void put_packages(struct buf *out, const struct channel_data *d, const struct channel_query *q)
{
	html_put(out, "<form method=\"get\" action=\"./\"><input type=\"search\" name=\"project\" "
		"placeholder=\"Project\" aria-label=\"Project\" value=\"%s\"><button>Show</button></form>\n",
		q->project);
	if (!d->rows) {
		buf_puts(out, "<p class=\"note\">There are none.</p>\n");
		return;
	}
	CLEANUP(buf_release) struct buf heads = buf_up_to(LIMIT_PAGE);
	html_put(&heads, "Project|Environment|Last version|Age|State%h", d->kinds ? "|Tested" : "");
	for (size_t i = 0; i < d->kinds; i++)
		buf_printf(&heads, "|%s", d->kind[i]); // evidence_kind_is_valid(): letters, digits and dashes
	html_begin_table(out, "Packages", "card wide builds", heads.data);
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

static void put_waiting(struct buf *out, const struct channel_data *d)
{
	if (!d->source)
		return;
	html_put(out, "<h2>What waits in <a href=\"../%u/\">%s</a></h2>\n", d->source, d->source);
	if (!d->waitings) {
		buf_puts(out, "<p class=\"note\">Nothing: the view has the newest of each project.</p>\n");
		return;
	}
	html_begin_table(out, "What waits", "card wide builds", "Project|Version|File and platform|State|Why");
	for (size_t i = 0; i < d->waitings; i++) {
		const struct channel_waiting *w = &d->waiting[i];
		const char *class = w->has_left ? "" : *w->why ? " goes" : " good";
		html_put(out,
			"<tr><th scope=\"row\"><a href=\"../../project/%u?view=%u&amp;version=%u\">%s</a></th><td "
			"class=\"name\">%s</td><td class=\"file\">%s<div class=\"why\">%s</div></td><td><span "
			"class=\"verdict%h\">%h</span></td><td class=\"why full\">%s</td></tr>\n", w->project,
			d->source, w->wheel->version, w->project, w->wheel->version, w->wheel->filename,
			w->wheel->platform, class, w->has_left ? "taken out" : *w->why   ? "not promoted"     : "ready",
			*w->why ? w->why : "wheelcache promote takes it");
	}
	html_end_table(out);
}

static void put_endings(struct buf *out, const struct channel_data *d)
{
	if (!d->endings)
		return;
	buf_puts(out, "<h2>What ends</h2>\n");
	html_begin_table(out, "What ends", "card wide builds", "Project|Version|Ends");
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
	if (d->all_untested)
		put_count_of_state(out, "wrong", d->all_untested, " untested");
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

static void put_untested(struct buf *out, const struct channel_data *d)
{
	if (!d->untesteds)
		return;
	html_put(out, "<h2>Untested</h2>\n<p class=\"note\">Members that pip takes from /%s/simple/ on another platform, where no "
		"tests allow it: what it took there has left, was yanked or lost. Test them there, or demote them. The "
		"platform's own address does not have them.</p>\n", d->view);
	html_begin_table(out, "Untested members", "card wide builds", "File|Platform|Taken on");
	for (size_t i = 0; i < d->untesteds; i++) {
		const struct channel_untested *u = &d->untested[i];
		html_put(out, "<tr><th scope=\"row\" class=\"file\"><a href=\"../../explain/%u/%u?format=html\">%s</a></th>"
			"<td>%s</td><td class=\"why\">%s</td></tr>\n", d->view, u->project, u->wheel->filename,
			u->wheel->platform, u->why);
	}
	html_end_table(out);
}

static void put_silent_kinds(struct buf *out, const struct channel_data *d)
{
	if (!d->silences.silent)
		return;
	buf_puts(out, "<h2>Silent</h2>\n<p class=\"note\">Test runs that do not come any more: their pipelines have "
		      "stopped reporting.</p>\n");
	html_begin_table(out, "Silent tests", "card wide builds", "Tests|Where|Last|Expected within");
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

void channel_page_write(const struct html_frame *frame, const struct channel_data *data,
	const struct channel_query *query, struct buf *out)
{
	CLEANUP(buf_release) struct buf words = buf_up_to(4096);
	buf_puts(&words, data->runs.members.generation ? "Generation " : "A channel of versions");
	if (data->runs.members.generation)
		html_count(&words, (uint64_t)data->runs.members.generation);
	if (data->source)
		buf_printf(&words, ", from %s", data->source);
	html_begin(out, frame, data->view, words.data);
	put_channel_state(out, data);
	put_channel_totals(out, data);
	if (data->losts) {
		buf_puts(out, "<h2>Lost</h2>\n<p class=\"note\">Members whose bytes the store no longer has: clients "
			"do not find them. Copy them back, or demote them; each name leads to what is known of "
			"it.</p>\n");
		html_begin_table(out, "Lost files", "card wide builds", "File|Platform|Member since|Lost since");
		for (size_t i = 0; i < data->losts; i++)
			put_lost_file(out, data, data->lost[i]);
		html_end_table(out);
	}
	put_untested(out, data);
	put_silent_kinds(out, data);
	put_channel_rules(out, data->own);
	buf_puts(out, "<h2>Packages</h2>\n");
	put_packages(out, data, query);
	put_waiting(out, data);
	put_endings(out, data);
	put_runs(out, &data->runs, query->sees_names);
	if (data->runs.generations) {
		buf_puts(out, "<h2>Generations</h2>\n");
		html_begin_table(out, "Generations", "card wide builds",
			query->sees_names ? "Generation|Made|Action|Added|Removed|By|Reason and files"
				   : "Generation|Made|Action|Added|Removed|Reason and files");
		for (size_t i = 0; i < data->runs.generations; i++)
			put_generation(out, &data->runs.generation[i], &data->runs.change[i], data->view,
				query->sees_names);
		html_end_table(out);
	}
	if (data->has_more && query->limit < LIMIT_CHANNEL_ROWS) {
		buf_puts(out, "<nav aria-label=\"Rows\"><a href=\"./?");
		if (*query->project)
			html_put(out, "project=%u&amp;", query->project);
		buf_printf(out, "limit=%" PRIu64 "\">Show more</a></nav>\n", 4 * query->limit);
	} else if (data->has_more)
		html_put(out, "<p class=\"note\">Each list has its first %m.</p>\n", query->limit, "row|rows");
	html_end(out, "<a href=\"?format=json\">JSON</a> · <a href=\"../../../%u/simple/\">index</a>", data->view);
}

enum { MAY_SEE_SOURCE }; // number of the query

// --- JSON ---

static struct jsondoc *tests_json(const struct channel_data *d, const struct channel_row *row)
{
	struct jsondoc *list = jsondoc_array();
	for (size_t i = 0; row->test && i < d->kinds; i++) {
		const struct wheel_test *t = &row->test[i];
		jsondoc_add(list, jsondoc_new("kind:s result:s evidence:e by:e why:e tested:e as:s", d->kind[i],
			wheel_test_result_name[t->result], t->id, t->by, t->why, t->tested,
			*t->id ? promotion_match_name[t->match] : NULL));
	}
	return list;
}

static struct jsondoc *rows_json(const struct channel_data *d)
{
	struct jsondoc *list = jsondoc_array();
	for (size_t i = 0; i < d->rows; i++) {
		const struct channel_row *row = &d->row[i];
		jsondoc_add(list, jsondoc_new("project:s platform:s python:s state:s version:s came:t newest:s "
			"tested:s tests:j", row->project, row->platform, row->python,
			view_channel_state_name[row->state], row->version, row->came, row->newest,
			d->kinds && row->next ? row->next->version : NULL, tests_json(d, row)));
	}
	return list;
}

static struct jsondoc *states_json(const struct channel_data *d)
{
	struct jsondoc *out = jsondoc_object();
	for (int i = 0; i < VIEW_CHANNEL_STATE_COUNT; i++)
		jsondoc_put_int(out, view_channel_state_name[i], (int64_t)d->state[i]);
	return out;
}

static struct jsondoc *waiting_json(const struct channel_data *d)
{
	struct jsondoc *list = jsondoc_array();
	for (size_t i = 0; i < d->waitings; i++) {
		const struct channel_waiting *w = &d->waiting[i];
		jsondoc_add(list, jsondoc_new("project:s version:s filename:s platform:s sha256:x ready:b left:b why:e",
			w->project, w->wheel->version, w->wheel->filename, w->wheel->platform, w->wheel->sha256,
			!*w->why, w->has_left, w->why));
	}
	return list;
}

static struct jsondoc *endings_json(const struct channel_data *d)
{
	struct jsondoc *list = jsondoc_array();
	for (size_t i = 0; i < d->endings; i++)
		jsondoc_add(list, jsondoc_new("project:s version:s ends:t", d->ending[i].project, d->ending[i].version,
			d->ending[i].ends));
	return list;
}

static struct jsondoc *runs_json(const struct channel_runs *r)
{
	struct jsondoc *list = jsondoc_array();
	for (size_t i = 0; i < r->runs; i++) {
		const struct catalog_evidence *run = &r->run[i];
		jsondoc_add(list, jsondoc_new("evidence:x kind:s platform:s python:s made:t received:t by:e address:e "
			"passed:d failed:d skipped:d wheels:d override:s", run->id, run->kind, run->platform,
			run->python, run->made, run->received, run->by, run->address, run->passed, run->failed,
			run->skipped, run->wheels, run->overrides));
	}
	return list;
}

static struct jsondoc *lost_json(const struct channel_data *d)
{
	struct jsondoc *list = jsondoc_array();
	for (size_t i = 0; i < d->losts; i++)
		jsondoc_add(list, jsondoc_new("platform:s project:s filename:s since:T", d->lost[i]->platform,
			d->lost[i]->project, d->lost[i]->filename, d->lost[i]->since));
	return list;
}

static struct jsondoc *untested_json(const struct channel_data *d)
{
	struct jsondoc *list = jsondoc_array();
	for (size_t i = 0; i < d->untesteds; i++)
		jsondoc_add(list, jsondoc_new("platform:s project:s version:s filename:s why:s", d->untested[i].wheel->platform,
			d->untested[i].project, d->untested[i].wheel->version, d->untested[i].wheel->filename,
			d->untested[i].why));
	return list;
}

static struct jsondoc *expected_json(const struct channel_data *d)
{
	struct jsondoc *list = jsondoc_array();
	for (size_t i = 0; i < d->silences.count; i++) {
		const struct view_silence *s = &d->silences.item[i];
		const struct catalog_expected *x = &s->known;
		jsondoc_add(list, jsondoc_new("kind:s platform:e python:e state:s seconds:d since:t last:T", x->kind,
			x->platform, x->python, s->is_silent ? "silent" : "reporting", s->seconds, x->known,
			x->newest));
	}
	return list;
}

static struct jsondoc *kinds_json(const struct channel_data *d)
{
	struct jsondoc *list = jsondoc_array();
	for (size_t i = 0; i < d->kinds; i++)
		jsondoc_add_str(list, d->kind[i]);
	return list;
}

struct jsondoc *channel_json(const struct channel_data *d)
{
	struct jsondoc *doc = jsondoc_new("view:s from:s generation:d damaged:b lost:j expected:j tests_for:s kinds:j "
		"projects:d states:j environments:j ready:d left:d refused:d waiting:j endings:j days:j overrides:d "
		"evidence:j", d->view, d->source, d->runs.members.generation, d->runs.members.is_damaged, lost_json(d),
		expected_json(d), d->judge, kinds_json(d), d->projects, states_json(d), rows_json(d), d->ready, d->left,
		d->refused, waiting_json(d), endings_json(d), trend_json(d->runs.day, &test_words), d->runs.overrides,
		runs_json(&d->runs));
	struct jsondoc *generations = jsondoc_array();
	for (size_t i = 0; i < d->runs.generations; i++) {
		const struct catalog_generation *g = &d->runs.generation[i];
		struct jsondoc *files = jsondoc_array();
		for (size_t k = 0; k < d->runs.change[i].files; k++)
			jsondoc_add(files, generation_file_json(&d->runs.change[i].file[k]));
		jsondoc_add(generations,
			jsondoc_new("generation:d made:t action:s by:e reason:e added:d removed:d files:j", g->number,
			g->made, g->action, g->by, g->reason, g->added, g->removed, files));
	}
	jsondoc_set(doc, "generations:j untested:j more:b", generations, untested_json(d), d->has_more);
	return doc;
}

// --- the page ---

// Whether the client may read the view from which files are promoted: it may have a private platform that this one
// lacks.
static bool may_see_source(const struct page_query *q, const struct config_view *own)
{
	const struct view *source = own->from ? site_view(q->site, str_from(own->from)) : NULL;
	for (size_t i = 0; source && i < source->platform_count; i++)
		if (source->platform[i]->is_private && !readable_names(&q->readable, source->platform[i], NULL))
			return false;
	return source;
}

static struct reply *prepare_channel(struct page_query *q)
{
	const struct view *view = q->match->found_view;
	const struct config_view *own = view->name ? config_view(&q->site->config, view->name) : NULL;
	if (!own || q->match->at)
		return server_context_not_found_in(q->context, view->is_private,
			"no channel: the configuration has no such view");
	if (site_is_incomplete(q->site, view))
		return server_context_not_filled();
	q->number[MAY_SEE_SOURCE] = may_see_source(q, own);
	q->nameds = page_names_view(q, view) ? q->nameds : 0;
	q->is_private = view->is_private || q->site->has_private || q->nameds;
	return NULL;
}

static int write_channel(struct page_query *q, struct buf *out, struct err *e)
{
	CLEANUP(channel_data_release) struct channel_data data = {0};
	const struct channel_query asked = {
		.site = q->site,
		.view = q->match->found_view,
		.may_see_source = q->number[MAY_SEE_SOURCE],
		.sees_names = q->nameds > 0,
		.project = q->text[ARGUMENT_PROJECT],
		.limit = q->limit,
		.now = q->now,
	};
	if (channel_data_read(q->catalog, &asked, &data, e) < 0)
		return -1;
	if (q->form == PAGE_FORM_HTML) {
		channel_page_write(page_frame(q), &data, &asked, out);
		return 0;
	}
	return page_write_json(channel_json(&data), out);
}

static const struct page_argument arguments[] = {{ARGUMENT_PROJECT, .form = FORM_PROJECT_GLOB}};

const struct page_row channel_page = {
	.section = HTML_SECTION_NONE,
	.kind = PAGE_CHANNEL,
	.scope = PAGE_SCOPE_VIEW,
	.shows_names = true,
	.rows = 500,
	.rows_most = LIMIT_CHANNEL_ROWS,
	.most = 64 << 20,
	PAGE_ARGUMENTS(arguments),
	.prepare = prepare_channel,
	.write = write_channel,
};
