// SPDX-License-Identifier: Apache-2.0
#include "builder/missing/required-files.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "builder/missing/branch.h"
#include "builder/missing/cell.h"
#include "builder/missing/our-files.h"
#include "lib/base/hash.h"
#include "lib/base/limits.h"
#include "lib/base/strset.h"
#include "lib/domain/index/simplepage.h"
#include "lib/domain/text/filename.h"
#include "lib/domain/text/specifier.h"
#include "lib/os/fs.h"
#include "lib/state/store/project-status.h"

// Requirements that are followed together.
struct required_set {
	const char *path; // of the rows
	const struct closure_need *need;
	size_t needs;
	bool allows_pre;
};

// A set in one place.
struct required_task {
	const struct required_set *set;
	size_t place;
	uint64_t micros;
	bool is_done;
};

// A row in the making: a file, or a project that cannot be had, in one place.
struct required_hit {
	struct locked_row row; // but for platform and pythons
	const struct index_file *file; // NULL: none
	size_t place;
	uint64_t micros;
};

struct required_files {
	struct known_order order;
	struct known_projects *known;
	struct locked_files *out;
	struct required_task *task;
	size_t tasks, task_room;
	struct required_hit *hit;
	size_t hits, hit_room;
	uint32_t *slot; // of the hits, by hash: one more than the number; 0: free
	size_t slots;
	struct strset built; // sdists whose builds were followed
	struct arena text, scratch;
};

struct required_files *required_files_new(const struct known_order *order, struct known_projects *known,
	struct locked_files *out)
{
	struct required_files *r = xcalloc(1, sizeof(*r));
	r->order = *order;
	r->known = known;
	r->out = out;
	return r;
}

void required_files_free(struct required_files *r)
{
	if (!r)
		return;
	free(r->task);
	free(r->hit);
	free(r->slot);
	strset_release(&r->built);
	arena_release(&r->text);
	arena_release(&r->scratch);
	free(r);
}

// --- what is to be found ---

static void add_task(struct required_files *r, const struct required_set *set, size_t place, uint64_t micros)
{
	GROW(r->task, r->tasks, r->task_room);
	r->task[r->tasks++] = (struct required_task){.set = set, .place = place, .micros = micros};
}

static const struct required_set *add_set(struct required_files *r, const struct required_set *set)
{
	return arena_memdup(&r->text, set, sizeof(*set));
}

static struct closure_need need_of_line(struct required_files *r, const struct branch_line *line)
{
	struct arena *text = &r->text;
	struct closure_need need = {.project = arena_strdup(text, line->project),
		.specifier = arena_strdup(text, line->specifier),
		.marker = arena_strdup(text, line->marker),
		.source = arena_strdup(text, line->source),
		.line = line->number,
		.is_constraint = line->is_constraint};
	const char **extra = NULL;
	size_t room = 0;
	for (struct str rest = str_from(line->extras); rest.len;) {
		ARENA_GROW(text, extra, need.extras, room);
		extra[need.extras++] = arena_copy(text, str_trim(str_cut(&rest, ',')));
	}
	need.extra = extra;
	return need;
}

static int compare_lines_of_file(const void *a, const void *b)
{
	const struct branch_line *left = a, *right = b;
	return (left->order > right->order) - (left->order < right->order);
}

int required_files_add(struct required_files *r, const char *path, struct err *e)
{
	CLEANUP(branches_release) struct branches read = {0};
	if (branches_read_file(path, &read, e) < 0)
		return -1;
	struct branch *b = read.branch;
	qsort(b->line, b->lines, sizeof(*b->line), compare_lines_of_file);
	struct closure_need *need = ARENA_NEW(&r->text, struct closure_need, b->lines);
	struct required_set set = {.path = arena_strdup(&r->out->text, path), .need = need, .allows_pre = b->allows_pre};
	for (size_t i = 0; i < b->lines; i++) {
		if (b->line[i].has_url)
			r->out->skipped++;
		else
			need[set.needs++] = need_of_line(r, &b->line[i]);
	}
	const struct required_set *kept = add_set(r, &set);
	for (size_t place = 0; place < r->order.fits->places; place++)
		add_task(r, kept, place, UINT64_MAX);
	return 0;
}

