// SPDX-License-Identifier: Apache-2.0
#include "server/pages/channel-data.h"

#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/strset.h"
#include "lib/install/fits.h"

// --- which file of a project is the newest in each environment of a view, among those of the view's source ---
//
// It is the one that tests must show to be good next: of wheels of a version that of the environment's own platform, as
// /VIEW/PLATFORM/simple/ has it. Yanked files do not count; an sdist counts where no wheel of its version installs.

struct channel_next {
	const struct view *view, *source; // borrowed; source: the view itself where it has none
	struct fits fits; // its places: the environments of the view's platforms, in their order
};

struct next_file {
	const struct platform *platform;
	struct catalog_file file;
	struct filename name;
	unsigned tags, python; // numbers of fits
};

struct next_project {
	const char *project; // borrowed
	struct next_file *file;
	size_t files, room;
	const struct next_file **best; // of each environment; NULL: none installs there
	const struct next_file **own;  // the same of the files of its own platform
	struct arena text;
};

enum { TAG_SETS_MOST = 4096 };

struct next_reader {
	struct channel_next *next;
	struct next_project *project;
};

// A file whose name cannot be parsed is one that no client installs.
static int take_next_file(void *ctx, const struct platform *p, const struct catalog_file *file, struct err *e UNUSED)
{
	struct next_reader *r = ctx;
	struct next_project *to = r->project;
	struct err ignored = ERR_INIT;
	struct next_file new = {.platform = p, .file = *file};
	if (!view_has(r->next->view, p))
		return 0;
	catalog_file_copy(&to->text, &new.file);
	if (filename_parse_listed(str_from(new.file.filename), to->project, &new.name, &ignored) < 0)
		return 0;
	new.tags = new.name.kind == FILENAME_WHEEL ? fits_tags(&r->next->fits, &new.name) : 0;
	new.python = fits_python(&r->next->fits, new.file.requires_python);
	GROW(to->file, to->files, to->room);
	to->file[to->files++] = new;
	return 0;
}

// The lower, the better; -1: it does not install there.
static long rank_in(struct channel_next *n, const struct next_file *f, size_t environment)
{
	if (f->file.yanked || !fits_micros(&n->fits, f->python, environment))
		return -1;
	return f->name.kind == FILENAME_WHEEL ? fits_rank(&n->fits, f->tags, environment) : LONG_MAX;
}

static bool is_of_place(const struct channel_next *n, const struct next_file *f, size_t environment)
{
	return f->platform == n->fits.place[environment].platform;
}

static bool is_better(struct channel_next *n, const struct next_file *f, const struct next_file *than,
	size_t environment)
{
	if (!than)
		return true;
	int order = version_cmp(&f->name.version, &than->name.version);
	long rank = rank_in(n, f, environment), other = rank_in(n, than, environment);
	if (!order && rank < LONG_MAX && other < LONG_MAX)
		order = (int)is_of_place(n, f, environment) - (int)is_of_place(n, than, environment);
	if (order || rank != other)
		return order ? order > 0 : rank < other;
	return f->name.kind == FILENAME_WHEEL && filename_compare_builds(f->name.build, than->name.build) > 0;
}

static void next_project_release(struct next_project *p)
{
	for (size_t i = 0; i < p->files; i++)
		filename_release(&p->file[i].name);
	free(p->file);
	free(p->best);
	free(p->own);
	arena_release(&p->text);
	*p = (struct next_project){0};
}

static int channel_next_read(struct channel_next *n, struct catalog *c, const char *project, struct next_project *out,
	struct err *e)
{
	struct next_reader r = {n, out};
	struct view source = *n->source;
	source.shows_each = true; // each platform has its own tests
	*out = (struct next_project){.project = project};
	fits_trim(&n->fits, TAG_SETS_MOST);
	if (view_files(&source, c, project, take_next_file, &r, e) < 0) {
		next_project_release(out);
		return -1;
	}
	out->best = xcalloc(n->fits.places + 1, sizeof(*out->best));
	out->own = xcalloc(n->fits.places + 1, sizeof(*out->own));
	for (size_t k = 0; k < out->files; k++)
		for (size_t i = 0; i < n->fits.places; i++) {
			const struct next_file *f = &out->file[k];
			if (rank_in(n, f, i) < 0)
				continue;
			if (is_better(n, f, out->best[i], i))
				out->best[i] = f;
			if (is_of_place(n, f, i) && is_better(n, f, out->own[i], i))
				out->own[i] = f;
		}
	return 0;
}

