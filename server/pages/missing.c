// SPDX-License-Identifier: Apache-2.0
#include "server/pages/missing.h"

#include <inttypes.h>
#include <string.h>

#include "builder/missing/branch.h"
#include "builder/missing/missing-json.h"
#include "lib/format/escape.h"
#include "lib/os/clock.h"
#include "lib/state/store/retired.h"
#include "server/core/missing-counts.h"

// --- what is asked for ---

// The spelling that the names of environments have.
static void copy_python(const char *text, char out[MISSING_QUERY_PYTHON])
{
	struct err no_python = ERR_INIT;
	struct python python;
	CLEANUP(buf_release) struct buf name = buf_up_to(MISSING_QUERY_PYTHON - 1);
	if (python_parse(str_from(text), &python, &no_python) == 0)
		python_print(&python, &name);
	size_t len = name.failed ? 0 : name.len;
	memcpy(out, name.data, len);
	out[len] = '\0';
}

static bool any_branch_wants(const struct config *c, const char *platform, const struct python *python)
{
	for (size_t i = 0; i < c->branch_count; i++) {
		const struct branch branch = {.config = &c->branches[i]};
		if (branch_has_platform(&branch, platform) && branch_has_python(&branch, python))
			return true;
	}
	return false;
}

// Whether a branch wants anything there. A platform whose Pythons are unknown is an error of the configuration.
static bool is_wanted_environment(const struct missing_query *q)
{
	const struct profile *p = &q->platform->profile;
	for (size_t i = 0; i < p->environment_count; i++) {
		CLEANUP(buf_release) struct buf name = buf_up_to(LIMIT_FILE_NAME);
		python_print(&p->environment[i].python, &name);
		if ((!*q->python || strcmp(q->python, name.data) == 0) &&
			any_branch_wants(&q->site->config, q->platform->name, &p->environment[i].python))
			return true;
	}
	return !p->environment_count;
}

struct reply *missing_query_read(const struct page_query *page, struct missing_query *q)
{
	const struct str name = page->match->platform;
	q->site = page->site;
	q->platform = site_platform(q->site, name);
	if (!q->platform)
		return server_context_not_found(page->context, "no such platform");
	copy_python(page->text[ARGUMENT_PYTHON], q->python);
	memcpy(q->project, page->text[ARGUMENT_PROJECT], sizeof(q->project));
	q->wants_all = page->text[ARGUMENT_ALL][0] == '1';
	bool is_private = q->platform->is_private;
	if (!q->site->config.branch_count)
		return server_context_not_found_in(page->context, is_private, "the configuration has no [branch]");
	if (retired_is(q->platform))
		return server_context_not_found_in(page->context, is_private,
			"the platform was retired: nothing is built for it");
	if (!is_wanted_environment(q))
		return server_context_not_found_in(page->context, is_private, "no branch has such a platform and Python");
	const struct view *view = site_view(q->site, name);
	return !view || view->is_incomplete ? server_context_not_filled() : NULL;
}

// --- the answer ---

static int make_missing(struct server_context *s, struct catalog *c, const struct missing_query *q, struct missing *out,
	struct err *e)
{
	const char *const platform[] = {q->platform->name};
	const struct missing_options options = {
		.platform = platform,
		.platforms = 1,
		.python = *q->python ? q->python : NULL,
		.project = *q->project ? q->project : NULL,
		.wants_all = q->wants_all,
		.rebuild = q->rebuild,
		.cpu_end = q->cpu_end,
		.is_offline = true,
	};
	CLEANUP(results_cleanup) struct results *results = NULL;
	if (page_open_results(s, &results, e) < 0 ||
		missing_make(&q->site->config, &q->site->store, c, results, &options, out, e) < 0)
		return -1;
	if (!*q->python && !*q->project && !q->rebuild)
		missing_counts_set(s->missing_counts, q->platform->name, out->total[WHEEL_MISSING], out->made);
	return 0;
}

