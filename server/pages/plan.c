// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/decimal.h"
#include "lib/base/log.h"
#include "lib/format/escape.h"
#include "lib/os/clock.h"
#include "lib/state/catalog/catalog-plan.h"
#include "server/core/auth.h"
#include "server/pages/page.h"
#include "server/pages/plan-rows.h"

enum { PLAN_VERDICTS = 7 };

struct plan_sum {
	uint64_t files, bytes;
};

struct plan_page_writer {
	struct page_query *query;
	const struct jsondoc *head; // the plan without its files
	struct buf *out;
	char text[LIMIT_FILE_NAME + 1]; // that is searched for, in lower case
	const char *id;                 // of the plan
	const char *verdict;            // that is shown: "": any; "removed", "kept", or a verdict
	struct plan_applied applied;
	struct plan_choice choice;
	size_t changes; // that were written
};

// Collects files of the plan.
struct plan_collector {
	struct plan_rows *rows;
	const struct page_query *query;
};
static const char *const plan_verdict[PLAN_VERDICTS] = {
	"duplicate", "superseded", "pure", "off-list", "unusable", "corrupt", "keep"};

// A link to the same page with another query and the same choice; the caller closes it.
static void plan_begin_link(struct plan_page_writer *w, const char *platform, const char *verdict, const char *text,
	uint64_t page)
{
	CLEANUP(buf_release) struct buf chosen = buf_up_to(LIMIT_REQUEST_HEADER);
	plan_choice_write(&w->choice, NULL, &chosen);
	const char *const part[][2] = {
		{"platform", platform}, {"q", text}, {"x", chosen.data}, {"plan", w->choice.count ? w->id : ""}};
	html_put(w->out, "<a href=\"./?verdict=%u", verdict);
	for (size_t i = 0; i < ARRAY_SIZE(part); i++) {
		if (!*part[i][1])
			continue;
		html_put(w->out, "&amp;%h=%u", part[i][0], part[i][1]);
	}
	if (page > 1)
		buf_printf(w->out, "&amp;page=%" PRIu64, page);
	buf_puts(w->out, "\">");
}

static void put_hidden(struct plan_page_writer *w, const char *name, const char *value)
{
	html_put(w->out, "<input type=\"hidden\" name=\"%h\" value=\"%s\">", name, value);
}

static void put_plan_choice(struct plan_page_writer *w, const struct plan_rows *rows)
{
	CLEANUP(buf_release) struct buf chosen = buf_up_to(LIMIT_REQUEST_HEADER);
	plan_choice_write(&w->choice, rows, &chosen);
	if (chosen.len)
		put_hidden(w, "x", chosen.data);
	if (chosen.len || rows)
		put_hidden(w, "plan", w->id);
}

static bool plan_is_selected(const struct plan_page_writer *w, const struct platform *p)
{
	return !*w->query->text[ARGUMENT_PLATFORM] || strcmp(w->query->text[ARGUMENT_PLATFORM], p->name) == 0;
}

// A catalog_planned_fn. A file of a platform that the client may not read is left out.
static int plan_collect(void *ctx, const struct catalog_planned *f, struct err *e UNUSED)
{
	struct plan_collector *x = ctx;
	for (size_t i = 0; i < x->query->platforms; i++)
		if (x->query->platform[i]->id == f->platform)
			plan_rows_add(x->rows, f, x->query->platform[i]);
	return 0;
}

enum { ROWS = 50 };

// --- the search form ---

static void put_option(struct plan_page_writer *w, const char *value, const char *words, const char *chosen)
{
	html_put(w->out, "<option value=\"%s%h%s</option>", value, strcmp(value, chosen) == 0 ? "\" selected>" : "\">",
		words);
}

