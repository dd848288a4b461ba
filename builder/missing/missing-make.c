// SPDX-License-Identifier: Apache-2.0
// Chooses environments, reads wants, asks upstream, and decides project by project, place by place.
#include "builder/missing/missing.h"

#include <stdlib.h>
#include <string.h>

#include "auditor/rebuild/rebuild-set.h"
#include "builder/missing/branch.h"
#include "builder/missing/cell.h"
#include "builder/missing/wanted-cells.h"
#include "lib/base/counted.h"
#include "lib/base/search.h"
#include "lib/base/strset.h"
#include "lib/domain/text/name.h"
#include "lib/os/clock.h"
#include "lib/state/catalog/catalog-view.h"
#include "lib/state/catalog/catalog-write.h"
#include "lib/state/results/results.h"
#include "lib/state/store/project-status.h"
#include "lib/state/upstream/rule-list.h"
#include "lib/state/upstream/upstream.h"

enum {
	WHY_MAX = 16 << 10,
	KEPT_TEXTS = 100000, // tag sets, and texts of Requires-Python, that are kept from project to project
};

// A row of the cell that is being decided: what several branches want, if it comes to the same.
struct open_row {
	struct cell_status status;
	const struct branch_want *want; // of its first branch
	uint64_t micros;
	const char **branch; // names; there is room for all branches, in the scratch memory
	size_t branches;
};

// A row that is kept.
struct kept_row {
	struct missing_row row;
	size_t environment, order; // order: of its creation
	const char *awaiting;      // build requirements that the last attempt lacked, with blanks between; NULL: none
	bool is_hidden;            // only to know what others await
};

struct make {
	const struct config *config;
	const struct store *store;
	struct catalog *catalog; // for writing what upstream answers
	struct catalog *reader;  // one read transaction, for all decisions; offline the same connection
	const struct missing_options *options;
	struct missing *out;
	struct branches branches;
	struct upstreams *upstreams;
	struct cell_rules rules;
	struct wanted_cells wanted;
	uint64_t asked, failed; // look-ups
	const char *project;    // that is being decided
	bool is_hidden;         // its rows
	struct arena scratch;   // of the project that is being decided
	struct open_row *open;  // of the cell that is being decided
	size_t opened, open_room;
	struct kept_row *kept;
	size_t count, room;
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
			.kind = b->file[i].kind,
			.sha256 = arena_copy(text, str_from(hex)),
		};
	}
	out->file = file;
	out->files = b->files;
}

static void list_environments(struct make *x)
{
	struct missing *out = x->out;
	out->environment = xcalloc(x->wanted.fits.places + 1, sizeof(*out->environment));
	for (; out->environments < x->wanted.fits.places; out->environments++) {
		const struct fits_place *p = &x->wanted.fits.place[out->environments];
		out->environment[out->environments] = (struct missing_environment){
			.platform = arena_copy(&out->text, str_from(p->platform->name)),
			.python = arena_copy(&out->text, str_from(p->python)),
		};
	}
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
		return upstream_lookup(x->upstreams, x->catalog, &x->options->project,
			strset_has(&x->wanted.projects, x->options->project), count_look_up, x, e);
	return upstream_lookup(x->upstreams, x->catalog, names, x->wanted.projects.count, count_look_up, x, e);
}

// --- the rows of a cell ---

static const char *copy_text(struct arena *a, const char *text)
{
	return text ? arena_copy(a, str_from(text)) : NULL;
}

// Without a version, an impossible want is told by its specifier.
static bool is_same_row(const struct open_row *row, const struct cell_status *s, const struct branch_want *want)
{
	if (row->status.status != s->status)
		return false;
	const char *a = row->status.version;
	const char *b = s->version;
	if (!(a && b ? strcmp(a, b) == 0 : a == b))
		return false;
	return s->version || s->status != WHEEL_IMPOSSIBLE || strcmp(row->want->specifier, want->specifier) == 0;
}

static struct open_row *find_or_open_row(struct make *x, const struct cell_status *s, const struct branch_want *want)
{
	for (size_t i = 0; i < x->opened; i++)
		if (is_same_row(&x->open[i], s, want))
			return &x->open[i];
	GROW(x->open, x->opened, x->open_room);
	struct open_row *row = &x->open[x->opened++];
	*row = (struct open_row){.status = *s,
		.want = want,
		.branch = arena_alloc_aligned(&x->scratch, x->branches.count * sizeof(*row->branch))};
	return row;
}

