// SPDX-License-Identifier: Apache-2.0
// Makes a struct missing: chooses environments, reads wants, asks upstream, and decides project by project.
#include "lib/missing/missing.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/strset.h"
#include "lib/missing/branch.h"
#include "lib/missing/missing-rows.h"
#include "lib/os/clock.h"
#include "lib/state/catalog/catalog-write.h"
#include "lib/state/upstream/upstream.h"

// One of the environments.
struct make_place {
	const struct platform *platform;
	const struct environment *environment;
};

// What a branch wants on some platforms whose wants are the same.
struct make_wants {
	size_t branch;
	const char *arch;
	struct python python;
	struct branch_want *want; // owned
	size_t count;
};

// A want in one environment.
struct make_cell {
	const struct branch_want *want;
	size_t place, branch;
};

struct make {
	const struct config *config;
	const struct store *store;
	struct catalog *catalog; // for writing what upstream answers
	struct catalog *reader;  // one read transaction, for all decisions
	const struct missing_options *options;
	struct missing *out;
	struct branches branches;
	struct upstream *upstream;
	struct cell_rules rules;
	struct make_place *place;
	size_t places;
	struct make_wants *wants;
	size_t want_count, want_room;
	struct make_cell *cell; // sorted by project, place, branch
	size_t cells, cell_room;
	struct strset projects; // wanted ones
	const struct environment **environment;
	struct fits fits;
	struct missing_rows rows;
	struct arena text;
	uint64_t asked, failed; // look-ups
	const char *project;    // that is being decided
	bool is_hidden;         // its rows
};

// --- the environments ---

static bool any_branch_has(const struct make *x, const char *platform, const struct python *python)
{
	for (size_t i = 0; i < x->branches.count; i++)
		if (branch_has_platform(&x->branches.branch[i], platform) &&
			(!python || branch_has_python(&x->branches.branch[i], python)))
			return true;
	return false;
}

static void add_place(struct make *x, const struct platform *p, const struct environment *env, size_t *room)
{
	CLEANUP(buf_release) struct buf python;
	buf_init(&python, LIMIT_FILE_NAME);
	python_print(&env->python, &python);
	if (x->options->python && strcmp(python.data, x->options->python) != 0)
		return;
	if (!any_branch_has(x, p->name, &env->python))
		return;
	struct missing *out = x->out;
	if (x->places == *room) {
		*room = *room ? 2 * *room : 16;
		x->place = xreallocarray(x->place, *room, sizeof(*x->place));
		out->environment = xreallocarray(out->environment, *room, sizeof(*out->environment));
	}
	x->place[x->places++] = (struct make_place){p, env};
	out->environment[out->environments++] = (struct missing_environment){
		.platform = arena_copy(&out->text, str_from(p->name)),
		.python = arena_copy(&out->text, buf_view(&python)),
	};
}

static int choose_environments(struct make *x, struct err *e)
{
	size_t room = 0;
	for (size_t i = 0; i < x->store->platform_count; i++) {
		const struct platform *p = &x->store->platform[i];
		if (!store_is_wanted(x->options->platform, x->options->platforms, p->name) ||
			!any_branch_has(x, p->name, NULL))
			continue;
		if (!p->profile.environment_count)
			return err_set(e, ERR_USAGE,
				"platform %s: its Pythons are unknown; [platform %s] pythons, arch "
				"and libc name them",
				p->name, p->name);
		for (size_t k = 0; k < p->profile.environment_count; k++)
			add_place(x, p, &p->profile.environment[k], &room);
	}
	if (!x->places)
		return err_set(e, ERR_USAGE, "no branch has such a platform and Python");
	return 0;
}

static void list_branches(struct make *x)
{
	struct missing *out = x->out;
	out->branch = xcalloc(x->branches.count + 1, sizeof(*out->branch));
	for (; out->branches < x->branches.count; out->branches++) {
		const struct branch *b = &x->branches.branch[out->branches];
		out->branch[out->branches] = (struct missing_branch){
			.name = arena_copy(&out->text, str_from(b->name)),
			.until = b->config->until ? arena_copy(&out->text, str_from(b->config->until)) : NULL,
			.is_over = b->is_over,
		};
	}
}

