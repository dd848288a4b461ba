// SPDX-License-Identifier: Apache-2.0
#include "promoter/needed-cells.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"

enum { TAG_SETS_MOST = 4096 };

// Takes the place of a platform without a profile: a wheel's platform tags are then not looked at.
static const struct machine any_machine = {.arch = "x86_64", .libc_major = 2, .libc_minor = 17};
#define ANY_MACHINE_TAG "linux_x86_64"

static const struct platform *find_cell_platform(const struct platform *const *platform, size_t platforms,
	const char *name)
{
	for (size_t i = 0; i < platforms; i++)
		if (strcmp(platform[i]->name, name) == 0)
			return platform[i];
	return NULL;
}

static void add_cell(struct needed_cells *n, const struct platform *p, const char *python_text,
	const struct python *python)
{
	bool is_blind = !p->profile.environment_count;
	n->cell[n->cells] = (struct promotion_cell){p->name, python_text};
	n->is_blind[n->cells] = is_blind;
	environment_init(&n->environment[n->cells], is_blind ? &any_machine : &p->profile.machine, python);
	fits_add(&n->fits, p, &p->profile.machine, &n->environment[n->cells]);
	n->cells++;
}

static int add_named_cells(struct needed_cells *n, const struct promotion_rules *rules,
	const struct platform *const *platform, size_t platforms, struct err *e)
{
	for (size_t i = 0; i < rules->cells; i++) {
		const struct promotion_cell *c = &rules->cell[i];
		const struct platform *p = find_cell_platform(platform, platforms, c->platform);
		struct python python;
		if (!p)
			return err_set(e, ERR_USAGE, "cells: the view has no platform %s", c->platform);
		if (python_parse(str_from(c->python), &python, e) < 0) {
			e->kind = ERR_USAGE;
			return err_prefix(e, "cells: ");
		}
		add_cell(n, p, c->python, &python);
	}
	return 0;
}

static void add_environments(struct needed_cells *n, const struct platform *p)
{
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, LIMIT_EVIDENCE_KIND);
	for (size_t i = 0; i < p->profile.environment_count; i++) {
		const struct python *python = &p->profile.environment[i].python;
		buf_clear(&text);
		python_print(python, &text);
		add_cell(n, p, arena_copy(&n->text, buf_view(&text)), python);
	}
}

static size_t count_cells(const struct promotion_rules *rules, const struct platform *const *platform, size_t platforms)
{
	size_t count = rules->cells;
	for (size_t i = 0; i < platforms && !rules->cells; i++)
		count += platform[i]->profile.environment_count;
	return count;
}

int needed_cells_init(struct needed_cells *out, const struct promotion_rules *rules,
	const struct platform *const *platform, size_t platforms, struct err *e)
{
	size_t room = count_cells(rules, platform, platforms) + 1;
	*out = (struct needed_cells){.cell = xcalloc(room, sizeof(*out->cell)),
		.environment = xcalloc(room, sizeof(*out->environment)),
		.is_blind = xcalloc(room, sizeof(*out->is_blind))};
	for (size_t i = 0; i < platforms && !rules->cells; i++)
		add_environments(out, platform[i]);
	int result = add_named_cells(out, rules, platform, platforms, e);
	if (result < 0)
		needed_cells_release(out);
	return result;
}

void needed_cells_release(struct needed_cells *n)
{
	fits_release(&n->fits);
	for (size_t i = 0; i < n->cells; i++)
		environment_release(&n->environment[i]);
	free(n->environment);
	free(n->is_blind);
	free(n->cell);
	arena_release(&n->text);
	*n = (struct needed_cells){0};
}

// Whether one of its platform tags is "any".
static bool is_for_any_platform(const struct filename *wheel)
{
	for (struct str rest = wheel->platform; rest.ptr;)
		if (str_eq_nocase(str_cut(&rest, '.'), STR("any")))
			return true;
	return false;
}

// The tag set of a wheel in which any_machine stands for its platform.
static unsigned blind_tags(struct needed_cells *n, const struct filename *wheel)
{
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, LIMIT_FILE_NAME + sizeof(ANY_MACHINE_TAG) + 2);
	buf_printf(&text, STR_FMT "-" STR_FMT "-" ANY_MACHINE_TAG, STR_ARG(wheel->python), STR_ARG(wheel->abi));
	struct str rest = buf_view(&text);
	struct filename blind = {.kind = FILENAME_WHEEL, .python = str_cut(&rest, '-')};
	blind.abi = str_cut(&rest, '-');
	blind.platform = rest;
	return fits_tags(&n->fits, &blind);
}

size_t needed_cells_of(struct needed_cells *n, const char *platform, const struct filename *wheel,
	const char *requires_python, struct promotion_cell *out)
{
	bool is_for_any = is_for_any_platform(wheel);
	fits_trim(&n->fits, TAG_SETS_MOST);
	unsigned tags = fits_tags(&n->fits, wheel), blind = is_for_any ? tags : blind_tags(n, wheel);
	unsigned python = fits_python(&n->fits, requires_python);
	size_t count = 0;
	for (size_t i = 0; i < n->cells; i++)
		if ((is_for_any || strcmp(n->cell[i].platform, platform) == 0) &&
			fits_rank(&n->fits, n->is_blind[i] ? blind : tags, i) >= 0 && fits_micros(&n->fits, python, i))
			out[count++] = n->cell[i];
	return count;
}

long needed_cells_rank(struct needed_cells *n, const struct filename *wheel, const char *requires_python, size_t cell)
{
	fits_trim(&n->fits, TAG_SETS_MOST);
	unsigned tags = fits_tags(&n->fits, wheel), python = fits_python(&n->fits, requires_python);
	return !n->is_blind[cell] && fits_micros(&n->fits, python, cell) ? fits_rank(&n->fits, tags, cell) : -1;
}

size_t needed_cells_elsewhere(struct needed_cells *n, const char *platform, const struct filename *wheel,
	const char *requires_python, needed_cells_covers_fn *covers, void *ctx, struct promotion_cell *out)
{
	size_t count = 0;
	for (size_t i = 0; i < n->cells && !is_for_any_platform(wheel); i++) {
		long rank = strcmp(n->cell[i].platform, platform) == 0
				    ? -1
				    : needed_cells_rank(n, wheel, requires_python, i);
		if (rank >= 0 && !covers(ctx, i, rank))
			out[count++] = n->cell[i];
	}
	return count;
}