static void plan_put_form(struct plan_page_writer *w)
{
	const struct page_query *q = w->query;
	buf_puts(w->out, "<h2>Files</h2>\n<form method=\"get\" action=\"./\">"
			 "<select name=\"platform\" aria-label=\"Platform\">");
	put_option(w, "", "All platforms", q->text[ARGUMENT_PLATFORM]);
	for (size_t i = 0; i < q->platforms; i++)
		put_option(w, q->platform[i]->name, q->platform[i]->name, q->text[ARGUMENT_PLATFORM]);
	buf_puts(w->out, "</select><select name=\"verdict\" aria-label=\"Verdict\">");
	put_option(w, "removed", "to be removed", w->verdict);
	put_option(w, "kept", "stays", w->verdict);
	put_option(w, "", "Any verdict", w->verdict);
	for (size_t i = 0; i < PLAN_VERDICTS; i++)
		put_option(w, plan_verdict[i], plan_verdict[i], w->verdict);
	html_put(w->out, "</select><input type=\"search\" name=\"q\" placeholder=\"Project or file name\" "
		"aria-label=\"Project or file name\" value=\"%s\"><button>Show</button>", q->text[ARGUMENT_TEXT]);
	put_plan_choice(w, NULL);
	buf_puts(w->out, "</form>\n");
}

// --- rows ---

static void put_file_row(struct plan_page_writer *w, const struct plan_row *row)
{
	const struct catalog_planned *f = &row->file;
	buf_puts(w->out, "<tr>");
	// The box that leaves the file out; of what stays there is none.
	buf_puts(w->out, "<td class=\"pick\">");
	if (row->file.removes && !w->applied.files)
		html_put(w->out, "<input type=\"checkbox\" form=\"choice\" name=\"x\" value=\"%d\"%h "
			"aria-label=\"Leave out %s of %s\">", row->file.id,
			plan_choice_has(&w->choice, row->file.id) ? " checked" : "", row->file.filename,
			row->platform->name);
	buf_puts(w->out, "</td><td class=\"file full\">");
	if (f->project) {
		html_put(w->out, "<a href=\"../explain/%u/%u", row->platform->name, f->project);
		if (f->version)
			html_put(w->out, "/%u", f->version);
		buf_puts(w->out, "?format=text\">");
	}
	html_text(w->out, f->filename);
	if (f->project)
		html_put(w->out, "</a> <a href=\"../project/%u\">project<span class=\"sr\"> of %s</span></a>",
			f->project, f->filename);
	html_put(w->out, "</td><td class=\"name\">%s%h%s</span></td><td class=\"n\" data-of=\"\">%b</td><td "
		"class=\"why full\">", row->platform->name,
		f->removes ? "</td><td><span class=\"verdict goes\">" : "</td><td><span class=\"verdict\">", f->verdict,
		f->size);
	// What apply would find now, where it is not what the plan says.
	static const char *const words[] = {
		[PLAN_ROW_UNLISTED] = "unlisted since",
		[PLAN_ROW_GONE] = "gone since",
		[PLAN_ROW_CHANGED] = "changed since",
		[PLAN_ROW_KEPT] = "would be kept now",
	};
	if (row->state > PLAN_ROW_HOLDS) {
		bool is_away = row->state == PLAN_ROW_UNLISTED || row->state == PLAN_ROW_GONE;
		html_put(w->out, "<span class=\"verdict%h\">%h</span> ", is_away ? "" : " wrong", words[row->state]);
		if (row->words)
			html_put(w->out, "%s<br>the plan: ", row->words);
	}
	html_text(w->out, f->reason);
	if (f->upstream && strcmp(f->upstream, f->filename) != 0)
		html_put(w->out, "<br>upstream has %s", f->upstream);
	buf_puts(w->out, "</td></tr>\n");
}

static struct catalog_plan_filter make_filter(const struct plan_page_writer *w, const struct platform *p)
{
	const char *verdict = w->verdict;
	bool is_removed = strcmp(verdict, "removed") == 0, is_kept = strcmp(verdict, "kept") == 0;
	return (struct catalog_plan_filter){
		.platform = p->id,
		.verdict = *verdict && !is_removed && !is_kept ? verdict : NULL,
		.text = w->text[0] ? w->text : NULL,
		.removes = is_removed ? 1
			   : is_kept  ? 0
				      : -1,
	};
}

// --- as it is now ---

