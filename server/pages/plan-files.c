// SPDX-License-Identifier: Apache-2.0
#include "server/pages/plan-files.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/decimal.h"
#include "lib/base/log.h"
#include "lib/format/escape.h"

const char *const plan_verdict[PLAN_VERDICTS] = {
	"duplicate", "superseded", "pure", "off-list", "unusable", "corrupt", "keep"};

void plan_begin_link(struct plan_page_writer *w, const char *platform, const char *verdict, const char *text,
	uint64_t page)
{
	CLEANUP(buf_release) struct buf chosen;
	buf_init(&chosen, LIMIT_REQUEST_HEADER);
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
	CLEANUP(buf_release) struct buf chosen;
	buf_init(&chosen, LIMIT_REQUEST_HEADER);
	plan_choice_write(&w->choice, rows, &chosen);
	if (chosen.len)
		put_hidden(w, "x", chosen.data);
	if (chosen.len || rows)
		put_hidden(w, "plan", w->id);
}

bool plan_is_selected(const struct plan_page_writer *w, const struct platform *p)
{
	return !*w->query->text[ARGUMENT_PLATFORM] || strcmp(w->query->text[ARGUMENT_PLATFORM], p->name) == 0;
}

int plan_collect(void *ctx, const struct catalog_planned *f, struct err *e UNUSED)
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

void plan_put_form(struct plan_page_writer *w)
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

// The box that leaves the file out; of what stays there is none.
static void put_choice_cell(struct plan_page_writer *w, const struct plan_row *row)
{
	buf_puts(w->out, "<td class=\"pick\">");
	if (row->file.removes && !w->applied.files) {
		html_put(w->out, "<input type=\"checkbox\" form=\"choice\" name=\"x\" value=\"%d\"%h "
			"aria-label=\"Leave out %s of %s\">", row->file.id,
			plan_choice_has(&w->choice, row->file.id) ? " checked" : "", row->file.filename,
			row->platform->name);
	}
	buf_puts(w->out, "</td>");
}

static void put_file_cell(struct plan_page_writer *w, const struct catalog_planned *f, const char *platform)
{
	buf_puts(w->out, "<td class=\"file full\">");
	if (f->project) {
		html_put(w->out, "<a href=\"../explain/%u/%u", platform, f->project);
		if (f->version)
			html_put(w->out, "/%u", f->version);
		buf_puts(w->out, "?format=text\">");
	}
	html_text(w->out, f->filename);
	if (f->project) {
		html_put(w->out, "</a> <a href=\"../project/%u\">project<span class=\"sr\"> of %s</span></a>",
			f->project, f->filename);
	}
	buf_puts(w->out, "</td>");
}

// What apply would find now, where it is not what the plan says.
static void put_row_state(struct plan_page_writer *w, const struct plan_row *row)
{
	static const char *const words[] = {
		[PLAN_ROW_UNLISTED] = "unlisted since",
		[PLAN_ROW_GONE] = "gone since",
		[PLAN_ROW_CHANGED] = "changed since",
		[PLAN_ROW_KEPT] = "would be kept now",
	};
	if (row->state <= PLAN_ROW_HOLDS)
		return;
	buf_printf(w->out, "<span class=\"verdict%s\">%s</span> ",
		row->state == PLAN_ROW_UNLISTED || row->state == PLAN_ROW_GONE ? "" : " wrong", words[row->state]);
	if (row->words)
		html_put(w->out, "%s<br>the plan: ", row->words);
}

