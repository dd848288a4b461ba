// SPDX-License-Identifier: Apache-2.0
// Makes a struct missing: chooses environments, reads wants, asks upstream, and decides project by project.
#include "builder/missing/missing.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/strset.h"
#include "builder/missing/branch.h"
#include "builder/missing/missing-rows.h"
#include "auditor/rebuild/rebuild-set.h"
#include "builder/missing/wanted-cells.h"
#include "lib/os/clock.h"
#include "lib/state/catalog/catalog-view.h"
#include "lib/state/catalog/catalog-write.h"
#include "lib/state/upstream/upstream.h"

enum { KEPT_TEXTS = 100000 }; // tag sets, and texts of Requires-Python, that are kept from project to project

struct make {
	const struct config *config;
	const struct store *store;
	struct catalog *catalog; // for writing what upstream answers
	struct catalog *reader;  // one read transaction, for all decisions; offline the same connection
	const struct missing_options *options;
	struct missing *out;
	struct branches branches;
	struct upstream *upstream;
	struct cell_rules rules;
	struct wanted_cells wanted;
	const struct environment **environment;
	struct fits fits, removed_fits; // of files; of removed wheels
	struct missing_rows rows;
	uint64_t asked, failed; // look-ups
	const char *project;    // that is being decided
	bool is_hidden;         // its rows
};

// --- the head of the result ---

static void list_files(struct arena *text, const struct branch *b, struct missing_branch *out)
{
	struct missing_file *file = arena_alloc_aligned(text, (b->files + 1) * sizeof(*file));
	for (size_t i = 0; i < b->files; i++) {
		char hex[SHA256_HEX + 1] = "";
		const char *path = b->file[i].path, *slash = strrchr(path, '/');
		hex_encode(b->file[i].sha256, SHA256_SIZE, hex);
		file[i] = (struct missing_file){
			.name = arena_copy(text, str_from(slash ? slash + 1 : path)),
			.kind = b->file[i].is_constraints ? "constraints" : "requirements",
			.sha256 = arena_copy(text, str_from(hex)),
		};
	}
	out->file = file;
	out->files = b->files;
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
		list_files(&out->text, b, &out->branch[out->branches]);
	}
}

static void list_environments(struct make *x)
{
	struct missing *out = x->out;
	out->environment = xcalloc(x->wanted.places + 1, sizeof(*out->environment));
	for (; out->environments < x->wanted.places; out->environments++) {
		const struct wanted_place *p = &x->wanted.place[out->environments];
		CLEANUP(buf_release) struct buf python;
		buf_init(&python, LIMIT_FILE_NAME);
		python_print(&p->environment->python, &python);
		out->environment[out->environments] = (struct missing_environment){
			.platform = arena_copy(&out->text, str_from(p->platform->name)),
			.python = arena_copy(&out->text, buf_view(&python)),
		};
	}
}

// What no scan has read may be in the store, and must not be taken for missing.
static int check_scanned(struct make *x, struct err *e)
{
	for (size_t i = 0; i < x->wanted.places; i++) {
		const struct platform *p = x->wanted.place[i].platform;
		enum catalog_scanned scanned = CATALOG_NOT_TRIED;
		if (p->id && catalog_platform_scanned(x->catalog, p->id, &scanned, e) < 0)
			return -1;
		if (scanned != CATALOG_SCANNED)
			return err_set(e, ERR_NOT_FOUND,
				"platform %s: no scan has read it yet: run wheelcache index first", p->name);
	}
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
	{UPSTREAM_PRIVATE, "upstream's files do not count"},
};

static const struct answer_words *find_certain(const struct upstream_answer *a)
{
	for (size_t i = 0; i < ARRAY_SIZE(certain); i++)
		if (certain[i].result == a->result)
			return &certain[i];
	return NULL;
}

// The caller frees the words.
static char *words_of(const struct upstream_answer *a, const struct answer_words *words)
{
	bool has_why = a->why && *a->why;
	if (!words)
		return xasprintf("upstream could not tell: %s%s%s", upstream_result_name[a->result],
			has_why ? ": " : "", has_why ? a->why : "");
	if (a->result != UPSTREAM_PRIVATE || !has_why)
		return xstrdup(words->says);
	return xasprintf("%s: %s", words->says, a->why);
}

