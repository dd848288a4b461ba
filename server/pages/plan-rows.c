// SPDX-License-Identifier: Apache-2.0
#include "server/pages/plan-rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/decimal.h"
#include "lib/format/escape.h"
#include "lib/state/catalog/catalog-mark.h"
#include "lib/state/store/tombstone.h"
#include "pruner/plan/plan.h"

// --- whether the plan was applied ---

static int read_platform(struct catalog *c, const struct platform *p, bool is_named, const struct catalog_run *run,
	struct plan_applied *out, struct err *e)
{
	uint64_t files = 0;
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_PAGE);
	CLEANUP(tombstone_release) struct tombstone stone = {0};
	if (catalog_run_marks(c, p->id, run, &files, &text, e) < 0)
		return -1;
	if (!files)
		return 0;
	tombstone_read(buf_view(&text), &stone);
	out->files += files;
	if (stone.when >= out->when) {
		out->when = stone.when;
		free(out->by);
		out->by = is_named && stone.by ? xstrdup(stone.by) : NULL;
	}
	return 0;
}

int plan_applied_read(struct catalog *c, const struct platform *const *platform, size_t platforms,
	const struct page_query *asker, const char *id, const struct jsondoc *head, struct plan_applied *out, struct err *e)
{
	struct catalog_run run = {.id = id};
	*out = (struct plan_applied){0};
	if (!head || !jsondoc_get_int(head, "catalog-change", &run.since))
		run.since = 0;
	for (size_t i = 0; i < platforms; i++)
		if (platform[i]->id && read_platform(c, platform[i], asker && page_names(asker, platform[i]), &run, out, e) < 0) {
			plan_applied_release(out);
			return -1;
		}
	return 0;
}

void plan_applied_release(struct plan_applied *a)
{
	free(a->by);
	*a = (struct plan_applied){0};
}

struct jsondoc *plan_applied_json(const struct plan_applied *a)
{
	return jsondoc_new("at:t by:s command:s files:d", a->when, a->by, "wheelcache prune apply", a->files);
}

// --- files of the plan, and what a plan would say of them now ---

void plan_rows_add(struct plan_rows *rows, const struct catalog_planned *file, const struct platform *platform)
{
	GROW(rows->row, rows->count, rows->room);
	struct plan_row *row = &rows->row[rows->count++];
	*row = (struct plan_row){.file = *file, .platform = platform};
	const char **const text[] = {&row->file.project, &row->file.version, &row->file.filename, &row->file.path,
		&row->file.verdict, &row->file.why, &row->file.reason, &row->file.upstream};
	for (size_t i = 0; i < ARRAY_SIZE(text); i++)
		if (*text[i])
			*text[i] = arena_copy(&rows->text, str_from(*text[i]));
}

void plan_rows_release(struct plan_rows *rows)
{
	free(rows->row);
	arena_release(&rows->text);
	*rows = (struct plan_rows){0};
}

static struct plan_row *find_planned_row(struct plan_rows *rows, const struct planfile_entry *now)
{
	for (size_t i = 0; i < rows->count; i++)
		if (rows->row[i].file.removes && strcmp(rows->row[i].platform->name, now->platform) == 0 &&
			strcmp(rows->row[i].file.path, now->path) == 0)
			return &rows->row[i];
	return NULL;
}

static int compare_row(void *ctx, const struct planfile_entry *now, struct err *e UNUSED)
{
	struct plan_rows *rows = ctx;
	struct plan_row *row = find_planned_row(rows, now);
	if (!row)
		return 0;
	bool is_same = row->file.size == now->size && (!row->file.mtime_ns || row->file.mtime_ns == now->mtime_ns);
	row->state = !is_same ? PLAN_ROW_CHANGED : now->removes ? PLAN_ROW_HOLDS : PLAN_ROW_KEPT;
	if (row->state == PLAN_ROW_KEPT)
		row->words = arena_copy(&rows->text, str_from(now->reason));
	return 0;
}

// A file that nothing was decided about: it is unlisted, or the catalog no longer has it.
static int find_unlisted(struct plan_row *row, struct catalog *c, struct err *e)
{
	CLEANUP(catalog_place_release) struct catalog_place place = {0};
	struct err why = ERR_INIT;
	bool is_there = catalog_find_file(c, row->platform->id, row->file.filename, &place, &why) == 0;
	if (!is_there && why.kind != ERR_NOT_FOUND) {
		*e = why;
		return -1;
	}
	row->state = is_there && place.is_unlisted && strcmp(place.path, row->file.path) == 0 ? PLAN_ROW_UNLISTED
											      : PLAN_ROW_GONE;
	return 0;
}

