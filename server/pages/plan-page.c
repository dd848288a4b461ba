// SPDX-License-Identifier: Apache-2.0
#include "server/pages/plan-page.h"

#include <string.h>

#include "lib/os/clock.h"
#include "lib/state/catalog/catalog-plan.h"
#include "server/pages/plan-page-parts.h"

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

static int64_t get_count(const struct jsondoc *object, const char *key)
{
	int64_t n = 0;
	return object && jsondoc_get_int(object, key, &n) && n > 0 ? n : 0;
}

// --- sums ---

// Of the plan's totals. verdict NULL: any; removes -1: both.
static struct plan_page_sum sum_of_platform(const struct plan_page_writer *w, const char *platform, const char *verdict,
	int removes)
{
	const struct jsondoc *totals = jsondoc_get(w->head, "totals");
	struct plan_page_sum sum = {0};
	for (size_t i = 0; totals && i < jsondoc_count(totals); i++) {
		const struct jsondoc *t = jsondoc_at(totals, i);
		if (strcmp(platform, or_empty(jsondoc_get_str(t, "platform"))) != 0 ||
			(verdict && strcmp(verdict, or_empty(jsondoc_get_str(t, "verdict"))) != 0) ||
			(removes >= 0 && removes != jsondoc_is_true(t, "removes")))
			continue;
		sum.files += (uint64_t)get_count(t, "files");
		sum.bytes += (uint64_t)get_count(t, "bytes");
	}
	return sum;
}

static struct plan_page_sum sum_of_platforms(const struct plan_page_writer *w, int removes)
{
	struct plan_page_sum all = {0};
	for (size_t i = 0; i < w->query->platforms; i++) {
		struct plan_page_sum one = sum_of_platform(w, w->query->platform[i]->name, NULL, removes);
		all.files += one.files;
		all.bytes += one.bytes;
	}
	return all;
}

static void put_plan_totals(struct plan_page_writer *w)
{
	struct plan_page_sum removed = sum_of_platforms(w, 1), kept = sum_of_platforms(w, 0);
	const struct jsondoc *asked = jsondoc_get(w->head, "look-ups");
	buf_puts(w->out, "<dl><div><dt>To be removed</dt><dd>");
	html_count(w->out, removed.files);
	buf_puts(w->out, "</dd></div><div><dt>Their size</dt><dd>");
	html_size(w->out, removed.bytes);
	buf_puts(w->out, "</dd></div><div><dt>Stay</dt><dd>");
	html_count(w->out, kept.files);
	if (w->query->platforms == w->query->site->store.platform_count) { // they are of all platforms
		buf_puts(w->out, "</dd></div><div><dt>Projects asked upstream</dt><dd>");
		html_count(w->out, (uint64_t)get_count(asked, "projects"));
		buf_puts(w->out, "</dd></div><div><dt>Failed look-ups</dt><dd>");
		html_count(w->out, (uint64_t)get_count(asked, "failed"));
	}
	buf_puts(w->out, "</dd></div></dl>\n");
}

static void put_losing_views(struct plan_page_writer *w)
{
	const struct jsondoc *views = jsondoc_get(w->head, "views");
	size_t count = views ? jsondoc_count(views) : 0;
	if (!count || w->applied.files)
		return;
	buf_puts(w->out, "<h2>What clients would lose</h2>\n<p class=\"note\">These views do not merge upstream. The plan is "
			 "not applied, unless they merge it or [prune] clients-have-upstream names them.</p>\n<ul>");
	for (size_t i = 0; i < count; i++) {
		const struct jsondoc *v = jsondoc_at(views, i);
		buf_puts(w->out, "<li>");
		html_text(w->out, or_empty(jsondoc_get_str(v, "view")));
		buf_printf(w->out, ": projects %lld, versions %lld, first ", (long long)get_count(v, "projects"),
			(long long)get_count(v, "versions"));
		html_text(w->out, or_empty(jsondoc_get_str(v, "first")));
		buf_puts(w->out, "</li>");
	}
	buf_puts(w->out, "</ul>\n");
}

static void put_sum_cell(struct plan_page_writer *w, const char *platform, const char *verdict, uint64_t files)
{
	buf_printf(w->out, "<td class=\"n%s\" data-of=\"%s\">", files ? "" : " zero", verdict);
	if (files)
		plan_page_begin_link(w, platform, verdict, "", 1);
	html_count(w->out, files);
	buf_puts(w->out, files ? "</a></td>" : "</td>");
}