static int count_look_up(void *ctx, const struct upstream_answer *answer, struct err *e UNUSED)
{
	struct make *x = ctx;
	x->asked++;
	x->failed += !find_certain(answer);
	if (x->options->progress)
		x->options->progress(x->options->ctx, x->asked, x->wanted.projects.count, x->failed);
	return 0;
}

static int look_up_wanted(struct make *x, struct err *e)
{
	const char *const *names = (const char *const *)x->wanted.projects.item;
	if (x->options->is_offline)
		return 0;
	if (x->options->project)
		return upstream_lookup(x->upstream, x->catalog, &x->options->project,
			strset_has(&x->wanted.projects, x->options->project), count_look_up, x, e);
	return upstream_lookup(x->upstream, x->catalog, names, x->wanted.projects.count, count_look_up, x, e);
}

// --- one project ---

struct our_files {
	struct make *make;
	struct offers *offers;
	const struct platform *platform;
};

// 1: the view that is asked about shows the file, or none is.
static int is_promoted(struct make *x, int64_t platform, const struct catalog_file *file, struct err *e)
{
	if (!x->options->view)
		return 1;
	return catalog_view_has(x->reader, x->options->view, GENERATION_NEWEST, platform, file->filename, file->sha256,
		e);
}

static int check_cpu(const struct make *x, struct err *e)
{
	if (!x->options->cpu_end || clock_thread_ms() <= x->options->cpu_end)
		return 0;
	return err_set(e, ERR_BUSY, "the decision took too long: ask for one project, or send fewer rows");
}

static int on_our_file(void *ctx, const struct catalog_file *file, struct err *e)
{
	struct our_files *ours = ctx;
	const struct platform *p = ours->platform;
	if (check_cpu(ours->make, e) < 0)
		return -1;
	if (rebuild_set_has(ours->make->options->rebuild, p->name, ours->offers->project, file->filename))
		return 0;
	int result = is_promoted(ours->make, p->id, file, e);
	if (result >= 0)
		offers_add_ours(ours->offers, p->id, file, result);
	return result < 0 ? -1 : 0;
}

// Of all platforms, also those that are not asked about: a wheel there shows whether the project is pure Python.
static int add_our_files(struct make *x, struct offers *offers, struct err *e)
{
	for (size_t i = 0; i < x->store->platform_count; i++) {
		struct our_files ours = {x, offers, &x->store->platform[i]};
		if (ours.platform->id &&
			catalog_project_files(x->reader, ours.platform->id, offers->project, on_our_file, &ours, e) < 0)
			return -1;
	}
	return 0;
}

