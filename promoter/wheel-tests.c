// SPDX-License-Identifier: Apache-2.0
#include "promoter/wheel-tests.h"

#include <inttypes.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/state/catalog/catalog-view.h"

const char *const wheel_test_result_name[WHEEL_TEST_RESULT_COUNT] = {
	"untested", "green", "red", "override", "unneeded"};

static int check_tests(const struct wheel_tests *t, struct err *e)
{
	if (t->has_failed)
		*e = t->error;
	return t->has_failed ? -1 : 0;
}

static bool find_counting(struct wheel_tests *t, const struct catalog_tested *wheel, const struct promotion_rule *rule,
	const struct promotion_cell *cell, struct evidence_found *out)
{
	int found = t->has_failed ? -1 : evidence_search_find(&t->search, wheel, rule, cell, out, &t->error);
	if (found < 0) {
		t->has_failed = true;
		*out = (struct evidence_found){.by = ""};
	}
	return found > 0;
}

static bool find_for_judge(void *ctx, const struct catalog_tested *wheel, const struct promotion_rule *rule,
	const struct promotion_cell *cell, struct promotion_record *out)
{
	struct evidence_found found;
	bool is_found = find_counting(ctx, wheel, rule, cell, &found);
	*out = found.record;
	return is_found;
}

int wheel_tests_init(struct wheel_tests *out, const struct site *site, const struct config_view *view,
	struct catalog *c, struct arena *text, int64_t now, struct err *e)
{
	const struct view *v = site_view(site, str_from(view->name));
	*out = (struct wheel_tests){.source = view->from ? site_view(site, str_from(view->from)) : NULL};
	evidence_search_init(&out->search, c, view->name, text);
	return promotion_judge_init(&out->judge, view->requires, view->cells, v->platform, v->platform_count, now,
		find_for_judge, out, e);
}

void wheel_tests_release(struct wheel_tests *t)
{
	promotion_judge_release(&t->judge);
	evidence_search_release(&t->search);
	*t = (struct wheel_tests){0};
}

// --- the tests of a wheel ---

static bool give_found(void *ctx, const struct promotion_rule *rule UNUSED, const struct promotion_cell *cell UNUSED,
	struct promotion_record *out)
{
	*out = *(const struct promotion_record *)ctx;
	return true;
}

static struct wheel_test judge_record(struct wheel_tests *t, const struct promotion_rule *rule,
	const struct promotion_cell *cell, const struct catalog_tested *wheel)
{
	struct evidence_found f;
	struct wheel_test test = {.by = "", .why = ""};
	CLEANUP(buf_release) struct buf why = buf_up_to(LIMIT_REASON);
	if (!find_counting(t, wheel, rule, cell, &f)) {
		test.why = f.record.lack ? f.record.lack : "";
		return test; // WHEEL_TEST_UNTESTED
	}
	test.match = f.record.match;
	test.by = f.by;
	hex_encode(f.id, SHA256_SIZE, test.id);
	if (test.match != PROMOTION_SAME_BYTES)
		hex_encode(f.record.tested, SHA256_SIZE, test.tested);
	bool holds = promotion_rule_holds(rule, cell, t->judge.now, give_found, &f.record, &why);
	test.result = f.record.overrides ? WHEEL_TEST_OVERRIDE : holds ? WHEEL_TEST_GREEN : WHEEL_TEST_RED;
	test.why = f.record.overrides ? f.record.overrides : arena_copy(t->search.text, buf_view(&why));
	return test;
}

int wheel_tests_each(struct wheel_tests *t, const struct promotion_file *w, wheel_tests_fn *fn, void *ctx, struct err *e)
{
	const struct promotion_rules *rules = &t->judge.rules;
	CLEANUP(filename_release) struct filename name = {0};
	size_t count = rules->rules ? promotion_judge_cells(&t->judge, w) : 0;
	if (count && filename_parse(str_from(w->filename), &name, e) < 0)
		return -1;
	const struct catalog_tested wheel = promotion_file_tested(w, &name);
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < rules->rules; k++) {
			struct wheel_test test = judge_record(t, &rules->rule[k], &t->judge.needed[i], &wheel);
			if (check_tests(t, e) < 0)
				return -1;
			fn(ctx, &rules->rule[k], &t->judge.needed[i], &test);
		}
	return 0;
}

// --- how a file left ---

static int put_removal(void *ctx, const struct catalog_left *left, struct err *e UNUSED)
{
	if (strcmp(left->action, "promote") != 0) // by that a promotion takes back what was pruned meanwhile
		buf_printf(ctx,
			"it left in generation %" PRId64 " (%s%s%s): promote its version by name to take it again",
			left->generation, left->action, *left->reason ? ": " : "", left->reason);
	return 0;
}

int removal_reason(struct catalog *c, const char *view, int64_t platform, const char *filename,
	const uint8_t sha256[SHA256_SIZE], struct buf *out, struct err *e)
{
	size_t before = out->len;
	if (catalog_view_left(c, view, platform, filename, sha256, put_removal, out, e) < 0)
		return -1;
	return out->len > before;
}