// --- the history of a view ---

struct runs_reader {
	const struct channel_runs_query *query;
	struct channel_runs *runs;
	struct arena *text;
	struct catalog *catalog;
	size_t read_bytes; // of generations
};

static const char *copy_or_empty(struct arena *text, const char *s)
{
	return s && *s ? arena_copy(text, str_from(s)) : "";
}

// --- evidence ---

static bool shows_platform(const struct view *v, const char *name)
{
	for (size_t i = 0; i < v->platform_count; i++)
		if (strcmp(v->platform[i]->name, name) == 0)
			return true;
	return false;
}

static int take_run(void *ctx, const struct catalog_evidence *r, struct err *e UNUSED)
{
	struct runs_reader *reader = ctx;
	struct channel_runs *runs = reader->runs;
	const struct channel_runs_query *q = reader->query;
	if (!shows_platform(q->view, r->platform) || (q->judge && !catalog_evidence_counts_for(r, q->judge)))
		return 0;
	struct trend_day *day = trend_day_of(runs->day, r->received);
	if (r->overrides)
		runs->overrides++;
	else if (day) {
		day->count[TREND_GOOD] += r->passed;
		day->count[TREND_BAD] += r->failed;
		day->count[TREND_IDLE] += r->skipped;
	}
	if (runs->runs == q->limit) {
		runs->has_more = true;
		return 0;
	}
	GROW(runs->run, runs->runs, runs->run_room);
	struct catalog_evidence copy = *r;
	if (!q->sees_names)
		copy.by = copy.address = copy.views = "";
	const char **const member[] = {&copy.kind, &copy.platform, &copy.python, &copy.by, &copy.address, &copy.views};
	for (size_t i = 0; i < ARRAY_SIZE(member); i++)
		*member[i] = copy_or_empty(reader->text, *member[i]);
	copy.overrides = r->overrides ? copy_or_empty(reader->text, r->overrides) : NULL;
	runs->run[runs->runs++] = copy;
	return 0;
}

// --- generations ---

static void copy_change_file(struct channel_change *to, const struct generation_file *from, struct arena *text,
	bool sees_names)
{
	struct generation_file *f = &to->file[to->files++];
	*f = *from;
	f->platform = arena_copy(text, str_from(from->platform));
	f->project = arena_copy(text, str_from(from->project));
	f->filename = arena_copy(text, str_from(from->filename));
	f->tested = membership_tested_copy(text, from->tested, from->testeds);
	f->override = from->override ? arena_copy(text, str_from(from->override)) : NULL;
	f->override_by = from->override_by && sees_names ? arena_copy(text, str_from(from->override_by)) : NULL;
}

static int take_generation(void *ctx, const struct catalog_generation *g, struct err *e)
{
	struct runs_reader *reader = ctx;
	struct channel_runs *runs = reader->runs;
	if (runs->generations == reader->query->limit) {
		runs->has_more = true;
		return 0;
	}
	GROW(runs->generation, runs->generations, runs->generation_room);
	struct catalog_generation *to = &runs->generation[runs->generations++];
	*to = *g;
	to->action = copy_or_empty(reader->text, g->action);
	to->by = reader->query->sees_names ? copy_or_empty(reader->text, g->by) : "";
	to->reason = copy_or_empty(reader->text, g->reason);
	to->packed = (struct str){0};
	if (runs->change_room < runs->generation_room) {
		runs->change_room = runs->generation_room;
		runs->change = xreallocarray(runs->change, runs->change_room, sizeof(*runs->change));
	}
	// Overrides come first, so that they are not among those that are left out. Who may read the view may know of
	// the files of its platforms, and of no other.
	struct channel_change *out = &runs->change[runs->generations - 1];
	CLEANUP(generation_files_release) struct generation_files of = {0};
	size_t left =
		LIMIT_EXPLAIN_GENERATIONS > reader->read_bytes ? LIMIT_EXPLAIN_GENERATIONS - reader->read_bytes : 0;
	*out = (struct channel_change){0};
	if (generation_files_read(reader->catalog, g->packed, left, &of, e) < 0)
		return -1;
	reader->read_bytes += of.bytes;
	out->is_cut = of.is_cut;
	out->file = arena_alloc_aligned(reader->text, CHANNEL_GENERATION_FILES * sizeof(*out->file));
	for (int overrides = 1; overrides >= 0; overrides--)
		for (size_t i = 0; i < of.files; i++) {
			const struct generation_file *f = &of.file[i];
			if ((f->override != NULL) != overrides || !shows_platform(reader->query->view, f->platform))
				continue;
			out->is_cut |= out->files == CHANNEL_GENERATION_FILES;
			if (out->files < CHANNEL_GENERATION_FILES)
				copy_change_file(out, f, reader->text, reader->query->sees_names);
		}
	return 0;
}