// Where the policy's lists cannot be read, or the catalog has no time, the page says what the plan said.
static void check_rows(struct plan_page_writer *w, struct plan_rows *rows)
{
	struct err e = ERR_INIT;
	bool has_changed = false;
	const char **class CLEANUP(mem_free) = NULL;
	const struct jsondoc *policy = jsondoc_get(w->head, "policy");
	struct plan_check check = {
		.config = &w->query->site->config,
		.store = &w->query->site->store,
		.catalog = w->query->catalog,
		.upstreams = server_context_upstreams(w->query->context),
		.policy_hash = policy ? jsondoc_get_str(policy, "hash") : NULL,
	};
	if (!check.upstreams)
		return;
	// What was asked of the plan: classes of files to remove.
	const char ***out = &class;
	const struct jsondoc *options = jsondoc_get(w->head, "options");
	const struct jsondoc *classes = options ? jsondoc_get(options, "classes") : NULL;
	size_t count = classes ? jsondoc_count(classes) : 0;
	*out = xcalloc(count + 1, sizeof(const char *));
	for (size_t i = 0; i < count; i++)
		(*out)[i] = jsondoc_at_str(classes, i);
	check.classes = count;
	check.class = class;
	if (plan_rows_check(rows, &check, &has_changed, &e) < 0)
		log_error("the plan is not checked again: %s", e.msg);
	if (has_changed && !w->applied.files)
		buf_puts(w->out,
			"<p class=\"note\"><strong>The policy has changed since the plan was made.</strong> An "
			"apply refuses it without --accept-changed-policy.</p>\n");
}

static void put_doubtful(struct plan_page_writer *w, const struct plan_rows *rows)
{
	size_t count = 0;
	for (size_t i = 0; i < rows->count; i++)
		count += rows->row[i].state > PLAN_ROW_HOLDS;
	if (count)
		buf_printf(w->out,
			"<p class=\"note\"><strong>Of the files shown here %zu no longer hold.</strong> An apply refuses the "
			"whole plan for them: leave them out, or give it --skip-changed-wheels and "
			"--skip-changed-evidence.</p>\n",
			count);
}

static int put_page_of_files(struct plan_page_writer *w, const uint64_t *of, uint64_t page, struct err *e)
{
	CLEANUP(plan_rows_release) struct plan_rows rows = {0};
	// One page of the files, platform by platform.
	uint64_t skip = (page - 1) * ROWS;
	struct plan_collector collector = {&rows, w->query};
	uint64_t left = ROWS;
	for (size_t i = 0; i < w->query->platforms && left; i++) {
		struct catalog_plan_filter filter = make_filter(w, w->query->platform[i]);
		if (skip < of[i]) {
			if (catalog_plan_files(w->query->catalog, &filter, skip, left, plan_collect, &collector, e) < 0)
				return -1;
			left -= of[i] - skip < left ? of[i] - skip : left;
		}
		skip -= skip < of[i] ? skip : of[i];
	}
	check_rows(w, &rows);
	if (!w->applied.files)
		put_doubtful(w, &rows);
	html_begin_table(w->out, "Files", "card wide", "Leave out|File|Platform|Verdict|Size|Why");
	for (size_t i = 0; i < rows.count; i++)
		put_file_row(w, &rows.row[i]);
	html_end_table(w->out);
	if (!w->applied.files) {
		// The form that the boxes of the rows belong to.
		char number[24];
		snprintf(number, sizeof(number), "%" PRIu64, page);
		buf_puts(w->out, "<form method=\"get\" action=\"./#apply\" id=\"choice\">");
		put_hidden(w, "platform", w->query->text[ARGUMENT_PLATFORM]);
		put_hidden(w, "verdict", w->verdict);
		put_hidden(w, "q", w->query->text[ARGUMENT_TEXT]);
		put_hidden(w, "page", number);
		put_plan_choice(w, &rows);
		buf_puts(w->out, "<button>Leave out what is ticked</button></form>\n");
	}
	return 0;
}