int missing_query_json(struct server_context *s, struct catalog *c, const struct missing_query *q, struct buf *out,
	struct err *e)
{
	CLEANUP(missing_release) struct missing m = {0};
	if (make_missing(s, c, q, &m, e) < 0)
		return -1;
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = missing_json(&m);
	jsondoc_write(doc, 0, out);
	return out->failed ? err_set(e, ERR_LIMIT, "what is missing: more than %d bytes", MISSING_QUERY_PAGE) : 0;
}

// --- HTML ---

enum { MOST_ROWS = 5000 };

// A link to the same page with another query.
static void put_link(const struct missing_query *q, const char *python, bool wants_all, const char *words,
	struct buf *out)
{
	const char *const part[][2] = {{"python", python}, {"project", q->project}, {"all", wants_all ? "1" : ""}};
	html_put(out, "<a href=\"%u?format=html", q->platform->name);
	for (size_t i = 0; i < ARRAY_SIZE(part); i++) {
		if (!*part[i][1])
			continue;
		html_put(out, "&amp;%h=%u", part[i][0], part[i][1]);
	}
	html_put(out, "\">%s</a>", words);
}

static void put_sums(const struct missing *m, const struct missing_query *q, struct buf *out)
{
	html_begin_box(out, "Totals", "card wide");
	buf_puts(out, "<table class=\"sums\">\n<thead><tr><th scope=\"col\">Python</th>");
	for (size_t i = 0; i < WHEEL_STATUSES_OF_MISSING; i++)
		if (missing_has_column(m, wheel_status_shown[i]))
			buf_printf(out, "<th scope=\"col\" class=\"n\">%s</th>",
				wheel_status_name[wheel_status_shown[i]]);
	buf_puts(out, "</tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < m->environments; i++) {
		buf_puts(out, "<tr><th scope=\"row\">");
		put_link(q, m->environment[i].python, q->wants_all, m->environment[i].python, out);
		buf_puts(out, "</th>");
		for (size_t k = 0; k < WHEEL_STATUSES_OF_MISSING; k++) {
			uint64_t n = m->environment[i].total[wheel_status_shown[k]];
			if (!missing_has_column(m, wheel_status_shown[k]))
				continue;
			html_put(out, "<td class=\"n%h\" data-of=\"%h\">%n</td>", n ? "" : " zero",
				wheel_status_name[wheel_status_shown[k]], n);
		}
		buf_puts(out, "</tr>\n");
	}
	buf_puts(out, "</tbody>\n</table></div>\n");
}

static void put_wanted_row(const struct missing_row *row, struct buf *out)
{
	bool is_bad = row->status == WHEEL_FAILED || row->status == WHEEL_UNKNOWN;
	buf_puts(out, "<tr><th scope=\"row\">");
	// To the project's page of this version, if there is something to be shown.
	if (row->is_listed)
		html_put(out, "<a href=\"../project/%u%h%u\">", row->project, row->version ? "?version=" : "",
			row->version ? row->version : "");
	html_put(out, "%s%h %s</th><td><span class=\"verdict%h\">%h</span></td><td class=\"why full\">%s", row->project,
		row->is_listed ? "</a>" : "", row->version, is_bad ? " goes" : "", wheel_status_name[row->status], row->why);
	if (row->attempts.result)
		html_put(out, " (<a href=\"../builds/%u/\">attempts</a>)", row->project);
	buf_puts(out, "</td><td class=\"why kind\" data-of=\"for\">");
	for (size_t i = 0; i < row->branches; i++)
		html_put(out, "%h%s", i ? ", " : "", row->branch[i]);
	buf_puts(out, "</td></tr>\n");
}