static int read_generations(struct catalog *c, struct runs_reader *r, struct err *e)
{
	const struct channel_runs_query *q = r->query;
	const char *view = q->view->membership;
	if (!view)
		return 0;
	if (catalog_view_find(c, view, &r->runs->members, e) < 0)
		return -1;
	return catalog_view_generations(c, view, INT64_MAX, q->limit + 1, take_generation, r, e);
}

void channel_runs_release(struct channel_runs *r)
{
	free(r->run);
	free(r->generation);
	free(r->change);
	*r = (struct channel_runs){0};
}

int channel_runs_read(struct catalog *c, const struct channel_runs_query *query, struct arena *text,
	struct channel_runs *out, struct err *e)
{
	*out = (struct channel_runs){0};
	struct runs_reader r = {query, out, text, c, 0};
	trend_begin(out->day, query->now);
	if (catalog_evidence_since(c, out->day[0].day, query->counted, take_run, &r, e) == 0 &&
		read_generations(c, &r, e) == 0)
		return 0;
	channel_runs_release(out);
	return -1;
}

// --- the whole ---

struct channel_reader {
	const struct channel_query *query;
	struct channel_data *data;
	struct catalog *catalog;
	struct view_channel *channel;
	struct kept_versions kept;
	struct channel_next next;
	struct wheel_tests judge;
	const struct fits_place *environment;
	size_t environments;
	struct strset names;
};

static void channel_reader_release(struct channel_reader *r)
{
	view_channel_cleanup(&r->channel);
	kept_versions_release(&r->kept);
	struct channel_next *n = &r->next;
	fits_release(&n->fits);
	*n = (struct channel_next){0};
	wheel_tests_release(&r->judge);
	strset_release(&r->names);
}

static const char *keep_text(struct channel_reader *r, const char *text)
{
	return text ? arena_copy(&r->data->text, str_from(text)) : NULL;
}

// --- the files that could come next ---

static const struct promotion_file *keep_wheel(struct channel_reader *r, const struct next_file *f)
{
	struct promotion_file *w = ARENA_NEW(&r->data->text, struct promotion_file, 1);
	*w = (struct promotion_file){
		.platform = f->platform->name, // of the site
		.platform_id = f->platform->id,
		.version = keep_text(r, f->file.version),
		.filename = keep_text(r, f->file.filename),
		.requires_python = keep_text(r, f->file.requires_python),
	};
	w->sha256 = arena_memdup(&r->data->text, f->file.sha256, SHA256_SIZE);
	return w;
}

static bool is_shown(const struct view_channel_project *p, const struct next_file *f)
{
	for (size_t i = 0; i < p->files; i++)
		if (p->file[i].platform == f->platform && strcmp(p->file[i].file.filename, f->file.filename) == 0 &&
			memcmp(p->file[i].file.sha256, f->file.sha256, SHA256_SIZE) == 0)
			return true;
	return false;
}

// Whether the file is older than the last version of an environment.
static bool is_older(const struct next_file *f, const struct view_channel_version *last)
{
	struct err ignored = ERR_INIT;
	CLEANUP(version_release) struct version v = {0};
	return last && version_parse(str_from(last->version), &v, &ignored) == 0 &&
	       version_cmp(&f->name.version, &v) < 0;
}

// --- a project ---