// --- the newest versions of a project ---

static int64_t platform_of(const struct required_files *r, size_t place)
{
	return r->order.fits->place[place].platform->id;
}

// The micro versions on which a version has a file that is not yanked.
static uint64_t micros_of_version(struct required_files *r, struct index_files *files, size_t place, const char *pin)
{
	struct resolve_outcome o[RESOLVE_OUTCOMES];
	const struct resolve_want want = {.specifier = pin, .micros = UINT64_MAX};
	uint64_t micros = 0;
	size_t count = resolve(files, place, platform_of(r, place), &want, o);
	for (size_t i = 0; i < count; i++)
		micros |= o[i].kind == RESOLVE_NOTHING ? 0 : o[i].micros;
	return micros;
}

static void add_pin(struct required_files *r, const char *path, const struct closure_need *line, const char *pin, size_t place,
	uint64_t micros)
{
	struct closure_need *need = arena_memdup(&r->text, line, sizeof(*line));
	need->specifier = pin;
	add_task(r, add_set(r, &(struct required_set){.path = path, .need = need, .needs = 1}), place, micros);
}

static void add_newest(struct required_files *r, const char *path, const struct closure_need *line,
	struct index_files *files, size_t place, uint64_t versions)
{
	size_t count;
	uint64_t taken = 0;
	const struct index_release *release = index_files_admitted(files, line->specifier, &count);
	for (size_t i = 0; i < count && taken < versions; i++) {
		const struct version *version = &files->file[release[i].first].version;
		const char *pin = arena_printf(&r->text, "==%s", version->text);
		uint64_t micros = version->is_prerelease ? 0 : micros_of_version(r, files, place, pin);
		if (micros)
			add_pin(r, path, line, pin, place, micros);
		taken += micros != 0;
	}
	if (!taken) // the row says why
		add_pin(r, path, line, line->specifier, place, UINT64_MAX);
}

static unsigned number_of_line(const char *source)
{
	const char *colon = strrchr(source, ':');
	return colon ? (unsigned)strtoul(colon + 1, NULL, 10) : 0;
}

int required_files_add_top(struct required_files *r, const char *path, uint64_t versions, struct err *e)
{
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_REQUIREMENTS);
	CLEANUP(requirements_release) struct requirements list = {0};
	if (fs_read_regular(path, &text, e) < 0 ||
		requirements_parse(&list, buf_view(&text), path, REQUIREMENT_PACKAGES, e) < 0)
		return -1;
	if (!list.count)
		return err_set(e, ERR_USAGE, "%s: it names no project", path);
	for (size_t i = 0; i < list.count; i++)
		known_projects_files(r->known, list.item[i].project);
	if (known_projects_get(r->known, e) < 0)
		return -1;
	const char *kept = arena_strdup(&r->out->text, path);
	for (size_t i = 0; i < list.count; i++) {
		const struct requirement *item = &list.item[i];
		struct index_files *files = known_projects_files(r->known, item->project);
		const struct closure_need line = {.project = files->project,
			.specifier = arena_strdup(&r->text, item->specifier),
			.marker = "",
			.source = arena_strdup(&r->text, item->source),
			.line = number_of_line(item->source)};
		for (size_t place = 0; place < r->order.fits->places; place++)
			if (!item->platform ||
				fnmatch(item->platform, r->order.fits->place[place].platform->name, 0) == 0)
				add_newest(r, kept, &line, files, place, versions);
	}
	return 0;
}

// --- hits ---

// What tells hits apart.
struct hit_key {
	const char *path;
	const void *what; // the file, or the project
	size_t place;
	uint64_t why;
};

static uint64_t hash_of_hit(const struct required_hit *h)
{
	struct hit_key key = {h->row.lock, h->file ? (const void *)h->file : h->row.project, h->place, 0};
	key.why = h->file ? 0 : hash_of(str_from(h->row.why), 0);
	return hash_of((struct str){(const char *)&key, sizeof(key)}, 0);
}

static bool is_same_hit(const struct required_hit *a, const struct required_hit *b)
{
	return a->row.lock == b->row.lock && a->file == b->file && a->place == b->place &&
	       (a->file || (strcmp(a->row.project, b->row.project) == 0 && strcmp(a->row.why, b->row.why) == 0));
}