static int decide_cells(struct make *x, struct cell *cell, struct err *e)
{
	size_t i = wanted_cells_first(&x->wanted, cell->project);
	while (i < x->wanted.cells && strcmp(x->wanted.cell[i].want->project, cell->project) == 0) {
		size_t place = x->wanted.cell[i].place;
		const struct wanted_place *p = &x->wanted.place[place];
		cell->platform = p->platform;
		cell->python = x->out->environment[place].python;
		cell->place = (struct nearest_place){
			place, p->platform->id, &p->platform->profile.machine, &p->environment->python};
		for (; i < x->wanted.cells && x->wanted.cell[i].place == place &&
			strcmp(x->wanted.cell[i].want->project, cell->project) == 0;
			i++)
			missing_rows_add(&x->rows, cell, x->out->branch[x->wanted.cell[i].branch].name,
				x->wanted.cell[i].want);
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
	fits_trim(&x->fits, KEPT_TEXTS);
	offers_init(&offers, x->project, &x->fits);
	if (answer->page && words)
		offers_add_page(&offers, answer->page);
	if (add_our_files(x, &offers, e) < 0)
		return -1;
	CLEANUP(mem_free) char *says = words_of(answer, words);
	struct cell cell = {
		.rules = &x->rules,
		.offers = &offers,
		.project = x->project,
		.is_upstream_known = words != NULL,
		.upstream_says = says,
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
	if (check_cpu(x, e) < 0)
		return -1;
	if (!strset_has(&x->wanted.projects, project))
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

// The rows of one project. What they await is decided too, but not shown.
static int decide_chosen(struct make *x, struct err *e)
{
	CLEANUP(strset_release) struct strset awaited = {0};
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
	for (size_t i = 0; i < x->wanted.cells;) {
		const char *project = x->wanted.cell[i].want->project;
		if (decide_one(x, project, e) < 0)
			return -1;
		while (i < x->wanted.cells && strcmp(x->wanted.cell[i].want->project, project) == 0)
			i++;
	}
	return 0;
}

static int read_removed_wheels(struct make *x, struct err *e)
{
	int64_t last = 0;
	for (size_t i = 0; i < x->wanted.places; i++) {
		int64_t platform = x->wanted.place[i].platform->id;
		if (platform == last || !platform)
			continue;
		last = platform;
		if (removed_wheels_read(&x->rules.removed, x->reader, platform, &x->wanted.projects, &x->removed_fits,
			    e) < 0)
			return -1;
	}
	removed_wheels_sort(&x->rules.removed);
	return 0;
}

// A command that asks upstream writes to its connection, so it reads with another one.
static int open_reader(struct make *x, struct err *e)
{
	if (x->options->is_offline) {
		x->reader = x->catalog;
		return 0;
	}
	if (catalog_open_read(catalog_path(x->catalog), &x->reader, e) < 0)
		return -1;
	return catalog_enlarge_cache(x->reader, e);
}

// A membership of which nothing is known must not be taken for an empty one.
static int check_view(struct make *x, struct err *e)
{
	struct catalog_view v;
	if (!x->options->view)
		return 0;
	if (catalog_view_find(x->reader, x->options->view, &v, e) < 0)
		return -1;
	return v.is_damaged && !v.generation
		       ? err_set(e, ERR_NOT_FOUND, "view %s: its membership is not known: run wheelcache index first",
				 x->options->view)
		       : 0;
}

static void start_fits(struct make *x)
{
	x->environment = xcalloc(x->wanted.places + 1, sizeof(*x->environment));
	for (size_t i = 0; i < x->wanted.places; i++)
		x->environment[i] = x->wanted.place[i].environment;
	fits_init(&x->fits, x->environment, x->wanted.places);
	fits_init(&x->removed_fits, x->environment, x->wanted.places);
	x->rules.removed_fits = &x->removed_fits;
}

// Reads in one transaction, so that no file comes twice or never while others write.
static int decide_all(struct make *x, struct err *e)
{
	if (open_reader(x, e) < 0 || catalog_read_begin(x->reader, e) < 0)
		return -1;
	CLEANUP(catalog_read_end) struct catalog *snapshot = x->reader;
	x->rules.catalog = snapshot;
	start_fits(x);
	if (check_view(x, e) < 0 || read_removed_wheels(x, e) < 0 || decide_projects(x, e) < 0)
		return -1;
	missing_rows_finish(&x->rows);
	return catalog_is_current(snapshot, e);
}

static void make_release(struct make *x)
{
	missing_rows_release(&x->rows);
	fits_release(&x->fits);
	fits_release(&x->removed_fits);
	cell_rules_release(&x->rules);
	free(x->environment);
	wanted_cells_release(&x->wanted);
	upstream_free(x->upstream);
	if (!x->options->is_offline)
		catalog_close(x->reader);
	branches_release(&x->branches);
}

static int make_all(struct make *x, struct results *results, struct err *e)
{
	if (!x->config->branch_count)
		return err_set(e, ERR_USAGE,
			"the configuration has no [branch]; [branch NAME] with requirements or constraints says what is wanted");
	if (branches_read(x->config, x->options->branch, x->out->made, &x->branches, e) < 0)
		return -1;
	list_branches(x);
	if (cell_rules_init(&x->rules, x->config, e) < 0 ||
		wanted_cells_collect(&x->wanted, &x->branches, x->store, x->options, e) < 0)
		return -1;
	list_environments(x);
	if (check_scanned(x, e) < 0)
		return -1;
	x->rules.wants_pure = x->options->wants_pure;
	x->rules.rebuild = x->options->rebuild;
	x->rules.view = x->options->view;
	x->rules.results = results;
	x->rules.now = x->out->made;
	if (upstream_new(x->config, &x->upstream, e) < 0 || look_up_wanted(x, e) < 0)
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