// Of each state the first rows are kept: the order of rows is that of their states, then that in which they come.
static void add_row(struct channel_reader *r, const struct view_channel_project *p, size_t i, const char *project,
	const struct promotion_file *next)
{
	struct channel_data *d = r->data;
	const struct view_channel_cell *cell = &p->cell[i];
	if (d->state[cell->state]++ >= r->query->limit) {
		d->has_more = true;
		return;
	}
	GROW(d->row, d->rows, d->row_room);
	d->row[d->rows] = (struct channel_row){
		.project = project,
		.platform = r->environment[i].platform->name,
		.python = keep_text(r, r->environment[i].python),
		.state = cell->state,
		.version = cell->last ? keep_text(r, cell->last->version) : NULL,
		.came = cell->last ? cell->last->came : 0,
		.newest = p->versions ? keep_text(r, p->version[0].version) : NULL,
		.next = next,
		.place = d->rows,
	};
	d->rows++;
}

// The arguments of add_untested.
struct untested_reader {
	struct channel_reader *reader;
	const char *project;
};

static void add_untested(void *ctx, const struct wheel_untested *u)
{
	const struct untested_reader *r = ctx;
	struct channel_data *d = r->reader->data;
	if (d->all_untested++ >= r->reader->query->limit) {
		d->has_more = true;
		return;
	}
	GROW(d->untested, d->untesteds, d->untested_room);
	d->untested[d->untesteds++] = (struct channel_untested){r->project, u->wheel, u->why};
}

// The wheels of a project that wait, each once.
struct kept_wheels {
	const struct promotion_file **wheel; // by number of the next file; NULL: not kept yet
	bool *waits;
};

static void kept_wheels_release(struct kept_wheels *k)
{
	free(k->wheel);
	free(k->waits);
}

static void add_waiting(struct channel_reader *r, const struct view_channel_project *p, size_t environment,
	const struct next_file *f, size_t number, const char *project, struct kept_wheels *kept)
{
	struct channel_data *d = r->data;
	if (!kept->wheel[number])
		kept->wheel[number] = keep_wheel(r, f);
	if (!d->source || kept->waits[number] || is_older(f, p->cell[environment].last) || is_shown(p, f))
		return;
	kept->waits[number] = true;
	const struct promotion_file *w = kept->wheel[number];
	GROW(d->waiting, d->waitings, d->waiting_room);
	d->waiting[d->waitings++] = (struct channel_waiting){.project = project, .version = w->version, .wheel = w};
}

static int read_project(struct channel_reader *r, const char *name, struct err *e)
{
	CLEANUP(view_channel_project_release) struct view_channel_project p = {0};
	CLEANUP(next_project_release) struct next_project n = {0};
	if (view_channel_read(r->channel, name, &p, e) < 0 || channel_next_read(&r->next, r->catalog, name, &n, e) < 0)
		return -1;
	if (!p.versions && !n.files)
		return 0;
	const char *project = keep_text(r, name);
	r->data->projects++;
	struct untested_reader untested = {r, project};
	const struct view *view = r->query->view;
	if (view->membership && p.versions &&
		wheel_tests_untested(&r->judge, view, name, NULL, add_untested, &untested, e) < 0)
		return -1;
	CLEANUP(kept_wheels_release)
	struct kept_wheels kept = {.wheel = xcalloc(n.files + 1, sizeof(*kept.wheel)), .waits = xcalloc(n.files + 1, 1)};
	for (size_t i = 0; i < r->environments; i++) {
		const struct next_file *const waiting[] = {n.best[i], n.own[i]};
		for (size_t k = 0; k < ARRAY_SIZE(waiting); k++)
			if (waiting[k])
				add_waiting(r, &p, i, waiting[k], (size_t)(waiting[k] - n.file), project, &kept);
		add_row(r, &p, i, project, n.best[i] ? kept.wheel[n.best[i] - n.file] : NULL);
	}
	struct channel_data *d = r->data;
	for (size_t i = 0; i < p.versions; i++) {
		const struct view_channel_version *v = &p.version[i];
		if (v->decision != RETENTION_ENDS && !v->is_warned)
			continue;
		GROW(d->ending, d->endings, d->ending_room);
		d->ending[d->endings++] = (struct channel_ending){
			project, keep_text(r, v->version), v->decision == RETENTION_ENDS ? 0 : v->ends};
	}
	return 0;
}