static void put_hit(struct required_files *r, size_t number)
{
	size_t at = hash_of_hit(&r->hit[number]) & (r->slots - 1);
	while (r->slot[at])
		at = (at + 1) & (r->slots - 1);
	r->slot[at] = (uint32_t)number + 1;
}

static void make_room_for_hits(struct required_files *r)
{
	if (2 * (r->hits + 1) <= r->slots)
		return;
	free(r->slot);
	r->slots = r->slots ? 2 * r->slots : 1024;
	r->slot = xcalloc(r->slots, sizeof(*r->slot));
	for (size_t i = 0; i < r->hits; i++)
		put_hit(r, i);
}

// Several sets, and parts of the micro versions, may lead to a file.
static int add_required_hit(struct required_files *r, const struct required_hit *hit, struct err *e)
{
	make_room_for_hits(r);
	for (size_t at = hash_of_hit(hit) & (r->slots - 1); r->slot[at]; at = (at + 1) & (r->slots - 1)) {
		struct required_hit *same = &r->hit[r->slot[at] - 1];
		if (!is_same_hit(same, hit))
			continue;
		same->micros |= hit->micros;
		same->row.is_wanted |= hit->row.is_wanted;
		return 0;
	}
	if (r->hits == LIMIT_MISSING_ROWS)
		return err_set(e, ERR_LIMIT, "more than %d rows: name fewer projects or platforms", LIMIT_MISSING_ROWS);
	GROW(r->hit, r->hits, r->hit_room);
	r->hit[r->hits] = *hit;
	put_hit(r, r->hits++);
	return 0;
}

static struct required_hit begin_hit(struct required_files *r, const struct required_task *t,
	const struct closure_choice *c)
{
	struct arena *text = &r->out->text;
	return (struct required_hit){.row = {.lock = t->set->path,
					     .line = c->line,
					     .project = arena_strdup(text, c->project),
					     .by = arena_strdup(text, c->by),
					     .why = ""},
		.place = t->place,
		.micros = t->micros};
}

static int add_file_hit(struct required_files *r, const struct required_task *t, const struct closure_choice *c,
	const struct index_file *f, struct err *e)
{
	struct arena *text = &r->out->text;
	char hex[SHA256_HEX + 1] = "";
	struct required_hit hit = begin_hit(r, t, c);
	hit.file = f;
	hit.micros &= index_files_micros(c->files, t->place, f);
	hit.row.version = arena_strdup(text, f->version.text);
	hit.row.filename = arena_strdup(text, f->filename);
	hit.row.is_wanted = f == c->outcome.file;
	hit.row.status = f->platform ? LOCKED_HERE : f->sha256 ? LOCKED_UPSTREAM : LOCKED_UNKNOWN;
	if (f->sha256)
		hex_encode(f->sha256, SHA256_SIZE, hex);
	hit.row.sha256 = f->sha256 ? arena_copy(text, str_from(hex)) : NULL;
	if (!f->sha256)
		hit.row.why = "upstream's page has no SHA-256 of it";
	else if (f == c->outcome.file && c->metadata->doubt)
		hit.row.why = c->metadata->doubt;
	return hit.micros ? add_required_hit(r, &hit, e) : 0;
}

static int add_release(struct required_files *r, const struct required_task *t, const struct closure_choice *c, struct err *e)
{
	const struct resolve_outcome *o = &c->outcome;
	for (size_t i = o->release.first; i < o->release.end; i++) {
		const struct index_file *f = &c->files->file[i];
		bool is_spare = o->kind == RESOLVE_UPSTREAM && f->is_wheel && !f->platform &&
				f->is_yanked == o->file->is_yanked;
		if ((f == o->file || is_spare) && add_file_hit(r, t, c, f, e) < 0)
			return -1;
	}
	return 0;
}

static int add_failure(struct required_files *r, const struct required_task *t, const struct closure_choice *c,
	enum locked_status status, const char *why, struct err *e)
{
	struct required_hit hit = begin_hit(r, t, c);
	hit.row.status = status;
	hit.row.is_wanted = true;
	hit.row.why = arena_strdup(&r->out->text, why);
	return add_required_hit(r, &hit, e);
}

