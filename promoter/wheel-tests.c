// SPDX-License-Identifier: Apache-2.0
#include "promoter/wheel-tests.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "promoter/left-reason.h"
#include "lib/state/catalog/catalog-evidence.h"

const char *const wheel_test_result_name[WHEEL_TEST_RESULT_COUNT] = {
	"untested", "green", "red", "override", "unneeded"};

// A record, copied.
struct found_record {
	struct wheel_tests *tests;
	struct promotion_record record;
	struct wheel_test test;
	bool is_found;
};

static const char *copy_words(struct wheel_tests *t, const char *text)
{
	return text && *text ? arena_copy(t->text, str_from(text)) : "";
}

static int take_record(void *ctx, const struct catalog_evidence *r, struct err *e UNUSED)
{
	struct found_record *f = ctx;
	f->is_found = true;
	hex_encode(r->id, SHA256_SIZE, f->test.id);
	f->test.by = copy_words(f->tests, r->by);
	f->record = (struct promotion_record){
		.made = r->made,
		.received = r->received,
		.passed = r->passed,
		.failed = r->failed,
		.skipped = r->skipped,
		.overrides = r->overrides ? copy_words(f->tests, r->overrides) : NULL,
	};
	return 0;
}

// Keeps what the record is about.
static int read_found(struct wheel_tests *t, struct found_record *f, struct err *e)
{
	struct promotion_record about = {0};
	const struct build_offer *chosen = tested_build_choose(&t->builds, &about);
	f->record.lack = about.lack;
	if (!chosen)
		return 0;
	if (catalog_evidence_find(t->catalog, chosen->id, take_record, f, e) < 0)
		return -1;
	f->test.match = f->record.match = about.match;
	memcpy(f->record.tested, about.tested, SHA256_SIZE);
	if (about.match != PROMOTION_SAME_BYTES)
		hex_encode(about.tested, SHA256_SIZE, f->test.tested);
	return 0;
}

static struct found_record find_counting(struct wheel_tests *t, const struct catalog_tested *wheel,
	const struct promotion_rule *rule, const struct promotion_cell *cell)
{
	struct err e = ERR_INIT;
	struct found_record f = {.tests = t, .test = {.by = "", .why = ""}};
	if (!t->has_failed && (tested_build_begin(&t->builds, wheel, rule, cell, &e) < 0 || read_found(t, &f, &e) < 0)) {
		t->has_failed = true;
		t->error = e;
	}
	f.record.kind = rule->kind;
	f.record.platform = cell->platform;
	f.record.python = cell->python;
	return f;
}

static bool find_for_judge(void *ctx, const struct catalog_tested *wheel, const struct promotion_rule *rule,
	const struct promotion_cell *cell, struct promotion_record *out)
{
	struct found_record f = find_counting(ctx, wheel, rule, cell);
	*out = f.record;
	return f.is_found;
}

int wheel_tests_init(struct wheel_tests *out, const struct site *site, const struct config_view *view,
	struct catalog *c, struct arena *text, int64_t now, struct err *e)
{
	const struct view *v = site_view(site, str_from(view->name));
	*out = (struct wheel_tests){.view = view->name, .catalog = c, .text = text};
	tested_build_init(&out->builds, c, view->name);
	out->source = view->from ? site_view(site, str_from(view->from)) : NULL;
	if (promotion_judge_init(&out->judge, view->requires, view->cells, v->platform, v->platform_count, now,
		    find_for_judge, out, e) < 0)
		return -1;
	out->needed = xcalloc(out->judge.cells.cells + 1, sizeof(*out->needed));
	return 0;
}

void wheel_tests_release(struct wheel_tests *t)
{
	promotion_judge_release(&t->judge);
	free(t->needed);
	*t = (struct wheel_tests){0};
}

static int check_tests(const struct wheel_tests *t, struct err *e)
{
	if (t->has_failed)
		*e = t->error;
	return t->has_failed ? -1 : 0;
}

// The number of cells, which are put into t->needed, in which the wheel needs evidence.
static size_t find_needed_cells(struct wheel_tests *t, const struct judged_wheel *w, struct filename *name)
{
	struct err ignored = ERR_INIT;
	if (filename_kind(str_from(w->filename)) != FILENAME_WHEEL ||
		filename_parse(str_from(w->filename), name, &ignored) < 0)
		return 0;
	return needed_cells_of(&t->judge.cells, w->platform, name, w->requires_python, t->needed);
}