static int take_name(void *ctx, const char *name, struct err *e UNUSED)
{
	struct channel_reader *r = ctx;
	const char *glob = r->query->project;
	if (!*glob || fnmatch(glob, name, 0) == 0)
		strset_add(&r->names, name);
	return 0;
}

// --- order and limits ---

// What needs attention comes first: an environment where nothing installs, then one that gets nothing new.
static int state_order(enum view_channel_state s)
{
	static const int order[VIEW_CHANNEL_STATE_COUNT] = {[VIEW_CHANNEL_EMPTY] = 0,
		[VIEW_CHANNEL_STALE] = 1,
		[VIEW_CHANNEL_BEHIND] = 2,
		[VIEW_CHANNEL_CURRENT] = 3};
	return order[s];
}

static int compare_channel_rows(const void *a, const void *b)
{
	const struct channel_row *x = a, *y = b;
	int order = state_order(x->state) - state_order(y->state);
	return order ? order : (x->place > y->place) - (x->place < y->place);
}

static int compare_endings(const void *a, const void *b)
{
	const struct channel_ending *x = a, *y = b;
	int order = (x->ends > y->ends) - (x->ends < y->ends);
	order = order ? order : strcmp(x->project, y->project);
	return order ? order : strcmp(x->version, y->version);
}

static int compare_waiting(const void *a, const void *b)
{
	const struct channel_waiting *x = a, *y = b;
	int order = (*x->why != '\0') - (*y->why != '\0');
	order = order ? order : strcmp(x->project, y->project);
	order = order ? order : strcmp(x->wheel->filename, y->wheel->filename);
	return order ? order : strcmp(x->wheel->platform, y->wheel->platform);
}

static void cut_list(struct channel_data *d, size_t *count, uint64_t limit)
{
	d->has_more |= *count > limit;
	*count = *count > limit ? (size_t)limit : *count;
}

// --- what tests say ---

static int judge_waiting(struct channel_reader *r, struct err *e)
{
	struct channel_data *d = r->data;
	for (size_t i = 0; i < d->waitings; i++) {
		struct channel_waiting *w = &d->waiting[i];
		if (wheel_tests_left(&r->judge, w->wheel, &w->why, e) < 0)
			return -1;
		w->has_left = *w->why;
		if (!w->has_left && wheel_tests_why(&r->judge, w->wheel, &w->why, e) < 0)
			return -1;
		*(w->has_left ? &d->left : *w->why ? &d->refused : &d->ready) += 1;
	}
	return 0;
}

static int judge_rows(struct channel_reader *r, struct err *e)
{
	struct channel_data *d = r->data;
	for (size_t i = 0; d->kinds && i < d->rows; i++) {
		struct channel_row *row = &d->row[i];
		if (!row->next)
			continue;
		row->test = wheel_tests_in(&r->judge, row->next, row->platform, row->python, e);
		if (!row->test)
			return -1;
		for (size_t k = 0; k < d->kinds && !r->query->sees_names; k++)
			row->test[k].by = "";
	}
	return 0;
}

// The view whose rules tests are held against: the view itself, or else the first one that takes its files from it.
static const struct config_view *find_judge(const struct config *c, const struct config_view *own)
{
	for (size_t i = 0; i < c->view_count && !own->from; i++)
		if (c->views[i].from && c->views[i].requires && strcmp(c->views[i].from, own->name) == 0)
			return &c->views[i];
	return own;
}

static int open_judge(struct channel_reader *r, const struct config_view *own, struct err *e)
{
	struct channel_data *d = r->data;
	const struct channel_query *q = r->query;
	const struct config_view *view = find_judge(&q->site->config, own);
	if (wheel_tests_init(&r->judge, q->site, view, r->catalog, &d->text, q->now, e) < 0)
		return -1;
	const struct promotion_rules *rules = &r->judge.judge.rules;
	d->kinds = rules->rules;
	d->judge = d->kinds ? view->name : NULL;
	d->kind = arena_alloc_aligned(&d->text, (d->kinds + 1) * sizeof(*d->kind));
	for (size_t i = 0; i < d->kinds; i++)
		d->kind[i] = keep_text(r, rules->rule[i].kind);
	return 0;
}