// --- why there is nothing ---

struct nothing {
	struct required_files *r;
	const struct required_task *task;
	const struct closure_choice *choice;
};

static int explain_nothing(void *ctx, const struct upstream_answer *answer, struct err *e)
{
	const struct nothing *x = ctx;
	const struct closure_choice *c = x->choice;
	const struct known_order *o = &x->r->order;
	const struct platform *platform = o->fits->place[x->task->place].platform;
	const struct cell_rules rules = {.config = o->config, .view = o->options->view, .catalog = o->catalog};
	CLEANUP(index_files_release) struct index_files files, listed;
	index_files_init(&files, c->project, o->fits);
	index_files_init(&listed, c->project, o->fits);
	if (answer->page)
		index_files_add_page(&files, answer->page, 0);
	if (answer->hidden)
		index_files_add_page(&listed, answer->listed, 0);
	if (our_files_add(o->catalog, platform, o->denied, o->options->view, &files, e) < 0)
		return -1;
	const struct cell cell = {.rules = &rules,
		.files = &files,
		.project = c->project,
		.place = x->task->place,
		.platform = platform,
		.is_upstream_known = known_projects_is_certain(x->r->known, c->project),
		.upstream_says = known_projects_says(x->r->known, c->project),
		.listed = answer->hidden ? &listed : NULL,
		.answer = answer};
	const struct branch_want want = {.project = c->project,
		.specifier = c->specifier,
		.micros = x->task->micros,
		.is_pinned = specifier_set_pins(str_from(c->specifier), NULL),
		.source = c->by};
	struct cell_status status[RESOLVE_OUTCOMES];
	struct missing_row row = {.micros = x->task->micros};
	cell_decide(&cell, &want, &x->r->scratch, status);
	if (cell_explain(&cell, &want, status, &x->r->scratch, &row, e) < 0)
		return -1;
	struct required_hit hit = begin_hit(x->r, x->task, c);
	hit.row.status = status->status == WHEEL_COOLING   ? LOCKED_COOLING
			 : status->status == WHEEL_UNKNOWN ? LOCKED_UNKNOWN
							   : LOCKED_MISSING;
	hit.row.offered = row.offered;
	hit.row.is_wanted = true;
	hit.row.why = arena_printf(&x->r->out->text, "%s%s%s", c->why, *c->why ? ": " : "", row.why);
	return add_required_hit(x->r, &hit, e);
}

// --- following them ---

static int add_choice(struct required_files *r, const struct required_task *t, const struct closure_choice *c, struct err *e)
{
	struct nothing nothing = {r, t, c};
	switch (c->state) {
	case CLOSURE_TAKEN:
		return add_release(r, t, c, e);
	case CLOSURE_UNKNOWN:
		return add_release(r, t, c, e) < 0 ? -1 : add_failure(r, t, c, LOCKED_UNKNOWN, c->why, e);
	case CLOSURE_NOTHING:
		return upstream_load_cached(r->order.upstreams, r->order.catalog, c->project, explain_nothing, &nothing, e);
	case CLOSURE_CONFLICT:
		break;
	}
	return add_failure(r, t, c, LOCKED_CONFLICT, c->why, e);
}

static int take_closure(struct required_files *r, size_t number, const struct closure *found, struct err *e)
{
	const struct required_task t = r->task[number];
	r->task[number].is_done = found->end != CLOSURE_WAITS;
	if (found->end == CLOSURE_SPLITS) {
		add_task(r, t.set, t.place, t.micros & found->split);
		add_task(r, t.set, t.place, t.micros & ~found->split);
	} else if (found->end == CLOSURE_TOO_LONG) {
		const struct closure_choice first = {
			.project = t.set->need->project, .by = t.set->need->source, .line = t.set->need->line};
		const char *why = arena_printf(&r->scratch, "no choice was found in %d steps: give a lock",
			LIMIT_RESOLVE_STEPS);
		return add_failure(r, &t, &first, LOCKED_CONFLICT, why, e);
	}
	for (size_t i = 0; i < found->choices; i++)
		if (add_choice(r, &t, &found->choice[i], e) < 0)
			return -1;
	return 0;
}