// The cell of this environment, if the wheel needs evidence there; NULL: it does not.
static const struct promotion_cell *find_cell(struct wheel_tests *t, const struct judged_wheel *w, const char *platform,
	const char *python, struct filename *name)
{
	size_t count = find_needed_cells(t, w, name);
	for (size_t i = 0; i < count; i++)
		if (strcmp(t->needed[i].platform, platform) == 0 && strcmp(t->needed[i].python, python) == 0)
			return &t->needed[i];
	return NULL;
}

static bool give_found(void *ctx, const struct promotion_rule *rule UNUSED, const struct promotion_cell *cell UNUSED,
	struct promotion_record *out)
{
	const struct found_record *f = ctx;
	*out = f->record;
	return f->is_found;
}

static struct wheel_test judge_record(struct wheel_tests *t, const struct promotion_rule *rule,
	const struct promotion_cell *cell, const struct catalog_tested *wheel)
{
	struct found_record f = find_counting(t, wheel, rule, cell);
	CLEANUP(buf_release) struct buf why;
	buf_init(&why, LIMIT_REASON);
	f.test.why = f.record.lack ? f.record.lack : "";
	if (!f.is_found)
		return f.test; // WHEEL_TEST_UNTESTED
	bool holds = promotion_rule_holds(rule, cell, t->judge.now, give_found, &f, &why);
	f.test.result = f.record.overrides ? WHEEL_TEST_OVERRIDE : holds ? WHEEL_TEST_GREEN : WHEEL_TEST_RED;
	f.test.why = f.record.overrides ? f.record.overrides : copy_words(t, why.len ? why.data : "");
	return f.test;
}

static struct catalog_tested tested_of(const struct judged_wheel *w, const struct filename *name)
{
	return (struct catalog_tested){.project = name->project,
		.sha256 = w->sha256,
		.version = name->version.key,
		.filename = w->filename,
		.platform = w->platform};
}

struct wheel_test *wheel_tests_in(struct wheel_tests *t, const struct judged_wheel *w, const char *platform,
	const char *python, struct err *e)
{
	const struct promotion_rules *rules = &t->judge.rules;
	CLEANUP(filename_release) struct filename name = {0};
	const struct promotion_cell *cell = find_cell(t, w, platform, python, &name);
	const struct catalog_tested wheel = tested_of(w, &name);
	struct wheel_test *out = arena_alloc_aligned(t->text, (rules->rules + 1) * sizeof(*out));
	for (size_t i = 0; i < rules->rules; i++)
		out[i] = cell ? judge_record(t, &rules->rule[i], cell, &wheel)
			      : (struct wheel_test){.result = WHEEL_TEST_UNNEEDED, .by = "", .why = ""};
	return check_tests(t, e) < 0 ? NULL : out;
}

int wheel_tests_each(struct wheel_tests *t, const struct judged_wheel *w, wheel_tests_fn *fn, void *ctx, struct err *e)
{
	const struct promotion_rules *rules = &t->judge.rules;
	CLEANUP(filename_release) struct filename name = {0};
	size_t count = rules->rules ? find_needed_cells(t, w, &name) : 0;
	const struct catalog_tested wheel = tested_of(w, &name);
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < rules->rules; k++) {
			struct wheel_test test = judge_record(t, &rules->rule[k], &t->needed[i], &wheel);
			if (check_tests(t, e) < 0)
				return -1;
			fn(ctx, &rules->rule[k], &t->needed[i], &test);
		}
	return 0;
}

int wheel_tests_left(struct wheel_tests *t, const struct judged_wheel *w, const char **why, struct err *e)
{
	CLEANUP(buf_release) struct buf reason;
	buf_init(&reason, LIMIT_REASON + LIMIT_FILE_NAME);
	int left = left_reason(t->catalog, t->view, w->platform_id, w->filename, w->sha256, &reason, e);
	*why = left > 0 ? copy_words(t, reason.data) : "";
	return left < 0 ? -1 : 0;
}

// --- files that pip takes in the place of the wheel ---

// A file of the same version for another platform.
struct rival_file {
	const char *platform;
	int64_t platform_id;
	const char *requires_python; // NULL: none
	struct filename name;
	bool has_name; // of the wheel
	bool is_taken; // the view has it, or could have it by the tests on its own platform
	uint8_t sha256[SHA256_SIZE];
	const char *filename;
};