static void add_want(struct make *x, const struct cell *cell, const char *branch, const struct branch_want *want)
{
	struct cell_status s[RESOLVE_OUTCOMES];
	size_t count = cell_decide(cell, want, &x->out->text, s);
	for (size_t i = 0; i < count; i++) {
		struct open_row *row = find_or_open_row(x, &s[i], want);
		row->micros |= s[i].outcome.micros;
		if (!row->branches || strcmp(row->branch[row->branches - 1], branch) != 0)
			row->branch[row->branches++] = branch;
	}
}

static int compare_open_rows(const void *a, const void *b)
{
	const struct open_row *left = a, *right = b;
	const struct index_file *one = left->status.outcome.file, *other = right->status.outcome.file;
	int order = one && other ? version_cmp(&one->version, &other->version) : (one != NULL) - (other != NULL);
	if (order == 0 && left->status.version && right->status.version)
		order = strcmp(left->status.version, right->status.version);
	if (order == 0)
		order = (left->status.status > right->status.status) - (left->status.status < right->status.status);
	return order ? order : strcmp(left->want->specifier, right->want->specifier);
}

static void count_row(struct make *x, size_t environment, enum wheel_status status, int by)
{
	x->out->total[status] += (uint64_t)(int64_t)by;
	x->out->environment[environment].total[status] += (uint64_t)(int64_t)by;
}

static void put_attempts(const struct cell_rules *r, const struct results_history *h, struct arena *text,
	struct kept_row *kept)
{
	struct missing_row *row = &kept->row;
	row->attempts = (struct missing_attempts){
		.count = h->failures,
		.last = h->last,
		.retry = results_retry_time(r->config, h),
		.result = results_result_name[h->result],
		.step = copy_text(text, h->step),
		.recipe = copy_text(text, h->recipe),
	};
	if (h->awaiting && *h->awaiting)
		kept->awaiting = arena_copy(text, str_from(h->awaiting));
	if (row->attempts.retry && row->attempts.retry <= r->now)
		return;
	CLEANUP(buf_release) struct buf why = buf_up_to(WHY_MAX);
	char last[CLOCK_TEXT], retry[CLOCK_TEXT];
	clock_write(h->last, last);
	buf_printf(&why, "%s in step %s, last at %s, %s in a row", results_result_name[h->result],
		h->step ? h->step : "?", last, COUNTED(h->failures, "time|times"));
	if (row->attempts.retry) {
		clock_write(row->attempts.retry, retry);
		buf_printf(&why, ", to be tried again at %s", retry);
	} else {
		buf_puts(&why, ", not to be tried again by itself");
	}
	if (h->why && *h->why)
		buf_printf(&why, ": %s", h->why);
	row->status = WHEEL_FAILED;
	row->why = arena_copy(text, buf_view(&why));
}

// Upstream's files, those of the platform, and those that anyone may read.
static bool is_shown_file(const struct make *x, const struct cell *cell, const struct index_file *f)
{
	return !f->platform || f->platform == cell->platform->id || !store_platform(x->store, f->platform)->is_private;
}

static bool has_shown_file(const struct make *x, const struct cell *cell, struct index_files *all, const char *text)
{
	struct err ignored = ERR_INIT;
	CLEANUP(version_release) struct version version = {0};
	struct index_release r = {.end = all ? all->count : 0};
	if (r.end && text)
		r = version_parse(str_from(text), &version, &ignored) == 0 ? index_files_of_version(all, &version)
									    : (struct index_release){0};
	while (r.first < r.end && !is_shown_file(x, cell, &all->file[r.first]))
		r.first++;
	return r.first < r.end;
}