static int run_task(struct required_files *r, size_t number, struct err *e)
{
	struct closure found;
	const struct required_task *t = &r->task[number];
	const struct closure_order order = {.fits = r->order.fits,
		.place = t->place,
		.micros = t->micros,
		.root = t->set->need,
		.roots = t->set->needs,
		.allows_pre = t->set->allows_pre,
		.files = known_projects_files,
		.metadata = known_projects_metadata,
		.ctx = r->known};
	closure_make(&order, &r->scratch, &found);
	int result = take_closure(r, number, &found, e);
	arena_release(&r->scratch);
	return result;
}

// --- rows ---

static int compare_hits(const void *a, const void *b)
{
	const struct required_hit *x = a, *y = b;
	int order = strcmp(x->row.lock, y->row.lock);
	order = order ? order : strcmp(x->row.project, y->row.project);
	order = order ? order : strcmp(x->row.filename ? x->row.filename : "", y->row.filename ? y->row.filename : "");
	order = order ? order : strcmp(x->row.why, y->row.why);
	return order ? order : (x->place > y->place) - (x->place < y->place);
}

static bool is_of_row(const struct required_files *r, const struct required_hit *a, const struct required_hit *b)
{
	const struct fits_place *place = r->order.fits->place;
	return place[a->place].platform == place[b->place].platform && strcmp(a->row.lock, b->row.lock) == 0 &&
	       strcmp(a->row.project, b->row.project) == 0 && strcmp(a->row.why, b->row.why) == 0 &&
	       (a->row.filename && b->row.filename ? strcmp(a->row.filename, b->row.filename) == 0
						   : a->row.filename == b->row.filename);
}

static void put_required_row(struct required_files *r, struct required_hit *first, size_t count)
{
	struct locked_files *out = r->out;
	const struct fits_place *place = r->order.fits->place;
	CLEANUP(buf_release) struct buf pythons = buf_up_to(LIMIT_PATH), parts = buf_up_to(LIMIT_PATH);
	GROW(out->row, out->rows, out->room);
	struct locked_row *row = &out->row[out->rows++];
	*row = first->row;
	row->platform = arena_strdup(&out->text, place[first->place].platform->name);
	for (size_t i = 0; i < count; i++) {
		const struct fits_place *p = &place[first[i].place];
		row->is_wanted |= first[i].row.is_wanted;
		buf_printf(&pythons, "%s%s", i ? " " : "", p->python);
		if (first[i].micros == UINT64_MAX)
			continue;
		buf_puts(&parts, parts.len ? ", " : "on ");
		fits_print_micros(first[i].micros, &p->environment->python, &parts);
	}
	row->pythons = arena_copy(&out->text, buf_view(&pythons));
	if (parts.len && !*row->why)
		row->why = arena_copy(&out->text, buf_view(&parts));
}

// A project in quarantine lists nothing, of upstream neither.
static int look_for_quarantine(struct required_files *r, struct locked_row *row, const struct platform *platform, struct err *e)
{
	CLEANUP(project_status_release) struct project_status status = {0};
	if (project_status_find(r->order.catalog, row->project, &platform, 1, &status, e) < 0)
		return -1;
	if (status.status != SIMPLEPAGE_QUARANTINED)
		return 0;
	row->status = LOCKED_MISSING;
	row->why = arena_printf(&r->out->text, "it is %s: %s", simplepage_status_name[status.status], status.reason);
	return 0;
}

static int put_rows(struct required_files *r, struct err *e)
{
	if (r->out->rows + r->hits > LIMIT_MISSING_ROWS)
		return err_set(e, ERR_LIMIT, "more than %d rows: name fewer projects or platforms", LIMIT_MISSING_ROWS);
	if (r->hits)
		qsort(r->hit, r->hits, sizeof(*r->hit), compare_hits);
	for (size_t i = 0, n; i < r->hits; i += n) {
		for (n = 1; i + n < r->hits && is_of_row(r, &r->hit[i], &r->hit[i + n]); n++)
			;
		const struct platform *platform = r->order.fits->place[r->hit[i].place].platform;
		put_required_row(r, &r->hit[i], n);
		if (look_for_quarantine(r, &r->out->row[r->out->rows - 1], platform, e) < 0)
			return -1;
	}
	r->hits = r->tasks = 0;
	free(r->slot);
	r->slot = NULL;
	r->slots = 0;
	return 0;
}

