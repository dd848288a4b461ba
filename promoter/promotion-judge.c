// SPDX-License-Identifier: Apache-2.0
#include "promoter/promotion-judge.h"

#include <string.h>

#include "lib/base/limits.h"

enum { TAG_SETS_MOST = 4096 };

// Takes the place of a platform without a profile: a wheel's platform tags are then not looked at.
static const struct machine any_machine = {.arch = "x86_64", .libc_major = 2, .libc_minor = 17};
#define ANY_MACHINE_TAG "linux_x86_64"

// --- the cells ---

// python_text NULL: as it is written.
static void add_cell(struct promotion_judge *j, const struct platform *p, const char *python_text,
	const struct python *python)
{
	size_t at = j->cells++;
	j->is_blind[at] = !p->profile.environment_count;
	environment_init(&j->environment[at], j->is_blind[at] ? &any_machine : &p->profile.machine, python);
	fits_add(&j->fits, p, &p->profile.machine, &j->environment[at]);
	j->cell[at] = (struct promotion_cell){p->name, python_text ? python_text : j->fits.place[at].python};
}

static int add_named_cell(struct promotion_judge *j, const struct promotion_cell *c,
	const struct platform *const *platform, size_t platforms, struct err *e)
{
	struct python python;
	size_t i = 0;
	while (i < platforms && strcmp(platform[i]->name, c->platform) != 0)
		i++;
	if (i == platforms)
		return err_set(e, ERR_USAGE, "cells: the view has no platform %s", c->platform);
	if (python_parse(str_from(c->python), &python, e) < 0) {
		e->kind = ERR_USAGE;
		return err_prefix(e, "cells: ");
	}
	add_cell(j, platform[i], c->python, &python);
	return 0;
}

static int init_cells(struct promotion_judge *j, const struct platform *const *platform, size_t platforms,
	struct err *e)
{
	size_t room = j->rules.cells;
	for (size_t i = 0; i < platforms && !j->rules.cells; i++)
		room += platform[i]->profile.environment_count;
	j->cell = ARENA_NEW(&j->text, struct promotion_cell, room);
	j->needed = ARENA_NEW(&j->text, struct promotion_cell, room);
	j->environment = ARENA_NEW(&j->text, struct environment, room);
	j->is_blind = ARENA_NEW(&j->text, bool, room);
	for (size_t i = 0; i < platforms && !j->rules.cells; i++)
		for (size_t k = 0; k < platform[i]->profile.environment_count; k++)
			add_cell(j, platform[i], NULL, &platform[i]->profile.environment[k].python);
	for (size_t i = 0; i < j->rules.cells; i++)
		if (add_named_cell(j, &j->rules.cell[i], platform, platforms, e) < 0)
			return -1;
	return 0;
}

int promotion_judge_init(struct promotion_judge *out, const char *requires, const char *cells,
	const struct platform *const *platform, size_t platforms, int64_t now, promotion_judge_find_fn *find, void *ctx,
	struct err *e)
{
	*out = (struct promotion_judge){.now = now, .find = find, .ctx = ctx};
	if (promotion_rules_read(requires, cells, &out->rules, e) < 0)
		return -1;
	if (init_cells(out, platform, platforms, e) == 0)
		return 0;
	promotion_judge_release(out);
	return -1;
}

void promotion_judge_release(struct promotion_judge *j)
{
	fits_release(&j->fits);
	for (size_t i = 0; i < j->cells; i++)
		environment_release(&j->environment[i]);
	promotion_rules_release(&j->rules);
	arena_release(&j->text);
	*j = (struct promotion_judge){0};
}

// --- where a wheel installs ---

// Whether one of its platform tags is "any".
static bool is_for_any_platform(const struct filename *wheel)
{
	for (struct str rest = wheel->platform; rest.ptr;)
		if (str_eq_nocase(str_cut(&rest, '.'), STR("any")))
			return true;
	return false;
}

// The tag set of a wheel in which any_machine stands for its platform.
static unsigned blind_tags(struct promotion_judge *j, const struct filename *wheel)
{
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_FILE_NAME + sizeof(ANY_MACHINE_TAG) + 2);
	buf_printf(&text, STR_FMT "-" STR_FMT "-" ANY_MACHINE_TAG, STR_ARG(wheel->python), STR_ARG(wheel->abi));
	struct str rest = buf_view(&text);
	struct filename blind = {.kind = FILENAME_WHEEL, .python = str_cut(&rest, '-')};
	blind.abi = str_cut(&rest, '-');
	blind.platform = rest;
	return fits_tags(&j->fits, &blind);
}

// Writes the cells that the wheel needs on its own platform, or on any, to j->needed.
static size_t find_own_cells(struct promotion_judge *j, const struct promotion_file *file, const struct filename *wheel)
{
	bool is_for_any = is_for_any_platform(wheel);
	fits_trim(&j->fits, TAG_SETS_MOST);
	unsigned tags = fits_tags(&j->fits, wheel), blind = is_for_any ? tags : blind_tags(j, wheel);
	unsigned python = fits_python(&j->fits, file->requires_python);
	size_t count = 0;
	for (size_t i = 0; i < j->cells; i++)
		if ((is_for_any || strcmp(j->cell[i].platform, file->platform) == 0) &&
			fits_rank(&j->fits, j->is_blind[i] ? blind : tags, i) >= 0 && fits_micros(&j->fits, python, i))
			j->needed[count++] = j->cell[i];
	return count;
}

// The lower, the rather pip takes it; -1: it does not install there, or the machines of the platform are unknown.
static long find_rank(struct promotion_judge *j, const struct filename *wheel, const char *requires_python, size_t cell)
{
	fits_trim(&j->fits, TAG_SETS_MOST);
	unsigned tags = fits_tags(&j->fits, wheel), python = fits_python(&j->fits, requires_python);
	return !j->is_blind[cell] && fits_micros(&j->fits, python, cell) ? fits_rank(&j->fits, tags, cell) : -1;
}