struct rival_files {
	struct wheel_tests *tests;
	const struct judged_wheel *wheel;
	struct filename name; // of the wheel
	struct rival_file *item;
	size_t count, room;
};

static void rival_files_release(struct rival_files *r)
{
	for (size_t i = 0; i < r->count; i++)
		filename_release(&r->item[i].name);
	filename_release(&r->name);
	free(r->item);
}

static int add_rival(void *ctx, const struct platform *p, const struct catalog_file *file, struct err *e UNUSED)
{
	struct rival_files *r = ctx;
	struct err ignored = ERR_INIT;
	struct rival_file new = {.platform = p->name, .platform_id = p->id};
	if (strcmp(p->name, r->wheel->platform) == 0 || !str_eq(file->version_key, r->name.version.key) ||
		filename_kind(str_from(file->filename)) != FILENAME_WHEEL)
		return 0;
	new.filename = copy_words(r->tests, file->filename);
	new.requires_python = file->requires_python ? copy_words(r->tests, file->requires_python) : NULL;
	new.has_name = strcmp(file->filename, r->wheel->filename) == 0;
	memcpy(new.sha256, file->sha256, SHA256_SIZE);
	if (filename_parse(str_from(new.filename), &new.name, &ignored) < 0)
		return 0;
	GROW(r->item, r->count, r->room);
	r->item[r->count++] = new;
	return 0;
}

static int mark_taken(struct rival_files *r, struct err *e)
{
	struct wheel_tests *t = r->tests;
	for (size_t i = 0; i < r->count; i++) {
		struct rival_file *f = &r->item[i];
		CLEANUP(buf_release) struct buf ignored;
		buf_init(&ignored, LIMIT_REASON);
		const struct promotion_file file = {
			f->platform, f->filename, f->requires_python, f->sha256, NULL, NULL};
		int has = catalog_view_has(t->catalog, t->view, GENERATION_NEWEST, f->platform_id, f->filename,
			f->sha256, e);
		if (has < 0)
			return -1;
		f->is_taken = has || promotion_judge_allows(&t->judge, &file, &ignored);
	}
	return 0;
}

static bool rival_covers(void *ctx, size_t cell, long rank)
{
	const struct rival_files *r = ctx;
	struct needed_cells *all = &r->tests->judge.cells;
	for (size_t i = 0; i < r->count; i++) {
		const struct rival_file *f = &r->item[i];
		if (!f->is_taken || strcmp(f->platform, all->cell[cell].platform) != 0)
			continue;
		long other = needed_cells_rank(all, &f->name, f->requires_python, cell);
		if (f->has_name || (other >= 0 && other < rank))
			return true;
	}
	return false;
}

// Also in the cells of other platforms.
static bool is_allowed_everywhere(struct wheel_tests *t, const struct promotion_file *own,
	const struct judged_wheel *w, struct buf *why, struct err *e)
{
	CLEANUP(rival_files_release) struct rival_files r = {.tests = t, .wheel = w};
	struct err ignored = ERR_INIT;
	struct promotion_file file = *own;
	if (!t->source || t->source->platform_count < 2 || !t->judge.rules.rules ||
		filename_parse(str_from(w->filename), &r.name, &ignored) < 0)
		return true;
	struct view each = *t->source;
	each.shows_each = true;
	if (view_files(&each, t->catalog, r.name.project, add_rival, &r, e) < 0 || mark_taken(&r, e) < 0) {
		t->has_failed = true;
		t->error = *e;
		return true;
	}
	file.covers = rival_covers;
	file.covers_ctx = &r;
	return promotion_judge_allows(&t->judge, &file, why);
}

int wheel_tests_why(struct wheel_tests *t, const struct judged_wheel *w, const char **why, struct err *e)
{
	const struct promotion_file file = {w->platform, w->filename, w->requires_python, w->sha256, NULL, NULL};
	CLEANUP(buf_release) struct buf reason;
	buf_init(&reason, 2 * LIMIT_REASON);
	bool is_allowed = promotion_judge_allows(&t->judge, &file, &reason) &&
			  is_allowed_everywhere(t, &file, w, &reason, e);
	*why = is_allowed ? "" : copy_words(t, reason.len ? reason.data : "it is refused");
	return check_tests(t, e);
}