static int keep_row(struct make *x, const struct cell *cell, const struct open_row *open, struct kept_row *kept,
	struct err *e)
{
	const struct missing_environment *env = &x->out->environment[cell->place];
	const char **branch = arena_alloc_aligned(&x->out->text, (open->branches + 1) * sizeof(*branch));
	memcpy(branch, open->branch, open->branches * sizeof(*branch));
	*kept = (struct kept_row){.environment = cell->place, .order = x->count, .is_hidden = x->is_hidden};
	kept->row = (struct missing_row){
		.platform = env->platform,
		.python = env->python,
		.project = copy_text(&x->out->text, cell->project),
		.status = open->status.status,
		.micros = open->micros,
		.branch = branch,
		.branches = open->branches,
	};
	if (cell_explain(cell, open->want, &open->status, &x->out->text, &kept->row, e) < 0)
		return -1;
	struct missing_row *row = &kept->row;
	row->is_listed = has_shown_file(x, cell, cell->files, row->version) ||
			 has_shown_file(x, cell, cell->known, row->version);
	// Applies what earlier attempts say.
	struct results_history h;
	if (!cell->rules->results || row->status != WHEEL_MISSING)
		return 0;
	if (results_history(cell->rules->results, row->platform, row->python, row->project, row->version, &h, e) < 0)
		return -1;
	if (h.failures)
		put_attempts(cell->rules, &h, &x->out->text, kept);
	results_history_release(&h);
	return 0;
}

static bool needs_attention(enum wheel_status status)
{
	return status == WHEEL_MISSING || status == WHEEL_UNPROMOTED || status == WHEEL_FAILED ||
	       status == WHEEL_AWAITING || status == WHEEL_COOLING || status == WHEEL_UNKNOWN || status == WHEEL_IMPOSSIBLE;
}

static int end_cell(struct make *x, const struct cell *cell, struct err *e)
{
	if (x->opened > 1)
		qsort(x->open, x->opened, sizeof(*x->open), compare_open_rows);
	for (size_t i = 0; i < x->opened; i++) {
		enum wheel_status status = x->open[i].status.status;
		if (x->options->wants_all || needs_attention(status)) {
			GROW(x->kept, x->count, x->room);
			if (keep_row(x, cell, &x->open[i], &x->kept[x->count], e) < 0)
				return -1;
			status = x->kept[x->count++].row.status;
		}
		if (!x->is_hidden)
			count_row(x, cell->place, status, 1);
	}
	x->opened = 0;
	return 0;
}

// --- one project ---

struct our_files {
	struct make *make;
	struct index_files *files;
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
	if (rebuild_set_has(ours->make->options->rebuild, p->name, ours->files->project, file->filename) ||
		rule_list_find(ours->make->rules.denied, ours->files->project, file->filename, p->name))
		return 0;
	int result = is_promoted(ours->make, p->id, file, e);
	if (result >= 0)
		index_files_add_ours(ours->files, p->id, file, result);
	return result < 0 ? -1 : 0;
}

// Of all platforms, also those that are not asked about: a wheel there shows whether the project is pure Python.
static int add_our_files(struct make *x, struct index_files *files, struct err *e)
{
	for (size_t i = 0; i < x->store->platform_count; i++) {
		struct our_files ours = {x, files, &x->store->platform[i]};
		if (ours.platform->id &&
			catalog_project_files(x->reader, ours.platform->id, files->project, on_our_file, &ours, e) < 0)
			return -1;
	}
	return 0;
}

static int decide_cells(struct make *x, struct cell *cell, struct err *e)
{
	size_t i = wanted_cells_first(&x->wanted, cell->project);
	while (i < x->wanted.cells && strcmp(x->wanted.cell[i].want->project, cell->project) == 0) {
		CLEANUP(project_status_release) struct project_status status = {0};
		const struct wanted_cell *w = &x->wanted.cell[i];
		cell->place = w->place;
		cell->platform = x->wanted.fits.place[w->place].platform;
		if (project_status_find(x->reader, cell->project, &cell->platform, 1, &status, e) < 0)
			return -1;
		cell->withdrawn = status.status == SIMPLEPAGE_QUARANTINED ? status.reason : NULL;
		for (; i < x->wanted.cells && w->place == cell->place && strcmp(w->want->project, cell->project) == 0;
			w = &x->wanted.cell[++i])
			add_want(x, cell, x->out->branch[w->branch].name, w->want);
		if (end_cell(x, cell, e) < 0)
			return -1;
	}
	return 0;
}