static void put_file_row(struct plan_page_writer *w, const struct plan_row *row)
{
	const struct catalog_planned *f = &row->file;
	buf_puts(w->out, "<tr>");
	put_choice_cell(w, row);
	put_file_cell(w, f, row->platform->name);
	html_put(w->out, "<td class=\"name\">%s", row->platform->name);
	buf_puts(w->out, f->removes ? "</td><td><span class=\"verdict goes\">" : "</td><td><span class=\"verdict\">");
	html_put(w->out, "%s</span></td><td class=\"n\" data-of=\"\">%b</td><td class=\"why full\">", f->verdict,
		f->size);
	put_row_state(w, row);
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

// of becomes the number of files of each platform.
static int count_files(const struct plan_page_writer *w, uint64_t *of, struct plan_sum *all, struct err *e)
{
	for (size_t i = 0; i < w->query->platforms; i++) {
		struct plan_sum one = {0};
		struct catalog_plan_filter filter = make_filter(w, w->query->platform[i]);
		if (plan_is_selected(w, w->query->platform[i]) &&
			catalog_plan_count(w->query->catalog, &filter, &one.files, &one.bytes, e) < 0)
			return -1;
		of[i] = one.files;
		all->files += one.files;
		all->bytes += one.bytes;
	}
	return 0;
}

// One page of the files, platform by platform.
static int collect_page(struct plan_page_writer *w, const uint64_t *of, uint64_t skip, struct plan_rows *rows,
	struct err *e)
{
	struct plan_collector collector = {rows, w->query};
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
	return 0;
}

static void put_page_links(struct plan_page_writer *w, uint64_t page, uint64_t pages)
{
	const struct page_query *q = w->query;
	if (pages < 2)
		return;
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

// --- as it is now ---

// What was asked of the plan: classes of files to remove.
static size_t classes_of_plan(const struct jsondoc *head, const char ***out)
{
	const struct jsondoc *options = jsondoc_get(head, "options");
	const struct jsondoc *classes = options ? jsondoc_get(options, "classes") : NULL;
	size_t count = classes ? jsondoc_count(classes) : 0;
	*out = xcalloc(count + 1, sizeof(const char *));
	for (size_t i = 0; i < count; i++)
		(*out)[i] = jsondoc_at_str(classes, i);
	return count;
}

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
		.upstream = w->query->context->upstream,
		.policy_hash = policy ? jsondoc_get_str(policy, "hash") : NULL,
	};
	if (!w->query->context->upstream)
		return;
	check.classes = classes_of_plan(w->head, &class);
	check.class = class;
	if (plan_rows_check(rows, &check, &has_changed, &e) < 0)
		log_error("the plan is not checked again: %s", e.msg);
	if (has_changed && !w->applied.files)
		buf_puts(w->out,
			"<p class=\"note\"><strong>The policy has changed since the plan was made.</strong> An "
			"apply refuses it without --accept-changed-policy.</p>\n");
}

// The form that the boxes of the rows belong to.
static void put_choice_form(struct plan_page_writer *w, const struct plan_rows *rows, uint64_t page)
{
	char number[24];
	snprintf(number, sizeof(number), "%" PRIu64, page);
	buf_puts(w->out, "<form method=\"get\" action=\"./#apply\" id=\"choice\">");
	put_hidden(w, "platform", w->query->text[ARGUMENT_PLATFORM]);
	put_hidden(w, "verdict", w->verdict);
	put_hidden(w, "q", w->query->text[ARGUMENT_TEXT]);
	put_hidden(w, "page", number);
	put_plan_choice(w, rows);
	buf_puts(w->out, "<button>Leave out what is ticked</button></form>\n");
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
	static const char *const column[] = {"Leave out", "File", "Platform", "Verdict", "Size", "Why"};
	CLEANUP(plan_rows_release) struct plan_rows rows = {0};
	if (collect_page(w, of, (page - 1) * ROWS, &rows, e) < 0)
		return -1;
	check_rows(w, &rows);
	if (!w->applied.files)
		put_doubtful(w, &rows);
	html_begin_table(w->out, "Files", "card wide", column, ARRAY_SIZE(column));
	for (size_t i = 0; i < rows.count; i++)
		put_file_row(w, &rows.row[i]);
	html_end_table(w->out);
	if (!w->applied.files)
		put_choice_form(w, &rows, page);
	return 0;
}

int plan_put_files(struct plan_page_writer *w, struct err *e)
{
	struct plan_sum all = {0};
	CLEANUP(mem_free) uint64_t *of = xcalloc(w->query->platforms + 1, sizeof(*of));
	if (count_files(w, of, &all, e) < 0)
		return -1;
	uint64_t pages = (all.files + ROWS - 1) / ROWS;
	uint64_t page;
	struct str digits = str_from(w->query->text[ARGUMENT_PAGE]);
	decimal_cut(&digits, 10000000, &page);
	page = page < 1 ? 1 : page > pages && pages ? pages : page;
	html_put(w->out, "<p class=\"note\">%n%h%b</p>\n", all.files, all.files == 1 ? " file, " : " files, ",
		all.bytes);
	if (!all.files)
		return 0;
	if (put_page_of_files(w, of, page, e) < 0)
		return -1;
	put_page_links(w, page, pages);
	return 0;
}