int required_files_find(struct required_files *r, struct err *e)
{
	for (bool waits = true; waits;) {
		waits = false;
		for (size_t i = 0; i < r->tasks; i++) {
			if (!r->task[i].is_done && run_task(r, i, e) < 0)
				return -1;
			waits |= !r->task[i].is_done;
		}
		if (known_projects_get(r->known, e) < 0)
			return -1;
	}
	return put_rows(r, e);
}

// --- builds ---

static const struct index_file *find_upstream_file(struct index_files *files, const char *filename)
{
	for (size_t i = 0; files && i < files->count; i++)
		if (!files->file[i].platform && strcmp(files->file[i].filename, filename) == 0)
			return &files->file[i];
	return NULL;
}

static bool is_sdist_of_upstream(const struct locked_row *row)
{
	return row->status == LOCKED_UPSTREAM && row->is_wanted && row->filename &&
	       filename_kind(str_from(row->filename)) == FILENAME_SDIST;
}

// Notes, or else knows, what a build of the row's sdist requires.
static const struct closure_metadata *know_build(struct required_files *r, const struct locked_row *row)
{
	struct index_files *files = known_projects_files(r->known, row->project);
	const struct index_file *f = find_upstream_file(files, row->filename);
	return f ? known_projects_metadata(r->known, files, f) : NULL;
}

static void add_build(struct required_files *r, const struct locked_row *row, const struct closure_metadata *metadata)
{
	struct arena *text = &r->text;
	struct closure_need *need = ARENA_NEW(text, struct closure_need, metadata->build_needs);
	for (size_t i = 0; i < metadata->build_needs; i++) {
		need[i] = metadata->build_need[i];
		need[i].source = arena_printf(text, "the build of %s", row->filename);
		need[i].line = row->line;
	}
	const struct required_set *set = add_set(r,
		&(struct required_set){.path = row->lock, .need = need, .needs = metadata->build_needs});
	for (size_t place = 0; place < r->order.fits->places; place++)
		if (strcmp(r->order.fits->place[place].platform->name, row->platform) == 0)
			add_task(r, set, place, UINT64_MAX);
}

static void add_unknown_build(struct required_files *r, const struct locked_row *of, const char *why)
{
	struct locked_row row = *of;
	row.filename = row.sha256 = NULL;
	row.status = LOCKED_UNKNOWN;
	row.why = arena_strdup(&r->out->text, why);
	GROW(r->out->row, r->out->rows, r->out->room);
	r->out->row[r->out->rows++] = row;
}

static int add_builds_of_rows(struct required_files *r, size_t rows, struct err *e)
{
	for (int round = 0; round < 2; round++) { // pages, then METADATA
		for (size_t i = 0; i < rows; i++)
			if (is_sdist_of_upstream(&r->out->row[i]))
				know_build(r, &r->out->row[i]);
		if (known_projects_get(r->known, e) < 0)
			return -1;
	}
	for (size_t i = 0; i < rows; i++) {
		const struct locked_row copy = r->out->row[i], *row = &copy; // rows move
		const struct closure_metadata *metadata = is_sdist_of_upstream(row) ? know_build(r, row) : NULL;
		CLEANUP(mem_free)
		char *key = xasprintf("%s %s %s", row->lock, row->platform, row->filename ? row->filename : "");
		if (!metadata || strset_has(&r->built, key))
			continue;
		strset_add(&r->built, key);
		strset_sort(&r->built);
		if (!metadata->fault)
			add_build(r, row, metadata);
		else if (!row->by) // else its row is there
			add_unknown_build(r, row, metadata->fault);
	}
	return 0;
}

int required_files_add_builds(struct required_files *r, struct err *e)
{
	for (;;) {
		if (add_builds_of_rows(r, r->out->rows, e) < 0)
			return -1;
		if (!r->tasks)
			return 0;
		if (required_files_find(r, e) < 0)
			return -1;
	}
}