static void put_platform_row(struct plan_page_writer *w, const char *name)
{
	struct plan_page_sum removed = sum_of_platform(w, name, NULL, 1);
	buf_puts(w->out, "<tr><th scope=\"row\">");
	plan_page_begin_link(w, name, "", "", 1);
	html_text(w->out, name);
	buf_puts(w->out, "</a></th>");
	for (size_t i = 0; i < PLAN_PAGE_VERDICTS; i++)
		put_sum_cell(w, name, plan_page_verdict[i], sum_of_platform(w, name, plan_page_verdict[i], -1).files);
	put_sum_cell(w, name, "removed", removed.files);
	buf_puts(w->out, "<td class=\"n\" data-of=\"\">");
	html_size(w->out, removed.bytes);
	buf_puts(w->out, "</td></tr>\n");
}

static void put_platform_sums(struct plan_page_writer *w)
{
	buf_puts(w->out, "<h2>By platform and verdict</h2>\n");
	html_begin_box(w->out, "By platform and verdict", "card wide");
	buf_puts(w->out, "<table class=\"sums\">\n<thead><tr><th scope=\"col\">Platform</th>");
	for (size_t i = 0; i < PLAN_PAGE_VERDICTS; i++)
		buf_printf(w->out, "<th scope=\"col\" class=\"n\">%s</th>", plan_page_verdict[i]);
	buf_puts(w->out,
		"<th scope=\"col\" class=\"n\">removed</th><th scope=\"col\" class=\"n\">size</th></tr></thead>\n"
		"<tbody>\n");
	for (size_t i = 0; i < w->query->platforms; i++)
		put_platform_row(w, w->query->platform[i]->name);
	html_end_table(w->out);
}

// --- the command, and what the plan before said ---

static void put_applied(struct plan_page_writer *w)
{
	const struct plan_applied *a = &w->applied;
	buf_puts(w->out, "<h2 id=\"apply\">It was applied</h2>\n<p class=\"note\">Applied at ");
	html_time(w->out, a->when);
	if (a->by) {
		buf_puts(w->out, " by ");
		html_text(w->out, a->by);
	}
	buf_puts(w->out, ", with <code>wheelcache prune apply</code>. ");
	html_count(w->out, a->files);
	buf_puts(w->out, " of its ");
	uint64_t all = sum_of_platforms(w, 1).files;
	html_count(w->out, all);
	buf_puts(w->out, all == 1 ? " file" : " files");
	buf_puts(w->out, a->files == 1 ? " is unlisted. To" : " are unlisted. To remove more, make a new plan.</p>\n<figure class=\"card\"><figcaption>To undo it"
			 "</figcaption><pre><code>wheelcache prune restore --config /etc/wheelcache/wheelcache.conf --run ");
	html_text(w->out, w->id);
	buf_puts(w->out, "</code></pre></figure>\n");
}

static int put_command(struct plan_page_writer *w, struct err *e)
{
	CLEANUP(plan_rows_release) struct plan_rows chosen = {0};
	struct plan_page_collector collector = {&chosen, w->query};
	if (w->applied.files) {
		put_applied(w);
		return 0;
	}
	if (!sum_of_platforms(w, 1).files)
		return 0;
	for (size_t i = 0; i < w->choice.count; i++)
		if (catalog_plan_one(w->catalog, w->choice.id[i], plan_page_collect, &collector, e) < 0)
			return -1;
	buf_puts(w->out, "<h2 id=\"apply\">To apply it</h2>\n<figure class=\"card\"><figcaption>");
	if (chosen.count)
		buf_printf(w->out, "Without %zu file%s</figcaption><pre><code>", chosen.count,
			chosen.count == 1 ? "" : "s");
	else
		buf_puts(w->out, "All of it</figcaption><pre><code>");
	plan_choice_command(w->out, &chosen, jsondoc_get_str(w->head, "file"));
	buf_puts(w->out,
		"</code></pre></figure>\n<p class=\"note\">It checks each file again first. With --dry-run it only says "
		"what it would do. To leave files out, tick them below, or give --except a glob, such as "
		"<code>'numpy-*'</code>.</p>\n");
	if (w->choice.has_more)
		buf_printf(w->out,
			"<p class=\"note\">These are the first %d: list more in a file for --except @FILE.</p>\n",
			LIMIT_PLAN_CHOSEN);
	return 0;
}

