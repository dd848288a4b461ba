// SPDX-License-Identifier: Apache-2.0
#include "builder/missing/wanted-cells.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/search.h"
#include "lib/state/store/retired.h"

// What a branch wants on some platforms whose wants are the same.
struct wanted_list {
	size_t branch;
	const char *arch;
	struct python python;
	struct branch_want *want; // owned
	size_t count;
};

struct collecting {
	struct wanted_cells *to;
	const struct branches *branches;
	const struct store *store;
	const struct missing_options *options;
};

// --- the environments ---

static bool any_branch_has(const struct collecting *x, const char *platform, const struct python *python)
{
	for (size_t i = 0; i < x->branches->count; i++)
		if (branch_has_platform(&x->branches->branch[i], platform) &&
			(!python || branch_has_python(&x->branches->branch[i], python)))
			return true;
	return false;
}

static void add_places(struct collecting *x, const struct platform *p)
{
	for (size_t i = 0; i < p->profile.environment_count; i++) {
		const struct environment *env = &p->profile.environment[i];
		CLEANUP(buf_release) struct buf python = buf_up_to(LIMIT_FILE_NAME);
		python_print(&env->python, &python);
		if ((!x->options->python || strcmp(python.data, x->options->python) == 0) &&
			any_branch_has(x, p->name, &env->python))
			fits_add(&x->to->fits, p, &p->profile.machine, env);
	}
}

static int choose_environments(struct collecting *x, struct err *e)
{
	for (size_t i = 0; i < x->store->platform_count; i++) {
		const struct platform *p = &x->store->platform[i];
		if (!store_is_wanted(x->options->platform, x->options->platforms, p->name) ||
			!any_branch_has(x, p->name, NULL) || (retired_is(p) && !x->options->has_retired))
			continue;
		if (!p->profile.environment_count)
			return err_set(e, ERR_USAGE,
				"platform %s: its Pythons are unknown; [platform %s] pythons, arch "
				"and libc name them",
				p->name, p->name);
		add_places(x, p);
	}
	if (x->to->fits.places)
		return 0;
	if (retired_refuse(x->store, x->options->platform, x->options->platforms, e) < 0)
		return -1;
	return err_set(e, ERR_USAGE, "no branch has such a platform and Python");
}

// --- the wants ---

static bool is_same_python(const struct python *a, const struct python *b)
{
	return a->is_pypy == b->is_pypy && a->is_free_threaded == b->is_free_threaded && a->major == b->major &&
	       a->minor == b->minor;
}

// Markers tell platforms apart only by their architecture, so most wants are read once for several platforms.
static int find_wants(struct collecting *x, size_t branch, const struct fits_place *place, size_t *at, struct err *e)
{
	const struct machine *machine = place->machine;
	const struct python *python = &place->environment->python;
	for (*at = 0; *at < x->to->lists; (*at)++) {
		const struct wanted_list *w = &x->to->list[*at];
		if (w->branch == branch && strcmp(w->arch, machine->arch) == 0 && is_same_python(&w->python, python))
			return 0;
	}
	struct wanted_list w = {.branch = branch, .arch = machine->arch, .python = *python};
	if (branch_wants(&x->branches->branch[branch], machine, python, &x->to->text, &w.want, &w.count, e) < 0)
		return -1;
	GROW(x->to->list, x->to->lists, x->to->list_room);
	x->to->list[x->to->lists++] = w;
	return 0;
}

static int add_cells(struct collecting *x, size_t place, size_t branch, struct err *e)
{
	const struct branch *b = &x->branches->branch[branch];
	const struct fits_place *p = &x->to->fits.place[place];
	size_t at;
	if (!branch_has_platform(b, p->platform->name) || !branch_has_python(b, &p->environment->python))
		return 0;
	if (find_wants(x, branch, p, &at, e) < 0)
		return -1;
	for (size_t i = 0; i < x->to->list[at].count; i++) {
		GROW(x->to->cell, x->to->cells, x->to->cell_room);
		x->to->cell[x->to->cells++] = (struct wanted_cell){&x->to->list[at].want[i], place, branch};
	}
	return 0;
}

static int compare_cells(const void *a, const void *b)
{
	const struct wanted_cell *left = a, *right = b;
	int order = strcmp(left->want->project, right->want->project);
	if (order == 0)
		order = (left->place > right->place) - (left->place < right->place);
	if (order == 0)
		order = (left->branch > right->branch) - (left->branch < right->branch);
	return order ? order : (left->want > right->want) - (left->want < right->want);
}

int wanted_cells_collect(struct wanted_cells *w, const struct branches *branches, const struct store *store,
	const struct missing_options *options, struct err *e)
{
	struct collecting x = {w, branches, store, options};
	if (choose_environments(&x, e) < 0)
		return -1;
	for (size_t place = 0; place < x.to->fits.places; place++)
		for (size_t branch = 0; branch < x.branches->count; branch++)
			if (add_cells(&x, place, branch, e) < 0)
				return -1;
	if (x.to->cells)
		qsort(x.to->cell, x.to->cells, sizeof(*x.to->cell), compare_cells);
	const char *last = "";
	for (size_t i = 0; i < x.to->cells; i++) {
		const char *project = x.to->cell[i].want->project;
		if (!(x.to->cell[i].want->micros && !x.to->cell[i].want->has_url) || strcmp(project, last) == 0)
			continue;
		strset_add(&x.to->projects, project);
		last = project;
	}
	strset_sort(&x.to->projects);
	return 0;
}

void wanted_cells_release(struct wanted_cells *w)
{
	for (size_t i = 0; i < w->lists; i++)
		free(w->list[i].want);
	free(w->list);
	free(w->cell);
	fits_release(&w->fits);
	strset_release(&w->projects);
	arena_release(&w->text);
	*w = (struct wanted_cells){0};
}

static bool is_of_earlier_project(const void *cell, const void *project)
{
	return strcmp(((const struct wanted_cell *)cell)->want->project, project) < 0;
}

size_t wanted_cells_first(const struct wanted_cells *w, const char *project)
{
	return lower_bound(project, w->cell, w->cells, sizeof(*w->cell), is_of_earlier_project);
}