static int plan_put_files(struct plan_page_writer *w, struct err *e)
{
	struct plan_sum all = {0};
	CLEANUP(mem_free) uint64_t *of = xcalloc(w->query->platforms + 1, sizeof(*of));
	// of becomes the number of files of each platform.
	for (size_t i = 0; i < w->query->platforms; i++) {
		struct plan_sum one = {0};
		struct catalog_plan_filter filter = make_filter(w, w->query->platform[i]);
		if (plan_is_selected(w, w->query->platform[i]) &&
			catalog_plan_count(w->query->catalog, &filter, &one.files, &one.bytes, e) < 0)
			return -1;
		of[i] = one.files;
		all.files += one.files;
		all.bytes += one.bytes;
	}
	uint64_t pages = (all.files + ROWS - 1) / ROWS;
	uint64_t page;
	struct str digits = str_from(w->query->text[ARGUMENT_PAGE]);
	decimal_cut(&digits, 10000000, &page);
	page = page < 1 ? 1 : page > pages && pages ? pages : page;
	html_put(w->out, "<p class=\"note\">%m, %b</p>\n", all.files, "file|files", all.bytes);
	if (!all.files)
		return 0;
	if (put_page_of_files(w, of, page, e) < 0)
		return -1;
	const struct page_query *q = w->query;
	if (pages >= 2) {
		buf_puts(w->out, "<nav aria-label=\"Pages\">");
		if (page > 1) {
			plan_begin_link(w, q->text[ARGUMENT_PLATFORM], w->verdict, q->text[ARGUMENT_TEXT], page - 1);
			buf_puts(w->out, "Previous</a>");
		}
		buf_printf(w->out, "<span>Page %" PRIu64 " of %" PRIu64 "</span>", page, pages);
		if (page < pages) {
			plan_begin_link(w, q->text[ARGUMENT_PLATFORM], w->verdict, q->text[ARGUMENT_TEXT], page + 1);
			buf_puts(w->out, "Next</a>");
		}
		buf_puts(w->out, "</nav>\n");
	}
	return 0;
}

static int read_applied(const struct page_query *q, const char *id, const struct jsondoc *head, struct plan_applied *out,
	struct err *e)
{
	return plan_applied_read(q->catalog, (const struct platform *const *)q->platform, q->platforms, q, id, head, out, e);
}

// --- JSON ---

static bool is_platform_asked_for(const struct page_query *q, const char *platform)
{
	const char *only = q->text[ARGUMENT_PLATFORM];
	for (size_t i = 0; platform && i < q->platforms; i++)
		if (strcmp(q->platform[i]->name, platform) == 0)
			return !*only || strcmp(only, platform) == 0;
	return false;
}

// 1: there is no plan.
static int read_last_plan(struct catalog *c, struct buf *id, int64_t *made, struct jsondoc **head, struct err *e)
{
	struct err why = ERR_INIT;
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_PAGE);
	if (catalog_plan_last(c, id, made, &text, &why) < 0) {
		if (why.kind == ERR_NOT_FOUND)
			return 1;
		*e = why;
		return -1;
	}
	*head = jsondoc_read(buf_view(&text), e);
	return *head ? 0 : -1;
}

static int write_plan_json(const struct page_query *q, struct buf *out, struct err *e)
{
	int64_t made = 0;
	CLEANUP(buf_release) struct buf id = buf_up_to(LIMIT_WORDS);
	CLEANUP(jsondoc_cleanup) struct jsondoc *head = NULL;
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
	CLEANUP(plan_applied_release) struct plan_applied applied = {0};
	int none = read_last_plan(q->catalog, &id, &made, &head, e);
	if (none < 0 || (!none && read_applied(q, id.data, head, &applied, e) < 0))
		return -1;
	jsondoc_put_str(doc, "plan", none ? NULL : id.data);
	if (!none) {
		jsondoc_put_time(doc, "made", made);
		if (applied.files)
			jsondoc_put(doc, "applied", plan_applied_json(&applied));
		else
			jsondoc_put_str(doc, "applied", NULL);
		// The totals of the platforms that the client may read.
		const struct jsondoc *totals = jsondoc_get(head, "totals");
		struct jsondoc *readable_totals = jsondoc_array();
		for (size_t i = 0; totals && i < jsondoc_count(totals); i++) {
			const struct jsondoc *row = jsondoc_at(totals, i);
			const char *platform = jsondoc_get_str(row, "platform");
			int64_t files = 0, bytes = 0;
			if (!is_platform_asked_for(q, platform) || !jsondoc_get_int(row, "files", &files) ||
				!jsondoc_get_int(row, "bytes", &bytes))
				continue;
			jsondoc_add(readable_totals, jsondoc_new("platform:s verdict:s why:s removes:b files:d bytes:d",
				platform, jsondoc_get_str(row, "verdict"), jsondoc_get_str(row, "why"),
				jsondoc_is_true(row, "removes"), files, bytes));
		}
		jsondoc_put(doc, "totals", readable_totals);
	}
	jsondoc_write(doc, 0, out);
	return 0;
}