static int decide_project(void *ctx, const struct upstream_answer *answer, struct err *e)
{
	struct make *x = ctx;
	const struct answer_words *words = find_certain(answer);
	CLEANUP(index_files_release) struct index_files files, listed, known;
	fits_trim(&x->wanted.fits, KEPT_TEXTS);
	bool has_hidden = answer->page && words && answer->hidden;
	index_files_init(&files, x->project, &x->wanted.fits);
	index_files_init(&listed, x->project, &x->wanted.fits);
	index_files_init(&known, x->project, &x->wanted.fits);
	if (!words && answer->stale)
		index_files_add_page(&known, answer->stale, 0);
	if (answer->page && words)
		index_files_add_page(&files, answer->page, 0);
	if (has_hidden)
		index_files_add_page(&listed, answer->listed, 0);
	if (add_our_files(x, &files, e) < 0 || (has_hidden && add_our_files(x, &listed, e) < 0))
		return -1;
	CLEANUP(mem_free) char *says = words_of(answer, words);
	struct cell cell = {
		.rules = &x->rules,
		.files = &files,
		.project = x->project,
		.is_upstream_known = words != NULL,
		.upstream_says = says,
		.listed = has_hidden ? &listed : NULL,
		.known = &known,
		.answer = answer,
		.is_pure = cell_project_is_pure(&files),
	};
	return decide_cells(x, &cell, e);
}

static int decide_one(struct make *x, const char *project, struct err *e)
{
	x->project = project;
	arena_release(&x->scratch);
	if (check_cpu(x, e) < 0)
		return -1;
	if (!strset_has(&x->wanted.projects, project)) {
		// A project that is wanted nowhere, or only by URL, has no facts.
		CLEANUP(index_files_release) struct index_files none, known;
		index_files_init(&none, x->project, &x->wanted.fits);
		index_files_init(&known, x->project, &x->wanted.fits);
		if (x->options->wants_all && add_our_files(x, &known, e) < 0)
			return -1;
		struct cell cell = {.rules = &x->rules,
			.files = &none,
			.known = &known,
			.project = x->project,
			.is_upstream_known = true,
			.upstream_says = ""};
		return decide_cells(x, &cell, e);
	}
	return upstream_load_cached(x->upstreams, x->reader, project, decide_project, x, e);
}

// --- what awaits another ---

static int compare_kept_rows(const void *a, const void *b)
{
	const struct kept_row *left = a, *right = b;
	int order = (left->environment > right->environment) - (left->environment < right->environment);
	if (order == 0)
		order = strcmp(left->row.project, right->row.project);
	return order ? order : (left->order > right->order) - (left->order < right->order);
}

struct rows_key {
	size_t environment;
	struct str project;
};

static bool is_before_row(const void *kept, const void *wanted)
{
	const struct kept_row *k = kept;
	const struct rows_key *key = wanted;
	return k->environment != key->environment ? k->environment < key->environment
						  : str_cmp(str_from(k->row.project), key->project) < 0;
}

static bool is_to_be_built(enum wheel_status status)
{
	return status == WHEEL_MISSING || status == WHEEL_FAILED || status == WHEEL_AWAITING;
}

static bool has_row_to_build(const struct make *x, size_t environment, struct str project)
{
	struct rows_key key = {environment, project};
	for (size_t i = lower_bound(&key, x->kept, x->count, sizeof(*x->kept), is_before_row); i < x->count; i++) {
		const struct kept_row *k = &x->kept[i];
		if (k->environment != environment || !str_eq(str_from(k->row.project), project))
			return false;
		if (is_to_be_built(k->row.status))
			return true;
	}
	return false;
}

// The row awaits another as long as one of the build requirements is to be built too. It cannot await itself.
static void decide_awaiting(struct make *x, struct kept_row *k)
{
	struct str rest = str_from(k->awaiting ? k->awaiting : "");
	while (rest.len) {
		struct str name = str_cut(&rest, ' ');
		if (str_eq(name, str_from(k->row.project)) || !has_row_to_build(x, k->environment, name))
			continue;
		CLEANUP(mem_free)
		char *why = xasprintf("the last attempt lacked its build requirement " STR_FMT ", which is missing too",
			STR_ARG(name));
		if (!k->is_hidden) {
			count_row(x, k->environment, k->row.status, -1);
			count_row(x, k->environment, WHEEL_AWAITING, 1);
		}
		k->row.status = WHEEL_AWAITING;
		k->row.why = copy_text(&x->out->text, why);
		return;
	}
}