static int decide_rows(struct plan_rows *rows, const struct plan_check *check, const struct strset *projects,
	bool *has_changed, struct err *e)
{
	const char **name CLEANUP(mem_free) = xcalloc(rows->count + 1, sizeof(const char *));
	CLEANUP(policy_release) struct policy policy = {0};
	struct policy_takes takes = {false};
	for (size_t i = 0; i < check->classes; i++) {
		bool *class = policy_takes_class(&takes, check->class[i]);
		if (class)
			*class = true;
	}
	if (policy_init(&policy, check->config, check->store, &takes, e) < 0)
		return -1;
	*has_changed = check->policy_hash && strcmp(check->policy_hash, policy.hash) != 0;
	for (size_t i = 0; i < rows->count; i++)
		name[i] = rows->row[i].platform->name; // once or more
	const struct plan_again again = {
		.store = check->store,
		.platform = name,
		.platforms = rows->count,
		.catalog = check->catalog,
		.policy = &policy,
		.upstreams = check->upstreams,
		.projects = projects,
		.entry = compare_row,
		.entry_ctx = rows,
	};
	return plan_decide_again(&again, e);
}

int plan_rows_check(struct plan_rows *rows, const struct plan_check *check, bool *has_changed, struct err *e)
{
	CLEANUP(strset_release) struct strset projects = {0};
	bool has_any = false;
	for (size_t i = 0; i < rows->count; i++) {
		has_any |= rows->row[i].file.removes;
		if (rows->row[i].file.removes && rows->row[i].file.project)
			strset_add(&projects, rows->row[i].file.project);
	}
	strset_sort(&projects);
	if (!has_any)
		return 0;
	if (decide_rows(rows, check, &projects, has_changed, e) < 0)
		return -1;
	for (size_t i = 0; i < rows->count; i++)
		if (rows->row[i].file.removes && rows->row[i].state == PLAN_ROW_UNKNOWN &&
			find_unlisted(&rows->row[i], check->catalog, e) < 0)
			return -1;
	return 0;
}

// --- those that a person leaves out ---

bool plan_choice_has(const struct plan_choice *x, int64_t id)
{
	for (size_t i = 0; i < x->count; i++)
		if (x->id[i] == id)
			return true;
	return false;
}

static void add_number(struct plan_choice *x, int64_t id)
{
	if (plan_choice_has(x, id))
		return;
	if (x->count == LIMIT_PLAN_CHOSEN)
		x->has_more = true;
	else
		x->id[x->count++] = id;
}

void plan_choice_read(struct plan_choice *x, const char *text)
{
	struct str rest = str_from(text);
	while (rest.len) {
		uint64_t id = 0;
		struct str before = rest;
		if (decimal_cut(&rest, INT64_MAX, &id) && id)
			add_number(x, (int64_t)id);
		if (rest.len == before.len)
			rest = str_slice(rest, 1, rest.len);
	}
}

static bool is_of_rows(const struct plan_rows *rows, int64_t id)
{
	for (size_t i = 0; rows && i < rows->count; i++)
		if (rows->row[i].file.id == id)
			return true;
	return false;
}

void plan_choice_write(const struct plan_choice *x, const struct plan_rows *rows, struct buf *out)
{
	const char *between = "";
	for (size_t i = 0; i < x->count; i++) {
		if (is_of_rows(rows, x->id[i]))
			continue;
		buf_printf(out, "%s%" PRId64, between, x->id[i]);
		between = "-";
	}
}

static bool is_plain_word(const char *word)
{
	for (const char *p = word; *p; p++)
		if (!ascii_is_alnum(*p) && !strchr("._+-/:=,%", *p))
			return false;
	return *word && *word != '-';
}

void plan_choice_shell_word(struct buf *out, const char *word)
{
	if (is_plain_word(word)) {
		buf_puts(out, word);
		return;
	}
	buf_putc(out, '\'');
	for (const char *p = word; *p; p++) {
		if (*p == '\'')
			buf_puts(out, "'\\''");
		else
			buf_putc(out, (unsigned char)*p < ' ' || *p == 0x7f ? '?' : *p);
	}
	buf_putc(out, '\'');
}

static void put_shell_html(struct buf *out, const char *word)
{
	CLEANUP(buf_release) struct buf quoted = buf_up_to(4 * strlen(word) + 8);
	plan_choice_shell_word(&quoted, word);
	escape_html(out, buf_view(&quoted));
}

void plan_choice_command(struct buf *out, const struct plan_rows *chosen, const char *file)
{
	buf_puts(out, "wheelcache prune apply --config /etc/wheelcache/wheelcache.conf");
	for (size_t i = 0; i < chosen->count; i++) {
		const struct plan_row *row = &chosen->row[i];
		CLEANUP(mem_free) char *word = xasprintf("%s/%s", row->platform->name, row->file.path);
		buf_puts(out, " \\\n    --except ");
		put_shell_html(out, word);
	}
	buf_puts(out, chosen->count ? " \\\n    " : " ");
	put_shell_html(out, file ? file : "plan.json");
}