// --- HTML: what the plan before said otherwise; nothing if there was none ---

static const char *platform_name(const struct plan_page_writer *w, int64_t id)
{
	for (size_t i = 0; i < w->query->platforms; i++)
		if (w->query->platform[i]->id == id)
			return w->query->platform[i]->name;
	return "";
}

enum { CHANGES_SHOWN = 100 };

static int put_change(void *ctx, const struct catalog_plan_change *x, struct err *e UNUSED)
{
	struct plan_page_writer *w = ctx;
	static const char *const words[2][2] = {{"", "removed now"}, {"no longer removed", "another reason"}};
	const char *platform = platform_name(w, x->platform);
	if (!w->changes++)
		html_begin_table(w->out, "Since the plan before", "card wide", "File|Platform|Change|Before|Now|Size");
	html_put(w->out, "<tr><th scope=\"row\" class=\"file\">%s</th><td class=\"name\">%s</td><td><span "
		"class=\"verdict%h\">%h</span></td><td>%s</td><td>%s</td><td class=\"n\" data-of=\"\">%b</td></tr>\n",
		x->filename, platform, x->removes && !x->removed ? " goes" : !x->removes             ? " good" : "",
		words[x->removed][x->removes], x->before ? x->before : "was not there",
		x->verdict ? x->verdict : "is gone", x->size);
	return 0;
}

static int put_changes(struct plan_page_writer *w, struct err *e)
{
	struct err why = ERR_INIT;
	int64_t made;
	CLEANUP(buf_release) struct buf former = buf_up_to(LIMIT_WORDS);
	if (catalog_plan_former(w->query->catalog, &former, &made, &why) < 0) {
		if (why.kind != ERR_NOT_FOUND)
			*e = why;
		return why.kind == ERR_NOT_FOUND ? 0 : -1;
	}
	html_put(w->out, "<h2>Since the plan before, of %t</h2>\n", made);
	for (size_t i = 0; i < w->query->platforms; i++)
		if (plan_is_selected(w, w->query->platform[i]) && w->changes < CHANGES_SHOWN &&
			catalog_plan_changes_list(w->query->catalog, w->query->platform[i]->id, CHANGES_SHOWN - w->changes,
				put_change, w, e) < 0)
			return -1;
	if (w->changes)
		html_end_table(w->out);
	if (!w->changes)
		buf_puts(w->out, "<p class=\"note\">It removes the same files.</p>\n");
	else if (w->changes == CHANGES_SHOWN)
		buf_printf(w->out, "<p class=\"note\">These are the first %d.</p>\n", CHANGES_SHOWN);
	return 0;
}

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
static struct plan_sum sum_of_platform(const struct plan_page_writer *w, const char *platform, const char *verdict,
	int removes)
{
	const struct jsondoc *totals = jsondoc_get(w->head, "totals");
	struct plan_sum sum = {0};
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

static struct plan_sum sum_of_platforms(const struct plan_page_writer *w, int removes)
{
	struct plan_sum all = {0};
	for (size_t i = 0; i < w->query->platforms; i++) {
		struct plan_sum one = sum_of_platform(w, w->query->platform[i]->name, NULL, removes);
		all.files += one.files;
		all.bytes += one.bytes;
	}
	return all;
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
		html_put(w->out, "<li>%s: projects %d, versions %d, first %s</li>",
			or_empty(jsondoc_get_str(v, "view")), get_count(v, "projects"), get_count(v, "versions"),
			or_empty(jsondoc_get_str(v, "first")));
	}
	buf_puts(w->out, "</ul>\n");
}

static void put_sum_cell(struct plan_page_writer *w, const char *platform, const char *verdict, uint64_t files)
{
	buf_printf(w->out, "<td class=\"n%s\" data-of=\"%s\">", files ? "" : " zero", verdict);
	if (files)
		plan_begin_link(w, platform, verdict, "", 1);
	html_put(w->out, "%n%h", files, files ? "</a></td>" : "</td>");
}