// --- all projects ---

// The rows of one project. What they await is decided too, but not shown.
static int decide_chosen(struct make *x, struct err *e)
{
	CLEANUP(strset_release) struct strset awaited = {0};
	if (decide_one(x, x->options->project, e) < 0)
		return -1;
	for (size_t i = 0; i < x->count; i++)
		for (struct str rest = str_from(x->kept[i].awaiting ? x->kept[i].awaiting : ""); rest.len;) {
			struct str word = str_cut(&rest, ' ');
			if (name_is_valid(word) && name_is_normal(word))
				strset_add(&awaited, arena_copy(&x->out->text, word));
		}
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
	for (size_t i = 0; i < x->wanted.fits.places; i++) {
		int64_t platform = x->wanted.fits.place[i].platform->id;
		if (platform != last && platform &&
			cell_rules_add_removed(&x->rules, x->reader, platform, &x->wanted.projects, e) < 0)
			return -1;
		last = platform ? platform : last;
	}
	cell_rules_sort(&x->rules);
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

// Reads in one transaction, so that no file comes twice or never while others write.
static int decide_all(struct make *x, struct err *e)
{
	if (open_reader(x, e) < 0 || catalog_read_begin(x->reader, e) < 0)
		return -1;
	CLEANUP(catalog_read_end) struct catalog *snapshot = x->reader;
	x->rules.catalog = snapshot;
	if (check_view(x, e) < 0 || read_removed_wheels(x, e) < 0 || decide_projects(x, e) < 0)
		return -1;
	struct missing *out = x->out;
	if (x->count)
		qsort(x->kept, x->count, sizeof(*x->kept), compare_kept_rows);
	for (size_t i = 0; i < x->count; i++)
		decide_awaiting(x, &x->kept[i]);
	out->row = xcalloc(x->count + 1, sizeof(*out->row));
	for (size_t i = 0; i < x->count; i++) {
		struct missing_row *row = &x->kept[i].row;
		if (row->status != WHEEL_AWAITING && row->status != WHEEL_FAILED)
			row->attempts = (struct missing_attempts){0};
		if (!x->kept[i].is_hidden)
			out->row[out->rows++] = *row;
	}
	return catalog_is_current(snapshot, e);
}

static void make_release(struct make *x)
{
	free(x->open);
	free(x->kept);
	arena_release(&x->scratch);
	cell_rules_release(&x->rules);
	wanted_cells_release(&x->wanted);
	upstreams_free(x->upstreams);
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
	if (cell_rules_init(&x->rules, x->config, e) < 0 ||
		wanted_cells_collect(&x->wanted, &x->branches, x->store, x->options, e) < 0)
		return -1;
	list_environments(x);
	// What no scan has read may be in the store, and must not be taken for missing.
	for (size_t i = 0; i < x->wanted.fits.places; i++) {
		const struct platform *p = x->wanted.fits.place[i].platform;
		enum catalog_scanned scanned = CATALOG_NOT_TRIED;
		if (p->id && catalog_platform_scanned(x->catalog, p->id, &scanned, e) < 0)
			return -1;
		if (scanned != CATALOG_SCANNED)
			return err_set(e, ERR_NOT_FOUND,
				"platform %s: no scan has read it yet: run wheelcache index first", p->name);
	}
	x->rules.wants_pure = x->options->wants_pure;
	x->rules.rebuild = x->options->rebuild;
	x->rules.view = x->options->view;
	x->rules.results = results;
	x->rules.now = x->out->made;
	if (upstreams_new(x->config, &x->upstreams, e) < 0 || look_up_wanted(x, e) < 0)
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
	};
	if (make_all(&x, results, e) == 0)
		return 0;
	missing_release(out);
	return -1;
}

bool missing_has_column(const struct missing *m, enum wheel_status status)
{
	return (status != WHEEL_UNPROMOTED && status != WHEEL_COOLING) || m->total[status];
}

void missing_release(struct missing *m)
{
	free(m->branch);
	free(m->environment);
	free(m->row);
	arena_release(&m->text);
	*m = (struct missing){0};
}