// Writes the cells of other platforms in which pip would take the wheel to j->needed, behind the own ones. None of a
// wheel for any platform, of which find_own_cells() has all.
static size_t find_elsewhere(struct promotion_judge *j, const struct promotion_file *file, const struct filename *name,
	size_t own)
{
	size_t count = 0;
	if (!file->covers || is_for_any_platform(name))
		return 0;
	for (size_t i = 0; i < j->cells; i++) {
		bool is_own = strcmp(j->cell[i].platform, file->platform) == 0;
		long rank = is_own ? -1 : find_rank(j, name, file->requires_python, i);
		if (rank >= 0 && !file->covers(file->covers_ctx, i, rank))
			j->needed[own + count++] = j->cell[i];
	}
	return count;
}

bool promotion_judge_is_better(struct promotion_judge *j, const struct promotion_file *other, const char *filename,
	size_t cell, long rank)
{
	struct err ignored = ERR_INIT;
	CLEANUP(filename_release) struct filename parsed = {0};
	struct str name = str_from(other->filename);
	if (str_eq(name, str_from(filename)))
		return true;
	if (other->is_yanked || filename_kind(name) != FILENAME_WHEEL || filename_parse(name, &parsed, &ignored) < 0)
		return false;
	long rank_of_other = find_rank(j, &parsed, other->requires_python, cell);
	return rank_of_other >= 0 && rank_of_other < rank;
}

// Writes the cells that the file needs to j->needed. 0: nothing can show that it works, for the reason in why.
static size_t find_needed(struct promotion_judge *j, const struct promotion_file *file, struct filename *name,
	struct buf *why)
{
	struct err e = ERR_INIT;
	if (filename_kind(str_from(file->filename)) != FILENAME_WHEEL) {
		buf_puts(why, "it is no wheel, and the view requires evidence, which only a wheel can have");
		return 0;
	}
	if (filename_parse(str_from(file->filename), name, &e) < 0) {
		buf_puts(why, e.msg);
		return 0;
	}
	size_t needed = find_own_cells(j, file, name);
	if (!j->cells)
		buf_puts(why, "the view has no cells, because the Pythons of its platforms are unknown");
	else if (!needed)
		buf_puts(why, "it installs in none of the cells of the view, so that nothing can show that it works");
	return needed;
}

size_t promotion_judge_cells(struct promotion_judge *j, const struct promotion_file *file)
{
	CLEANUP(filename_release) struct filename name = {0};
	CLEANUP(buf_release) struct buf ignored = buf_up_to(LIMIT_REASON);
	size_t own = find_needed(j, file, &name, &ignored);
	return own ? own + find_elsewhere(j, file, &name, own) : 0;
}

// --- judging ---

struct catalog_tested promotion_file_tested(const struct promotion_file *file, const struct filename *name)
{
	return (struct catalog_tested){.project = name->project,
		.sha256 = file->sha256,
		.version = name->version.key,
		.filename = file->filename,
		.platform = file->platform};
}

// The arguments of find_of_file.
struct judged_bytes {
	const struct promotion_judge *judge;
	struct catalog_tested wheel;
};

static bool find_of_file(void *ctx, const struct promotion_rule *rule, const struct promotion_cell *cell,
	struct promotion_record *out)
{
	const struct judged_bytes *b = ctx;
	return b->judge->find(b->judge->ctx, &b->wheel, rule, cell, out);
}

bool promotion_judge_allows(struct promotion_judge *j, const struct promotion_file *file, struct buf *why)
{
	CLEANUP(filename_release) struct filename name = {0};
	if (!j->rules.rules)
		return true;
	size_t needed = find_needed(j, file, &name, why);
	struct judged_bytes bytes = {j, promotion_file_tested(file, &name)};
	if (!needed || !promotion_is_allowed(&j->rules, j->needed, needed, j->now, find_of_file, &bytes, why))
		return false;
	needed = find_elsewhere(j, file, &name, 0);
	if (!needed || promotion_is_allowed(&j->rules, j->needed, needed, j->now, find_of_file, &bytes, why))
		return true;
	buf_puts(why, "; pip would take the wheel there, because the view has no better one of that platform");
	return false;
}

static void call_lacks(struct promotion_judge *j, size_t needed, struct judged_bytes *bytes, promotion_judge_lack_fn *fn,
	void *ctx)
{
	CLEANUP(buf_release) struct buf ignored = buf_up_to(LIMIT_REASON);
	for (size_t i = 0; i < needed; i++)
		for (size_t k = 0; k < j->rules.rules; k++) {
			buf_clear(&ignored);
			if (!promotion_rule_holds(&j->rules.rule[k], &j->needed[i], j->now, find_of_file, bytes, &ignored))
				fn(ctx, &j->rules.rule[k], &j->needed[i]);
		}
}

bool promotion_judge_lacks(struct promotion_judge *j, const struct promotion_file *file, promotion_judge_lack_fn *fn,
	void *ctx)
{
	CLEANUP(filename_release) struct filename name = {0};
	CLEANUP(buf_release) struct buf ignored = buf_up_to(LIMIT_REASON);
	size_t needed = j->rules.rules ? find_needed(j, file, &name, &ignored) : 0;
	struct judged_bytes bytes = {j, promotion_file_tested(file, &name)};
	if (needed && fn) {
		call_lacks(j, needed, &bytes, fn, ctx);
		call_lacks(j, find_elsewhere(j, file, &name, 0), &bytes, fn, ctx);
	}
	return needed || !j->rules.rules;
}
