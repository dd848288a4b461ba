// SPDX-License-Identifier: Apache-2.0
#include "promoter/promotion-judge.h"

#include <stdlib.h>

#include "lib/base/limits.h"

int promotion_judge_init(struct promotion_judge *out, const char *requires, const char *cells,
	const struct platform *const *platform, size_t platforms, int64_t now, promotion_judge_find_fn *find, void *ctx,
	struct err *e)
{
	*out = (struct promotion_judge){.now = now, .find = find, .ctx = ctx};
	if (promotion_rules_read(requires, cells, &out->rules, e) < 0)
		return -1;
	if (needed_cells_init(&out->cells, &out->rules, platform, platforms, e) < 0) {
		promotion_rules_release(&out->rules);
		return -1;
	}
	out->needed = xcalloc(out->cells.cells + 1, sizeof(*out->needed));
	return 0;
}

void promotion_judge_release(struct promotion_judge *j)
{
	needed_cells_release(&j->cells);
	promotion_rules_release(&j->rules);
	free(j->needed);
	*j = (struct promotion_judge){0};
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
	size_t needed = needed_cells_of(&j->cells, file->platform, name, file->requires_python, j->needed);
	if (!j->cells.cells)
		buf_puts(why, "the view has no cells, because the Pythons of its platforms are unknown");
	else if (!needed)
		buf_puts(why, "it installs in none of the cells of the view, so that nothing can show that it works");
	return needed;
}

size_t promotion_judge_cells(struct promotion_judge *j, const struct promotion_file *file)
{
	CLEANUP(filename_release) struct filename name = {0};
	CLEANUP(buf_release) struct buf ignored;
	buf_init(&ignored, LIMIT_REASON);
	return find_needed(j, file, &name, &ignored);
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

// The file as records know it. Borrowed from both.
static struct catalog_tested wheel_of(const struct promotion_file *file, const struct filename *name)
{
	return (struct catalog_tested){.project = name->project,
		.sha256 = file->sha256,
		.version = name->version.key,
		.filename = file->filename,
		.platform = file->platform};
}

// Writes the cells of other platforms in which pip would take the wheel to j->needed.
static size_t find_elsewhere(struct promotion_judge *j, const struct promotion_file *file, const struct filename *name)
{
	return file->covers ? needed_cells_elsewhere(&j->cells, file->platform, name, file->requires_python,
				      file->covers, file->covers_ctx, j->needed)
			    : 0;
}

bool promotion_judge_allows(struct promotion_judge *j, const struct promotion_file *file, struct buf *why)
{
	CLEANUP(filename_release) struct filename name = {0};
	if (!j->rules.rules)
		return true;
	size_t needed = find_needed(j, file, &name, why);
	struct judged_bytes bytes = {j, wheel_of(file, &name)};
	if (!needed || !promotion_is_allowed(&j->rules, j->needed, needed, j->now, find_of_file, &bytes, why))
		return false;
	needed = find_elsewhere(j, file, &name);
	if (!needed || promotion_is_allowed(&j->rules, j->needed, needed, j->now, find_of_file, &bytes, why))
		return true;
	buf_puts(why, "; pip would take the wheel there, because the view has no better one of that platform");
	return false;
}

static void call_lacks(struct promotion_judge *j, size_t needed, struct judged_bytes *bytes, promotion_judge_lack_fn *fn,
	void *ctx)
{
	CLEANUP(buf_release) struct buf ignored;
	buf_init(&ignored, LIMIT_REASON);
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
	CLEANUP(buf_release) struct buf ignored;
	buf_init(&ignored, LIMIT_REASON);
	size_t needed = j->rules.rules ? find_needed(j, file, &name, &ignored) : 0;
	struct judged_bytes bytes = {j, wheel_of(file, &name)};
	call_lacks(j, needed, &bytes, fn, ctx);
	if (needed)
		call_lacks(j, find_elsewhere(j, file, &name), &bytes, fn, ctx);
	return needed || !j->rules.rules;
}