// --- what the view has lost ---

static int read_lost_members(struct channel_reader *r, struct err *e)
{
	struct channel_data *d = r->data;
	const struct channel_query *q = r->query;
	if (!q->view->membership)
		return 0;
	if (member_losses_read(r->catalog, q->view->membership, NULL, &d->losses, e) < 0)
		return -1;
	d->lost = xcalloc(d->losses.count + 1, sizeof(const struct member_loss *));
	for (size_t i = 0; i < d->losses.count; i++) {
		const struct member_loss *l = &d->losses.item[i];
		if (*q->project && fnmatch(q->project, l->project, 0) != 0)
			continue;
		if (d->all_lost++ < q->limit)
			d->lost[d->losts++] = l;
		else
			d->has_more = true;
	}
	return 0;
}

// --- the whole ---

static int read_channel(struct channel_reader *r, struct err *e)
{
	const struct channel_query *q = r->query;
	struct channel_data *d = r->data;
	const struct config_view *own = config_view(&q->site->config, q->view->name);
	if (view_channel_open(q->site, q->view, r->catalog, q->now, &r->channel, e) < 0)
		return -1;
	kept_versions_open(&q->site->config, &q->site->store, q->now, &r->kept);
	view_channel_keep(r->channel, &r->kept);
	const struct view *source = own->from ? site_view(q->site, str_from(own->from)) : NULL;
	d->own = own;
	d->view = q->view->name;
	d->source = q->may_see_source ? own->from : NULL;
	r->environments = view_channel_environments(r->channel, &r->environment);
	d->environments = r->environments;
	struct channel_next *n = &r->next;
	*n = (struct channel_next){.view = q->view, .source = source ? source : q->view};
	for (size_t i = 0; i < q->view->platform_count; i++)
		fits_add_platform(&n->fits, q->view->platform[i]);
	if (view_silence_read(own, r->catalog, q->now, false, &d->silences, e) < 0)
		return -1;
	if (open_judge(r, own, e) < 0 || read_lost_members(r, e) < 0)
		return -1;
	if (view_projects(r->query->view, r->catalog, take_name, r, e) < 0 ||
		(r->next.source != r->query->view && view_projects(r->next.source, r->catalog, take_name, r, e) < 0))
		return -1;
	strset_sort(&r->names);
	for (size_t i = 0; i < r->names.count; i++)
		if (read_project(r, r->names.item[i], e) < 0)
			return -1;
	if (judge_waiting(r, e) < 0)
		return -1;
	if (d->rows)
		qsort(d->row, d->rows, sizeof(*d->row), compare_channel_rows);
	if (d->endings)
		qsort(d->ending, d->endings, sizeof(*d->ending), compare_endings);
	if (d->waitings)
		qsort(d->waiting, d->waitings, sizeof(*d->waiting), compare_waiting);
	cut_list(d, &d->rows, q->limit);
	cut_list(d, &d->endings, q->limit);
	cut_list(d, &d->waitings, q->limit);
	const struct channel_runs_query runs = {q->view, d->judge, q->limit, q->now, LIMIT_CHANNEL_RUNS, q->sees_names};
	if (judge_rows(r, e) < 0 || channel_runs_read(r->catalog, &runs, &d->text, &d->runs, e) < 0)
		return -1;
	d->has_more |= d->runs.has_more;
	return 0;
}

int channel_data_read(struct catalog *c, const struct channel_query *query, struct channel_data *out, struct err *e)
{
	*out = (struct channel_data){0};
	CLEANUP(channel_reader_release) struct channel_reader r = {.query = query, .data = out, .catalog = c};
	if (!query->view->name || !config_view(&query->site->config, query->view->name))
		return err_set(e, ERR_USAGE, "the configuration has no such view");
	if (read_channel(&r, e) == 0)
		return 0;
	channel_data_release(out);
	return -1;
}

void channel_data_release(struct channel_data *d)
{
	view_silences_release(&d->silences);
	channel_runs_release(&d->runs);
	free(d->row);
	free(d->ending);
	free(d->waiting);
	member_losses_release(&d->losses);
	free(d->lost);
	free(d->untested);
	arena_release(&d->text);
	*d = (struct channel_data){0};
}