// --- the wants ---

static bool is_same_python(const struct python *a, const struct python *b)
{
	return a->is_pypy == b->is_pypy && a->is_free_threaded == b->is_free_threaded && a->major == b->major &&
	       a->minor == b->minor;
}

// Markers tell platforms apart only by their architecture, so most wants are read once for several platforms.
static int find_wants(struct make *x, size_t branch, const struct make_place *place, size_t *at, struct err *e)
{
	const struct machine *machine = &place->platform->profile.machine;
	const struct python *python = &place->environment->python;
	for (*at = 0; *at < x->want_count; (*at)++) {
		const struct make_wants *w = &x->wants[*at];
		if (w->branch == branch && strcmp(w->arch, machine->arch) == 0 && is_same_python(&w->python, python))
			return 0;
	}
	struct make_wants w = {.branch = branch, .arch = machine->arch, .python = *python};
	if (branch_wants(&x->branches.branch[branch], machine, python, &x->text, &w.want, &w.count, e) < 0)
		return -1;
	GROW(x->wants, x->want_count, x->want_room);
	x->wants[x->want_count++] = w;
	return 0;
}

static int add_cells(struct make *x, size_t place, size_t branch, struct err *e)
{
	const struct branch *b = &x->branches.branch[branch];
	const struct make_place *p = &x->place[place];
	size_t at;
	if (!branch_has_platform(b, p->platform->name) || !branch_has_python(b, &p->environment->python))
		return 0;
	if (find_wants(x, branch, p, &at, e) < 0)
		return -1;
	for (size_t i = 0; i < x->wants[at].count; i++) {
		GROW(x->cell, x->cells, x->cell_room);
		x->cell[x->cells++] = (struct make_cell){&x->wants[at].want[i], place, branch};
	}
	return 0;
}

static int compare_cells(const void *a, const void *b)
{
	const struct make_cell *left = a, *right = b;
	int order = strcmp(left->want->project, right->want->project);
	if (order == 0)
		order = (left->place > right->place) - (left->place < right->place);
	if (order == 0)
		order = (left->branch > right->branch) - (left->branch < right->branch);
	return order ? order : (left->want > right->want) - (left->want < right->want);
}

static bool is_of_index(const struct branch_want *w)
{
	return w->micros && !w->has_url;
}

static int collect_wants(struct make *x, struct err *e)
{
	for (size_t place = 0; place < x->places; place++)
		for (size_t branch = 0; branch < x->branches.count; branch++)
			if (add_cells(x, place, branch, e) < 0)
				return -1;
	if (x->cells)
		qsort(x->cell, x->cells, sizeof(*x->cell), compare_cells);
	const char *last = "";
	for (size_t i = 0; i < x->cells; i++) {
		const char *project = x->cell[i].want->project;
		if (!is_of_index(x->cell[i].want) || strcmp(project, last) == 0)
			continue;
		strset_add(&x->projects, project);
		last = project;
	}
	strset_sort(&x->projects);
	return 0;
}

// --- looking up ---

// What upstream answers is said in two sentences: whether it could tell, and why there is nothing.
struct answer_words {
	enum upstream_result result;
	const char *says;
};

static const struct answer_words certain[] = {
	{UPSTREAM_KNOWN, ""},
	{UPSTREAM_ABSENT, "upstream has no such project"},
	{UPSTREAM_NOT_FOUND, "upstream has no such project"},
	{UPSTREAM_QUARANTINED, "upstream has quarantined the project"},
	{UPSTREAM_PRIVATE, "upstream is not asked for it"},
};

static const struct answer_words *find_certain(const struct upstream_answer *a)
{
	for (size_t i = 0; i < ARRAY_SIZE(certain); i++)
		if (certain[i].result == a->result)
			return &certain[i];
	return NULL;
}

static int count_look_up(void *ctx, const struct upstream_answer *answer, struct err *e UNUSED)
{
	struct make *x = ctx;
	x->asked++;
	x->failed += !find_certain(answer);
	if (x->options->progress)
		x->options->progress(x->options->ctx, x->asked, x->projects.count, x->failed);
	return 0;
}