int wheel_tests_left(struct wheel_tests *t, const struct promotion_file *w, const char **why, struct err *e)
{
	CLEANUP(buf_release) struct buf reason = buf_up_to(LIMIT_REASON + LIMIT_FILE_NAME);
	int left = removal_reason(t->search.catalog, t->search.view, w->platform_id, w->filename, w->sha256, &reason, e);
	*why = left > 0 ? arena_copy(t->search.text, buf_view(&reason)) : "";
	return left < 0 ? -1 : 0;
}

// --- files that pip takes in the place of the wheel ---

// A file of the same version for another platform.
struct rival_file {
	struct promotion_file file;
	struct str version_key;
	bool is_taken; // the view has it, or could have it by the tests on its own platform
};

struct rival_files {
	struct wheel_tests *tests;
	const struct promotion_file *wheel; // NULL: all wheels of a project are read
	struct str version_key;             // of it
	struct rival_file *item;
	size_t count, room;
	size_t from, to; // those of the version of the wheel
	const struct promotion_file **leaves; // of each cell that is not covered; NULL: it is not noted
	size_t uncovered;
};

static int add_rival(void *ctx, const struct platform *p, const struct catalog_file *file, struct err *e UNUSED)
{
	struct rival_files *r = ctx;
	struct arena *text = r->tests->search.text;
	bool is_one = !r->wheel || (strcmp(p->name, r->wheel->platform) != 0 && str_eq(file->version_key, r->version_key));
	if (!is_one || filename_kind(str_from(file->filename)) != FILENAME_WHEEL)
		return 0;
	ARENA_GROW(text, r->item, r->count, r->room);
	struct rival_file *rival = &r->item[r->count++];
	rival->version_key = (struct str){arena_copy(text, file->version_key), file->version_key.len};
	rival->file = (struct promotion_file){.platform = p->name,
		.platform_id = p->id,
		.filename = arena_strdup(text, file->filename),
		.requires_python = arena_strdup(text, file->requires_python),
		.is_yanked = file->yanked != NULL,
		.sha256 = arena_memdup(text, file->sha256, SHA256_SIZE),
		.version = arena_strdup(text, file->version)};
	return 0;
}

static int mark_taken(struct rival_files *r, struct err *e)
{
	struct wheel_tests *t = r->tests;
	for (size_t i = 0; i < r->count; i++) {
		const struct promotion_file *f = &r->item[i].file;
		CLEANUP(buf_release) struct buf ignored = buf_up_to(LIMIT_REASON);
		int has = catalog_view_has(t->search.catalog, t->search.view, GENERATION_NEWEST, f->platform_id,
			f->filename, f->sha256, e);
		if (has < 0)
			return -1;
		r->item[i].is_taken = has || promotion_judge_allows(&t->judge, f, &ignored);
	}
	return 0;
}

static bool rival_covers(void *ctx, size_t cell, long rank)
{
	struct rival_files *r = ctx;
	struct promotion_judge *j = &r->tests->judge;
	const struct promotion_file *leaves = NULL;
	for (size_t i = r->from; i < r->to; i++) {
		const struct promotion_file *f = &r->item[i].file;
		if (strcmp(f->platform, j->cell[cell].platform) != 0 ||
			!promotion_judge_is_better(j, f, r->wheel->filename, cell, rank))
			continue;
		if (r->item[i].is_taken)
			return true;
		leaves = leaves ? leaves : f;
	}
	if (r->leaves)
		r->leaves[r->uncovered++] = leaves;
	return false;
}

// Finds what keeps the wheel from the cells of other platforms, and makes *out the wheel with that. name: of the wheel.
// False: it counts for none of these cells, or the catalog has failed.
static bool find_rivals(struct wheel_tests *t, const struct promotion_file *w, const struct filename *name,
	struct rival_files *r, struct promotion_file *out)
{
	*r = (struct rival_files){.tests = t, .wheel = w, .version_key = name->version.key};
	*out = *w;
	if (!t->source || t->source->platform_count < 2 || !t->judge.rules.rules)
		return false;
	struct view each = *t->source;
	each.shows_each = true;
	if (view_files(&each, t->search.catalog, name->project, add_rival, r, &t->error) < 0 ||
		mark_taken(r, &t->error) < 0) {
		t->has_failed = true;
		return false;
	}
	r->to = r->count;
	out->covers = rival_covers;
	out->covers_ctx = r;
	return true;
}

// Also in the cells of other platforms.
static bool is_allowed_everywhere(struct wheel_tests *t, const struct promotion_file *w, struct buf *why)
{
	struct rival_files r;
	struct promotion_file file;
	CLEANUP(filename_release) struct filename name = {0};
	struct err ignored = ERR_INIT;
	return filename_parse(str_from(w->filename), &name, &ignored) < 0 || !find_rivals(t, w, &name, &r, &file) ||
	       promotion_judge_allows(&t->judge, &file, why);
}

static const struct promotion_cell *find_cell(struct promotion_judge *j, const struct promotion_file *w,
	const char *platform, const char *python)
{
	for (size_t i = promotion_judge_cells(j, w); i-- > 0;)
		if (strcmp(j->needed[i].platform, platform) == 0 && strcmp(j->needed[i].python, python) == 0)
			return &j->needed[i];
	return NULL;
}