static void to_lower(const char *text, char out[LIMIT_FILE_NAME + 1])
{
	size_t i = 0;
	for (; text[i] && i < LIMIT_FILE_NAME; i++)
		out[i] = ascii_lower(text[i]);
	out[i] = '\0';
}

// The numbers of another plan would be of other files.
static void take_choice(struct plan_page_writer *w)
{
	plan_choice_read(&w->choice, w->query->chosen);
	if (!w->choice.count || strcmp(w->query->plan, w->id) == 0)
		return;
	w->choice = (struct plan_choice){0};
	buf_puts(w->out,
		"<p class=\"note\"><strong>There is a new plan since you chose:</strong> please choose again.</p>\n");
}

static int put_plan_page(struct plan_page_writer *w, const char *id, int64_t made, struct err *e)
{
	char when[CLOCK_TEXT];
	const struct plan_page_query *q = w->query;
	CLEANUP(buf_release) struct buf words;
	w->id = id;
	if (plan_applied_read(w->catalog, q->platform, q->platforms, q->named, id, w->head, &w->applied, e) < 0)
		return -1;
	w->verdict = w->query->verdict                                  ? w->query->verdict
		     : !*w->query->text && sum_of_platforms(w, 1).files ? "removed"
									: "";
	buf_init(&words, LIMIT_WORDS);
	buf_printf(&words, "What the last plan says, and what has changed since: %s", id);
	html_begin(w->out, w->frame, "Prune plan", words.data);
	clock_write(w->applied.files ? w->applied.when : made, when);
	buf_printf(w->out, "<span class=\"state\">%s <time datetime=\"%s\">%.10s %.5s UTC</time></span>\n</header>\n",
		w->applied.files ? "Applied" : "Made", when, when, when + 11);
	take_choice(w);
	put_plan_totals(w);
	put_losing_views(w);
	if (put_command(w, e) < 0)
		return -1;
	put_platform_sums(w);
	plan_page_put_form(w);
	return plan_page_put_files(w, e) < 0 ? -1 : plan_page_put_changes(w, e);
}

static int put_no_plan(struct plan_page_writer *w)
{
	html_begin(w->out, w->frame, "Prune plan", "No plan of a prune has been made yet");
	buf_puts(w->out,
		"</header>\n<div class=\"lines\"><figure class=\"card\"><figcaption>To make one</figcaption><pre><code>"
		"wheelcache prune plan --config /etc/wheelcache/wheelcache.conf -o plan.json</code></pre></figure></div>\n");
	return 0;
}

static int put_last_plan(struct plan_page_writer *w, struct err *e)
{
	CLEANUP(buf_release) struct buf id, head;
	CLEANUP(jsondoc_cleanup) struct jsondoc *document = NULL;
	struct err why = ERR_INIT;
	int64_t made;
	buf_init(&id, LIMIT_WORDS);
	buf_init(&head, LIMIT_PAGE);
	if (catalog_plan_last(w->catalog, &id, &made, &head, &why) < 0) {
		if (why.kind == ERR_NOT_FOUND)
			return put_no_plan(w);
		*e = why;
		return -1;
	}
	document = jsondoc_read(buf_view(&head), e);
	w->head = document;
	return document ? put_plan_page(w, id.data, made, e) : -1;
}

int plan_page_write(const struct html_frame *frame, struct catalog *c, const struct plan_page_query *query,
	struct buf *out, struct err *e)
{
	struct plan_page_writer w = {.frame = frame, .query = query, .catalog = c, .out = out};
	to_lower(query->text, w.text);
	CLEANUP(catalog_read_end) struct catalog *reading = c;
	if (catalog_read_begin(c, e) < 0) {
		reading = NULL;
		return -1;
	}
	int result = put_last_plan(&w, e);
	plan_applied_release(&w.applied);
	if (result < 0)
		return -1;
	html_end(out, "<a href=\"?format=json\">JSON</a>");
	return out->failed ? err_set(e, ERR_LIMIT, "page of the plan: larger than %zu bytes", out->cap) : 0;
}