static void write_missing_html(struct page_query *q, const struct missing_query *asked, const struct missing *m,
	struct buf *out)
{
	char made[CLOCK_TEXT];
	clock_write(m->made, made);
	CLEANUP(mem_free) char *title = xasprintf("Missing on %s", asked->platform->name);
	html_begin(out, page_frame(q), title, "What branches want, and no wheel covers");
	uint64_t missing = m->total[WHEEL_MISSING];
	buf_printf(out, "<span class=\"state still%s\">%" PRIu64 " missing</span></header>\n", missing ? " busy" : "",
		missing);
	put_sums(m, asked, out);
	buf_printf(out,
		"<p class=\"note\">As of <time datetime=\"%s\">%.10s %.5s UTC</time>, by the last answers of "
		"upstream.</p>\n",
		made, made, made + 11);
	for (size_t i = 0; i < m->branches; i++) {
		if (!m->branch[i].is_over)
			continue;
		html_put(out, "<p class=\"note\">Branch %s wants nothing: its last day was %s.</p>\n",
			m->branch[i].name, m->branch[i].until);
	}
	buf_puts(out, "<nav aria-label=\"What is shown\">");
	put_link(asked, "", asked->wants_all, "All Pythons", out);
	put_link(asked, asked->python, !asked->wants_all, asked->wants_all ? "Only what needs attention"
		: "Every status", out);
	buf_puts(out, "</nav>\n");
	size_t rows = m->rows < MOST_ROWS ? m->rows : MOST_ROWS;
	for (size_t i = 0; i < rows; i++) {
		if (!i || strcmp(m->row[i].python, m->row[i - 1].python) != 0) {
			html_put(out, "%h%s</h2>\n", i ? "</tbody>\n</table></div>\n<h2>Python " : "<h2>Python ",
				m->row[i].python);
			CLEANUP(mem_free) char *label = xasprintf("Python %s", m->row[i].python);
			html_begin_table(out, label, "card wide", "Project|Status|Why|Branches");
		}
		put_wanted_row(&m->row[i], out);
	}
	buf_puts(out, rows ? "</tbody>\n</table></div>\n" : "<p class=\"note\">Nothing needs attention.</p>\n");
	if (rows < m->rows)
		html_put(out, "<p class=\"note\">These are the first %d of %m; the JSON has all.</p>\n", rows, m->rows,
			"row|rows");
	html_end(out, "<a href=\"?format=json\">JSON</a>");
}

// --- the page ---

static struct reply *prepare_missing(struct page_query *q)
{
	struct missing_query asked = {0};
	struct reply *refused = missing_query_read(q, &asked);
	q->is_private = asked.platform && asked.platform->is_private;
	return refused;
}

// An error of the branches' files is a fault of this server, not of the client: 500, with the reason in the log.
static int write_missing(struct page_query *q, struct buf *out, struct err *e)
{
	struct missing_query asked = {0};
	CLEANUP(missing_release) struct missing m = {0};
	struct reply *refused = missing_query_read(q, &asked);
	if (refused)
		return page_answer(q, refused);
	if (q->form == PAGE_FORM_JSON)
		return missing_query_json(q->context, q->catalog, &asked, out, e);
	if (make_missing(q->context, q->catalog, &asked, &m, e) < 0)
		return -1;
	write_missing_html(q, &asked, &m, out);
	return 0;
}

static const char *const yes_or_no[] = {"0", "1"};
static const struct page_argument arguments[] = {
	{ARGUMENT_PYTHON, .form = FORM_PYTHON},
	{ARGUMENT_PROJECT, .form = FORM_PROJECT, .is_normalized = true},
	{ARGUMENT_ALL, .form = FORM_CHOICE, .choice = yes_or_no, .choices = 2, .refusal = "all is 0 or 1"},
};

const struct page_row missing_page = {
	.section = HTML_SECTION_NONE,
	.kind = PAGE_MISSING,
	.scope = PAGE_SCOPE_VIEW,
	.is_data_first = true,
	.most = MISSING_QUERY_PAGE,
	PAGE_ARGUMENTS(arguments),
	.prepare = prepare_missing,
	.write = write_missing,
};
