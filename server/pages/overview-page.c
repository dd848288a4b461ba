// SPDX-License-Identifier: Apache-2.0
#include "server/pages/overview-page.h"

#include "lib/format/escape.h"
#include "server/pages/html-layout.h"

static void put_time_cell(struct buf *out, int64_t when)
{
	buf_puts(out, "<td>");
	html_time(out, when);
	buf_puts(out, "</td>");
}

static void put_counted(struct buf *out, uint64_t n, const char *one, const char *many)
{
	html_count(out, n);
	buf_printf(out, " %s", n == 1 ? one : many);
}

static void put_arrivals(const struct overview_data *d, struct buf *out)
{
	static const char *const column[] = {"Project", "Version", "Files", "Came"};
	if (!d->arrivals)
		return;
	buf_puts(out, "<h2>New files</h2>\n");
	html_begin_table(out, "New files", "card wide", column, ARRAY_SIZE(column));
	for (size_t i = 0; i < d->arrivals; i++) {
		const struct overview_arrival *a = &d->arrival[i];
		html_begin_project_row(out, "-/", a->project);
		buf_puts(out, "<td>");
		html_text(out, a->version);
		buf_puts(out, "</td><td>");
		put_counted(out, a->files, "file", "files");
		buf_puts(out, " on ");
		put_counted(out, a->platforms, "platform", "platforms");
		buf_puts(out, "</td>");
		put_time_cell(out, a->when);
		buf_puts(out, "</tr>\n");
	}
	html_end_table(out);
}

static void put_removals(const struct overview_data *d, struct buf *out)
{
	static const char *const column[] = {"Project", "Files", "Removed", "Why"};
	if (!d->removals)
		return;
	buf_printf(out, "<h2>Removed in the last %d days</h2>\n", OVERVIEW_REMOVED_DAYS);
	html_begin_table(out, "Removed files", "card wide", column, ARRAY_SIZE(column));
	for (size_t i = 0; i < d->removals; i++) {
		const struct overview_removal *r = &d->removal[i];
		html_begin_project_row(out, "-/", r->project);
		buf_puts(out, "<td>");
		put_counted(out, r->files, "file", "files");
		buf_puts(out, "</td>");
		put_time_cell(out, r->when);
		buf_puts(out, "<td class=\"why full\">");
		html_text(out, r->reason);
		buf_puts(out, "</td></tr>\n");
	}
	html_end_table(out);
}

// --- builds ---

static void put_attempt(const struct results_attempt *a, const char *word, const char *class, struct buf *out)
{
	buf_puts(out, "<tr><th scope=\"row\"><a href=\"-/builds/");
	escape_url(out, str_from(a->project));
	buf_puts(out, "/\">");
	html_text(out, a->project);
	buf_putc(out, ' ');
	html_text(out, a->version);
	buf_printf(out, "</a></th><td><span class=\"verdict %s\">%s</span></td><td>", class, word);
	html_text(out, a->platform);
	buf_putc(out, ' ');
	html_text(out, a->python);
	buf_puts(out, "</td>");
	put_time_cell(out, a->begun);
	buf_puts(out, "<td class=\"why full\">");
	html_text(out, a->why);
	buf_puts(out, "</td></tr>\n");
}

static void put_build_list(const struct overview_data *d, struct buf *out)
{
	static const char *const column[] = {"Build", "Now", "Environment", "Begun", "Why"};
	if (!d->has_builds)
		return;
	buf_puts(out, "<h2>Builds</h2>\n<p class=\"note\">");
	put_counted(out, d->running_total, "build runs", "builds run");
	buf_puts(out, ", ");
	put_counted(out, d->failing_total, "wheel fails", "wheels fail");
	buf_puts(out, ". <a href=\"-/builds/\">All builds</a></p>\n");
	if (!d->runnings && !d->failings)
		return;
	html_begin_table(out, "Builds", "card wide", column, ARRAY_SIZE(column));
	for (size_t i = 0; i < d->runnings; i++)
		put_attempt(&d->running[i], "running", "goes", out);
	for (size_t i = 0; i < d->failings; i++)
		put_attempt(&d->failing[i], results_result_name[d->failing[i].result], "wrong", out);
	html_end_table(out);
}

// --- what is old ---

static void put_last_plan(const struct overview_data *d, struct buf *out)
{
	if (!d->plan)
		return;
	buf_puts(out, "<h2>Last prune</h2>\n<p class=\"note\"><a href=\"-/plan/\">The plan</a> of ");
	html_time(out, d->plan_made);
	buf_puts(out, " removes ");
	put_counted(out, d->plan_files, "file", "files");
	buf_puts(out, " with ");
	html_size(out, d->plan_bytes);
	if (d->plan_applied) {
		buf_puts(out, ". It was applied at ");
		html_time(out, d->plan_applied);
	}
	buf_puts(out, ".</p>\n");
}