static void put_platform_sums(struct plan_page_writer *w)
{
	buf_puts(w->out, "<h2>By platform and verdict</h2>\n");
	html_begin_box(w->out, "By platform and verdict", "card wide");
	buf_puts(w->out, "<table class=\"sums\">\n<thead><tr><th scope=\"col\">Platform</th>");
	for (size_t i = 0; i < PLAN_VERDICTS; i++)
		buf_printf(w->out, "<th scope=\"col\" class=\"n\">%s</th>", plan_verdict[i]);
	buf_puts(w->out,
		"<th scope=\"col\" class=\"n\">removed</th><th scope=\"col\" class=\"n\">size</th></tr></thead>\n"
		"<tbody>\n");
	for (size_t i = 0; i < w->query->platforms; i++) {
		const char *name = w->query->platform[i]->name;
		struct plan_sum removed = sum_of_platform(w, name, NULL, 1);
		buf_puts(w->out, "<tr><th scope=\"row\">");
		plan_begin_link(w, name, "", "", 1);
		html_put(w->out, "%s</a></th>", name);
		for (size_t k = 0; k < PLAN_VERDICTS; k++)
			put_sum_cell(w, name, plan_verdict[k], sum_of_platform(w, name, plan_verdict[k], -1).files);
		put_sum_cell(w, name, "removed", removed.files);
		html_put(w->out, "<td class=\"n\" data-of=\"\">%b</td></tr>\n", removed.bytes);
	}
	html_end_table(w->out);
}

// --- the command, and what the plan before said ---

static void put_applied(struct plan_page_writer *w)
{
	const struct plan_applied *a = &w->applied;
	html_put(w->out, "<h2 id=\"apply\">It was applied</h2>\n<p class=\"note\">Applied at %t", a->when);
	if (a->by)
		html_put(w->out, " by %s", a->by);
	html_put(w->out, ", with <code>wheelcache prune apply</code>. %n of its ", a->files);
	uint64_t all = sum_of_platforms(w, 1).files;
	html_put(w->out,
		"%m%h To remove more, make a new plan.</p>\n<figure class=\"card\"><figcaption>To undo it"
		"</figcaption><pre><code>wheelcache prune restore --config /etc/wheelcache/wheelcache.conf --run "
		"%s</code></pre></figure>\n",
		all, "file|files", a->files == 1 ? " is unlisted." : " are unlisted.", w->id);
}