static int look_up_wanted(struct make *x, struct err *e)
{
	const char *const *names = (const char *const *)x->projects.item;
	if (x->options->is_offline)
		return 0;
	if (x->options->project)
		return upstream_lookup(x->upstream, x->catalog, &x->options->project,
			strset_has(&x->projects, x->options->project), count_look_up, x, e);
	return upstream_lookup(x->upstream, x->catalog, names, x->projects.count, count_look_up, x, e);
}

// --- one project ---

struct our_files {
	struct offers *offers;
	int64_t platform;
};

static int on_our_file(void *ctx, const struct catalog_file *file, struct err *e UNUSED)
{
	struct our_files *ours = ctx;
	offers_add_ours(ours->offers, ours->platform, file);
	return 0;
}

// Of all platforms, also those that are not asked about: a wheel there shows whether the project is pure Python.
static int add_our_files(struct make *x, struct offers *offers, struct err *e)
{
	for (size_t i = 0; i < x->store->platform_count; i++) {
		struct our_files ours = {offers, x->store->platform[i].id};
		if (ours.platform &&
			catalog_project_files(x->reader, ours.platform, offers->project, on_our_file, &ours, e) < 0)
			return -1;
	}
	return 0;
}

// The index of the first cell of the project.
static size_t first_cell(const struct make *x, const char *project)
{
	size_t low = 0, high = x->cells;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (strcmp(x->cell[middle].want->project, project) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int decide_cells(struct make *x, struct cell *cell, struct err *e)
{
	size_t i = first_cell(x, cell->project);
	while (i < x->cells && strcmp(x->cell[i].want->project, cell->project) == 0) {
		size_t place = x->cell[i].place;
		const struct make_place *p = &x->place[place];
		cell->platform = p->platform;
		cell->python = x->out->environment[place].python;
		cell->place = (struct nearest_place){
			place, p->platform->id, &p->platform->profile.machine, &p->environment->python};
		for (; i < x->cells && x->cell[i].place == place &&
			strcmp(x->cell[i].want->project, cell->project) == 0;
			i++)
			missing_rows_add(&x->rows, cell, x->out->branch[x->cell[i].branch].name, x->cell[i].want);
		if (missing_rows_end_cell(&x->rows, cell, place, x->is_hidden, e) < 0)
			return -1;
	}
	return 0;
}

static int decide_project(void *ctx, const struct upstream_answer *answer, struct err *e)
{
	struct make *x = ctx;
	const struct answer_words *words = find_certain(answer);
	CLEANUP(offers_release) struct offers offers;
	offers_init(&offers, x->project, &x->fits);
	if (answer->page && words)
		offers_add_page(&offers, answer->page);
	if (add_our_files(x, &offers, e) < 0)
		return -1;
	CLEANUP(mem_free)
	char *failure = xasprintf("upstream could not tell: %s%s%s", upstream_result_name[answer->result],
		answer->why && *answer->why ? ": " : "", answer->why ? answer->why : "");
	struct cell cell = {
		.rules = &x->rules,
		.offers = &offers,
		.project = x->project,
		.is_upstream_known = words != NULL,
		.upstream_says = words ? words->says : failure,
		.is_pure = cell_project_is_pure(&offers),
	};
	return decide_cells(x, &cell, e);
}

// A project that is wanted nowhere, or only by URL, has no facts.
static int decide_without_facts(struct make *x, struct err *e)
{
	CLEANUP(offers_release) struct offers none;
	offers_init(&none, x->project, &x->fits);
	struct cell cell = {.rules = &x->rules,
		.offers = &none,
		.project = x->project,
		.is_upstream_known = true,
		.upstream_says = ""};
	return decide_cells(x, &cell, e);
}

static int decide_one(struct make *x, const char *project, struct err *e)
{
	x->project = project;
	if (!strset_has(&x->projects, project))
		return decide_without_facts(x, e);
	return upstream_load_cached(x->upstream, x->reader, project, decide_project, x, e);
}

// --- all projects ---

static void add_awaited(void *ctx, struct str project)
{
	struct strset *names = ctx;
	CLEANUP(mem_free) char *name = xstrndup(project.ptr, project.len);
	strset_add(names, name);
}

static void release_names(struct strset *names)
{
	strset_release(names);
}

// The rows of one project. What they await is decided too, but not shown.
static int decide_chosen(struct make *x, struct err *e)
{
	CLEANUP(release_names) struct strset awaited = {0};
	if (decide_one(x, x->options->project, e) < 0)
		return -1;
	missing_rows_awaited(&x->rows, add_awaited, &awaited);
	strset_sort(&awaited);
	x->is_hidden = true;
	for (size_t i = 0; i < awaited.count; i++)
		if (strcmp(awaited.item[i], x->options->project) != 0 && decide_one(x, awaited.item[i], e) < 0)
			return -1;
	return 0;
}

static int decide_projects(struct make *x, struct err *e)
{
	if (x->options->project)
		return decide_chosen(x, e);
	for (size_t i = 0; i < x->cells;) {
		const char *project = x->cell[i].want->project;
		if (decide_one(x, project, e) < 0)
			return -1;
		while (i < x->cells && strcmp(x->cell[i].want->project, project) == 0)
			i++;
	}
	return 0;
}

static int read_removed_wheels(struct make *x, struct err *e)
{
	int64_t last = 0;
	for (size_t i = 0; i < x->places; i++) {
		int64_t platform = x->place[i].platform->id;
		if (platform == last || !platform)
			continue;
		last = platform;
		if (removed_wheels_read(&x->rules.removed, x->reader, platform, &x->projects, &x->fits, e) < 0)
			return -1;
	}
	removed_wheels_sort(&x->rules.removed);
	return 0;
}

// Reads in one transaction, so that no file comes twice or never while others write.
static int decide_all(struct make *x, struct err *e)
{
	if (catalog_open_read(catalog_path(x->catalog), &x->reader, e) < 0 || catalog_enlarge_cache(x->reader, e) < 0 ||
		catalog_read_begin(x->reader, e) < 0)
		return -1;
	CLEANUP(catalog_read_end) struct catalog *snapshot = x->reader;
	x->rules.catalog = snapshot;
	x->environment = xcalloc(x->places + 1, sizeof(*x->environment));
	for (size_t i = 0; i < x->places; i++)
		x->environment[i] = x->place[i].environment;
	fits_init(&x->fits, x->environment, x->places);
	if (read_removed_wheels(x, e) < 0 || decide_projects(x, e) < 0)
		return -1;
	missing_rows_finish(&x->rows);
	return 0;
}

static void make_release(struct make *x)
{
	missing_rows_release(&x->rows);
	fits_release(&x->fits);
	cell_rules_release(&x->rules);
	for (size_t i = 0; i < x->want_count; i++)
		free(x->wants[i].want);
	free(x->wants);
	free(x->cell);
	free(x->place);
	free(x->environment);
	strset_release(&x->projects);
	upstream_free(x->upstream);
	catalog_close(x->reader);
	branches_release(&x->branches);
	arena_release(&x->text);
}

static int make_all(struct make *x, struct results *results, struct err *e)
{
	if (!x->config->branch_count)
		return err_set(e, ERR_USAGE, "the configuration has no [branch]");
	if (branches_read(x->config, x->options->branch, x->out->made, &x->branches, e) < 0)
		return -1;
	list_branches(x);
	if (cell_rules_init(&x->rules, x->config, e) < 0 || choose_environments(x, e) < 0)
		return -1;
	x->rules.wants_pure = x->options->wants_pure;
	x->rules.results = results;
	x->rules.now = x->out->made;
	if (upstream_new(x->config, &x->upstream, e) < 0 || collect_wants(x, e) < 0 || look_up_wanted(x, e) < 0)
		return -1;
	return decide_all(x, e);
}

int missing_make(const struct config *c, const struct store *store, struct catalog *catalog, struct results *results,
	const struct missing_options *options, struct missing *out, struct err *e)
{
	*out = (struct missing){.made = clock_wall_seconds()};
	CLEANUP(make_release)
	struct make x = {
		.config = c,
		.store = store,
		.catalog = catalog,
		.options = options,
		.out = out,
		.rows = {.out = out, .wants_all = options->wants_all},
	};
	if (make_all(&x, results, e) == 0)
		return 0;
	missing_release(out);
	return -1;
}