static void put_old_views(const struct overview_data *d, struct buf *out)
{
	for (size_t i = 0; i < d->views; i++) {
		const struct overview_view *v = &d->view[i];
		buf_puts(out, "<p class=\"note\">View <a href=\"-/channel/");
		escape_url(out, str_from(v->view));
		buf_puts(out, "/\">");
		html_text(out, v->view);
		buf_puts(out, "</a>: ");
		put_counted(out, v->stale, "project is", "projects are");
		buf_puts(out, " stale, and ");
		put_counted(out, v->ending, "version ends", "versions end");
		buf_puts(out, " soon.</p>\n");
	}
}

static void put_old_projects(const struct overview_data *d, struct buf *out)
{
	if (!d->olds)
		return;
	buf_puts(out, "<p class=\"note\">");
	put_counted(out, d->old_total, "project has", "projects have");
	buf_printf(out, " no new file for %d days; without one for longest:</p>\n", OVERVIEW_OLD_DAYS);
	static const char *const column[] = {"Project", "Newest file"};
	html_begin_table(out, "Stale projects", "card wide", column, ARRAY_SIZE(column));
	for (size_t i = 0; i < d->olds; i++) {
		html_begin_project_row(out, "-/", d->old[i].project);
		put_time_cell(out, d->old[i].when);
		buf_puts(out, "</tr>\n");
	}
	html_end_table(out);
}

// --- upstream ---

static void put_health(struct buf *out, const struct upstream_health *x, bool is_offline)
{
	const char *class = is_offline ? " goes" : x->is_failing ? " wrong" : x->answered ? " good" : "";
	buf_printf(out, "<td><span class=\"verdict%s\">%s</span></td><td>", class,
		is_offline	? "offline"
		: x->is_failing ? "fails"
		: x->answered	? "answers"
				: "not asked yet");
	if (x->answered)
		html_time(out, x->answered);
	buf_puts(out, "</td><td class=\"why full\">");
	if (x->failed) {
		buf_printf(out, "%s, ", upstream_result_name[x->failure]);
		html_time(out, x->failed);
	}
	buf_puts(out, "</td></tr>\n");
}

static void put_upstream(const struct overview_data *d, struct buf *out)
{
	static const char *const column[] = {"Index", "State", "Last answer", "Last error"};
	const struct overview_upstream *u = &d->upstream;
	if (!u->indexes)
		return;
	buf_puts(out, "<h2>Upstream</h2>\n");
	html_begin_table(out, "Upstream", "card wide", column, ARRAY_SIZE(column));
	for (size_t i = 0; i < u->indexes; i++) {
		buf_puts(out, "<tr><th scope=\"row\" class=\"file\">");
		html_text(out, u->index[i].url);
		buf_puts(out, "</th>");
		put_health(out, &u->index[i], u->is_offline);
	}
	html_end_table(out);
	buf_puts(out, "<p class=\"note\">");
	if (u->is_offline)
		buf_puts(out, "It is not asked: [upstream] offline = yes. Clients get what is cached. ");
	put_counted(out, u->projects, "project’s page is", "projects’ pages are");
	buf_puts(out, " cached, and ");
	put_counted(out, u->files, "file", "files");
	buf_puts(out, " with ");
	html_size(out, u->bytes);
	buf_puts(out, ". Answers and errors are those since this server started.</p>\n");
}

// First of all: nobody else tells of a file that is not on its page.
static void put_problems(const struct overview_data *d, struct buf *out)
{
	static const char *const column[] = {"File", "Platform", "State", "Why"};
	if (!d->problem_total)
		return;
	buf_puts(out, "<h2>Problems</h2>\n<p class=\"note\">");
	put_counted(out, d->problem_total, "file is", "files are");
	buf_puts(out, " quarantined, or for other machines than those of the platform");
	if (d->problem_total > d->problems)
		buf_printf(out, "; the first %zu", d->problems);
	buf_puts(out, ":</p>\n");
	html_begin_table(out, "Problems", "card wide", column, ARRAY_SIZE(column));
	for (size_t i = 0; i < d->problems; i++) {
		const struct overview_problem *p = &d->problem[i];
		buf_puts(out, "<tr><th scope=\"row\">");
		html_text(out, p->path);
		buf_puts(out, "</th><td>");
		html_text(out, p->platform);
		buf_printf(out, "</td><td><span class=\"verdict %s\">%s</span></td><td class=\"why full\">",
			p->is_listed ? "goes" : "wrong", p->is_listed ? "listed" : "quarantined");
		html_text(out, p->reason);
		buf_puts(out, "</td></tr>\n");
	}
	html_end_table(out);
}

void overview_page_write(const struct overview_data *d, struct buf *out)
{
	put_problems(d, out);
	put_upstream(d, out);
	put_arrivals(d, out);
	put_removals(d, out);
	put_build_list(d, out);
	put_last_plan(d, out);
	if (d->olds || d->views)
		buf_puts(out, "<h2>Stale projects</h2>\n");
	put_old_views(d, out);
	put_old_projects(d, out);
}