static int put_command(struct plan_page_writer *w, struct err *e)
{
	CLEANUP(plan_rows_release) struct plan_rows chosen = {0};
	struct plan_collector collector = {&chosen, w->query};
	if (w->applied.files) {
		put_applied(w);
		return 0;
	}
	if (!sum_of_platforms(w, 1).files)
		return 0;
	for (size_t i = 0; i < w->choice.count; i++)
		if (catalog_plan_one(w->query->catalog, w->choice.id[i], plan_collect, &collector, e) < 0)
			return -1;
	buf_puts(w->out, "<h2 id=\"apply\">To apply it</h2>\n<figure class=\"card\"><figcaption>");
	if (chosen.count)
		html_put(w->out, "Without %m</figcaption><pre><code>", chosen.count, "file|files");
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

static int put_plan_page(struct plan_page_writer *w, const char *id, int64_t made, struct err *e)
{
	char when[CLOCK_TEXT];
	const struct page_query *q = w->query;
	CLEANUP(buf_release) struct buf words = buf_up_to(LIMIT_WORDS);
	w->id = id;
	if (read_applied(q, id, w->head, &w->applied, e) < 0)
		return -1;
	w->verdict = q->match->request->argument[ARGUMENT_VERDICT]     ? q->text[ARGUMENT_VERDICT]
		     : !*w->query->text[ARGUMENT_TEXT] && sum_of_platforms(w, 1).files ? "removed"
									: "";
	buf_printf(&words, "What the last plan says, and what has changed since: %s", id);
	html_begin(w->out, page_frame(w->query), "Prune plan", words.data);
	clock_write(w->applied.files ? w->applied.when : made, when);
	buf_printf(w->out, "<span class=\"state\">%s <time datetime=\"%s\">%.10s %.5s UTC</time></span>\n</header>\n",
		w->applied.files ? "Applied" : "Made", when, when, when + 11);
	// The numbers of another plan would be of other files.
	const char *chosen = w->query->match->request->argument[ARGUMENT_CHOSEN]; // digits and dashes
	plan_choice_read(&w->choice, chosen ? chosen : "");
	if (w->choice.count && strcmp(w->query->text[ARGUMENT_PLAN], w->id) != 0) {
		w->choice = (struct plan_choice){0};
		buf_puts(w->out, "<p class=\"note\"><strong>There is a new plan since you chose:</strong> please "
			"choose again.</p>\n");
	}
	struct plan_sum removed = sum_of_platforms(w, 1), kept = sum_of_platforms(w, 0);
	const struct jsondoc *asked = jsondoc_get(w->head, "look-ups");
	html_put(w->out, "<dl><div><dt>To be removed</dt><dd>%n</dd></div><div><dt>Their size</dt><dd>%b</dd></div>"
		"<div><dt>Stay</dt><dd>%n", removed.files, removed.bytes, kept.files);
	if (w->query->platforms == w->query->site->store.platform_count) { // they are of all platforms
		html_put(w->out, "</dd></div><div><dt>Projects asked upstream</dt><dd>%n</dd></div><div><dt>Failed "
			"look-ups</dt><dd>%n", (uint64_t)get_count(asked, "projects"),
			(uint64_t)get_count(asked, "failed"));
	}
	buf_puts(w->out, "</dd></div></dl>\n");
	put_losing_views(w);
	if (put_command(w, e) < 0)
		return -1;
	put_platform_sums(w);
	plan_put_form(w);
	return plan_put_files(w, e) < 0 ? -1 : put_changes(w, e);
}

static int put_no_plan(struct plan_page_writer *w)
{
	html_begin(w->out, page_frame(w->query), "Prune plan", "No plan of a prune has been made yet");
	buf_puts(w->out,
		"</header>\n<div class=\"lines\"><figure class=\"card\"><figcaption>To make one</figcaption><pre><code>"
		"wheelcache prune plan --config /etc/wheelcache/wheelcache.conf -o plan.json</code></pre></figure></div>\n");
	return 0;
}

static int write_plan_html(struct page_query *q, struct buf *out, struct err *e)
{
	struct plan_page_writer w = {.query = q, .out = out};
	const char *text = q->text[ARGUMENT_TEXT];
	size_t i = 0;
	for (; text[i] && i < LIMIT_FILE_NAME; i++)
		w.text[i] = ascii_lower(text[i]);
	w.text[i] = '\0';
	CLEANUP(catalog_read_end) struct catalog *reading = q->catalog;
	if (catalog_read_begin(q->catalog, e) < 0) {
		reading = NULL;
		return -1;
	}
	int64_t made;
	CLEANUP(buf_release) struct buf id = buf_up_to(LIMIT_WORDS);
	CLEANUP(jsondoc_cleanup) struct jsondoc *head = NULL;
	int none = read_last_plan(w.query->catalog, &id, &made, &head, e);
	w.head = head;
	int result = none < 0 ? -1 : none ? put_no_plan(&w) : put_plan_page(&w, id.data, made, e);
	plan_applied_release(&w.applied);
	if (result == 0)
		html_end(out, "<a href=\"?format=json\">JSON</a>");
	return result;
}

// --- the page ---

static struct reply *prepare_plan(struct page_query *q)
{
	const struct request *r = q->match->request;
	struct str named = str_from(q->text[ARGUMENT_PLATFORM]);
	const struct platform *only = site_platform(q->site, named);
	if (only)
		return only->is_private ? auth_check(q->context, r, TOKEN_READ, only->name, NULL, NULL) : NULL;
	struct reply *refused = named.len ? auth_unknown(q->context, r, TOKEN_READ, named, NULL) : NULL;
	q->text[ARGUMENT_PLATFORM][0] = '\0'; // of a name that is none all are shown
	return refused;
}

static int write_plan(struct page_query *q, struct buf *out, struct err *e)
{
	return q->form == PAGE_FORM_JSON ? write_plan_json(q, out, e) : write_plan_html(q, out, e);
}

static const struct page_argument arguments[] = {{ARGUMENT_PLATFORM, .form = FORM_PLATFORM}};

// JSON says it in short, without the files.
const struct page_row plan_page = {
	.section = HTML_SECTION_PLAN,
	.scope = PAGE_SCOPE_WHOLE,
	.shows_names = true,
	.most = 4 << 20,
	PAGE_ARGUMENTS(arguments),
	.prepare = prepare_plan,
	.write = write_plan,
};