struct wheel_test *wheel_tests_in(struct wheel_tests *t, const struct promotion_file *w, const char *platform,
	const char *python, struct err *e)
{
	const struct promotion_rules *rules = &t->judge.rules;
	CLEANUP(filename_release) struct filename name = {0};
	struct rival_files r;
	struct promotion_file file;
	struct err ignored = ERR_INIT;
	bool is_named = filename_parse(str_from(w->filename), &name, &ignored) == 0;
	const struct promotion_cell *cell = is_named ? find_cell(&t->judge, w, platform, python) : NULL;
	if (!cell && is_named && strcmp(w->platform, platform) != 0 && find_rivals(t, w, &name, &r, &file))
		cell = find_cell(&t->judge, &file, platform, python);
	const struct catalog_tested wheel = promotion_file_tested(w, &name);
	struct wheel_test *out = ARENA_NEW(t->search.text, struct wheel_test, rules->rules);
	for (size_t i = 0; i < rules->rules; i++)
		out[i] = cell ? judge_record(t, &rules->rule[i], cell, &wheel)
			      : (struct wheel_test){.result = WHEEL_TEST_UNNEEDED, .by = "", .why = ""};
	return check_tests(t, e) < 0 ? NULL : out;
}

int wheel_tests_why(struct wheel_tests *t, const struct promotion_file *w, const char **why, struct err *e)
{
	CLEANUP(buf_release) struct buf reason = buf_up_to(2 * LIMIT_REASON);
	bool is_allowed = promotion_judge_allows(&t->judge, w, &reason) && is_allowed_everywhere(t, w, &reason);
	*why = is_allowed ? "" : reason.len ? arena_copy(t->search.text, buf_view(&reason)) : "it is refused";
	return check_tests(t, e);
}

// --- members that pip takes where no tests allow it ---

// The arguments of find_of_wheel.
struct tested_wheel {
	struct wheel_tests *tests;
	struct catalog_tested wheel;
};

static bool find_of_wheel(void *ctx, const struct promotion_rule *rule, const struct promotion_cell *cell,
	struct promotion_record *out)
{
	const struct tested_wheel *w = ctx;
	return find_for_judge(w->tests, &w->wheel, rule, cell, out);
}

// What keeps the wheel from the cell; "": nothing.
static const char *lacking_in(struct wheel_tests *t, const struct promotion_file *w, const struct filename *name,
	const struct promotion_cell *cell)
{
	enum { AGE_IS_NOTHING }; // as of 1970 no record is old
	struct tested_wheel tested = {t, promotion_file_tested(w, name)};
	CLEANUP(buf_release) struct buf why = buf_up_to(LIMIT_REASON);
	if (promotion_is_allowed(&t->judge.rules, cell, 1, AGE_IS_NOTHING, find_of_wheel, &tested, &why))
		return "";
	return arena_copy(t->search.text, buf_view(&why));
}

static void look_elsewhere(struct rival_files *r, const struct rival_file *member, wheel_untested_fn *fn, void *ctx)
{
	struct wheel_tests *t = r->tests;
	struct promotion_file file = member->file;
	CLEANUP(filename_release) struct filename name = {0};
	struct err ignored = ERR_INIT;
	if (!member->is_taken || file.is_yanked || filename_parse(str_from(file.filename), &name, &ignored) < 0)
		return;
	size_t own = promotion_judge_cells(&t->judge, &file);
	r->wheel = &member->file;
	r->uncovered = 0;
	file.covers = rival_covers;
	file.covers_ctx = r;
	size_t all = promotion_judge_cells(&t->judge, &file);
	for (size_t i = own; i < all; i++) {
		const char *why = lacking_in(t, &member->file, &name, &t->judge.needed[i]);
		if (*why && !t->has_failed)
			fn(ctx, &(struct wheel_untested){&member->file, why, r->leaves[i - own]});
	}
}

int wheel_tests_untested(struct wheel_tests *t, const struct view *v, const char *project, wheel_leaves_fn *leaves,
	wheel_untested_fn *fn, void *ctx, struct err *e)
{
	struct rival_files r = {.tests = t};
	struct view each = *v;
	each.shows_each = true;
	if (v->platform_count < 2 || !t->judge.rules.rules)
		return 0;
	if (view_files(&each, t->search.catalog, project, add_rival, &r, e) < 0)
		return -1;
	r.leaves = ARENA_NEW(t->search.text, const struct promotion_file *, t->judge.cells);
	for (size_t i = 0; i < r.count; i++)
		r.item[i].is_taken = !leaves || !leaves(ctx, r.item[i].file.platform, r.item[i].file.filename);
	for (; r.from < r.count; r.from = r.to) {
		for (r.to = r.from + 1; r.to < r.count && str_eq(r.item[r.to].version_key, r.item[r.from].version_key);)
			r.to++;
		for (size_t i = r.from; i < r.to; i++)
			look_elsewhere(&r, &r.item[i], fn, ctx);
	}
	return check_tests(t, e);
}
