// SPDX-License-Identifier: Apache-2.0
#include "builder/missing/locked-files.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/strset.h"
#include "lib/base/suggest.h"
#include "lib/domain/index/simplepage.h"
#include "lib/domain/lock/lock-read.h"
#include "lib/domain/lock/lock-wants.h"
#include "lib/domain/text/filename.h"
#include "lib/install/index-files.h"
#include "lib/state/catalog/catalog-view.h"
#include "lib/state/store/project-status.h"
#include "lib/state/store/retired.h"
#include "lib/state/upstream/offering.h"
#include "lib/state/upstream/rule-list.h"
#include "lib/state/upstream/upstream.h"

enum { KEPT_TEXTS = 100000 }; // tag sets that are kept from project to project

const char *const locked_status_name[LOCKED_STATUS_COUNT] = {
	[LOCKED_HERE] = "here",
	[LOCKED_UPSTREAM] = "upstream",
	[LOCKED_COOLING] = "cooling",
	[LOCKED_UNKNOWN] = "unknown",
	[LOCKED_MISSING] = "missing",
	[LOCKED_OTHER_BYTES] = "other-bytes",
	[LOCKED_CONFLICT] = "conflict",
};

// A lock, and what it wants: micros[place * packages + package].
struct locked_lock {
	const char *path;
	struct lock lock;
	uint64_t *micros;
};

struct locked_package {
	size_t lock, package;
	const char *project; // borrowed
};

// A file that may count on a platform.
struct locked_candidate {
	const struct index_file *file;   // what installs where
	const struct lock_file *named;   // by the lock
	const struct index_file *known;  // of its name: ours, else upstream's, also one that clients do not get; NULL: none
	bool is_spare; // clients do not get it, so it counts only where no other file does
	bool is_wanted;
};

struct locked_search {
	const struct store *store;
	struct catalog *catalog, *reader; // offline the same
	const struct missing_options *options;
	struct locked_files *out;
	struct locked_lock *lock;
	size_t locks;
	struct locked_package *package; // by project
	size_t packages, package_room;
	size_t next; // of them to be decided
	struct strset projects;
	struct upstreams *upstreams;
	struct rule_list *denied; // [server] deny
	struct fits fits;
	uint64_t asked, failed; // look-ups
	// Of the project that is being decided.
	const struct upstream_answer *answer;
	const struct index_file **by_name; // of the known files
	struct index_files known;
	bool is_upstream_known;
	const char *says; // why upstream has nothing; "": it has the project
	const char *withdrawn; // why the project is in quarantine on the platform that is being decided; NULL: it is not
	struct arena scratch;
};

// --- rows ---

// A package on a platform, whose places are from first to end.
struct locked_cell {
	struct locked_search *search;
	const struct locked_lock *lock;
	const struct lock_package *package;
	size_t number, first, end;
};

static uint64_t micros_of(const struct locked_cell *c, size_t place)
{
	return c->lock->micros[place * c->lock->lock.packages + c->number];
}

// Whether a file counts on a Python; file NULL: whether the package does.
static bool counts_on(const struct locked_cell *c, const struct index_files *of, const struct index_file *file,
	size_t place)
{
	return micros_of(c, place) & (file ? index_files_micros(of, place, file) : UINT64_MAX);
}

static const char *list_pythons(const struct locked_cell *c, const struct index_files *of,
	const struct index_file *file)
{
	CLEANUP(buf_release) struct buf all = buf_up_to(LIMIT_PATH);
	for (size_t i = c->first; i < c->end; i++)
		if (counts_on(c, of, file, i))
			buf_printf(&all, "%s%s", all.len ? " " : "", c->search->fits.place[i].python);
	return all.len ? arena_copy(&c->search->out->text, buf_view(&all)) : NULL;
}

static const char *hex_of(struct arena *text, const uint8_t *sha256)
{
	char hex[SHA256_HEX + 1] = "";
	hex_encode(sha256, SHA256_SIZE, hex);
	return arena_copy(text, str_from(hex));
}

// The row's lock, platform and package; the caller adds the rest.
static struct locked_row *add_locked_row(const struct locked_cell *c, const char *pythons, struct err *e)
{
	struct locked_files *out = c->search->out;
	if (out->rows == LIMIT_MISSING_ROWS) {
		err_set(e, ERR_LIMIT, "more than %d rows: name fewer locks or platforms", LIMIT_MISSING_ROWS);
		return NULL;
	}
	GROW(out->row, out->rows, out->room);
	struct locked_row *row = &out->row[out->rows++];
	*row = (struct locked_row){
		.lock = c->lock->path,
		.line = c->package->line,
		.platform = arena_strdup(&out->text, c->search->fits.place[c->first].platform->name),
		.pythons = pythons,
		.project = arena_strdup(&out->text, c->package->project),
		.version = arena_strdup(&out->text, c->package->version),
		.why = "",
	};
	return row;
}

static bool has_bytes(const struct index_file *known, const struct lock_file *named)
{
	return named->has_sha256 && known->sha256 && memcmp(known->sha256, named->sha256, SHA256_SIZE) == 0;
}

// Whether clients do not get a file: a rule hides it, a line of deny names it, or the view does not show it.
static bool is_out_of_sight(const struct locked_search *x, const struct index_file *f)
{
	const struct upstream_answer *a = x->answer;
	return f->upstream ? a->hidden && a->hidden[f->upstream - a->listed->file] : f->is_unpromoted;
}

// It cools only if it is what the lock pins: other bytes will not do when their time comes.
static void decide_out_of_sight(const struct locked_search *x, const struct locked_candidate *f, struct locked_row *row)
{
	struct offering o;
	struct arena *text = &x->out->text;
	const struct index_file *known = f->known;
	row->status = LOCKED_MISSING;
	CLEANUP(buf_release) struct buf says = buf_up_to(LIMIT_PAGE);
	const struct requirement *denied = known->upstream ? NULL : rule_list_find(x->denied, x->known.project, known->filename, row->platform);
	if (denied) {
		offering_write_deny(denied, NULL, &says);
		row->why = arena_printf(text, "our file of this name is here, but %s", says.data);
		return;
	}
	if (!known->upstream) {
		row->why = arena_printf(text, "our file of this name is here, but the view %s does not show it", x->options->view);
		return;
	}
	upstream_judge(x->answer, upstream_home(x->answer, known->upstream).upstream, known->upstream, &o);
	bool has_other_bytes = f->named && f->named->has_sha256 && known->sha256 && !has_bytes(known, f->named);
	if (!has_other_bytes && offering_first_rule(&o) > OFFERING_RECORD) {
		row->status = LOCKED_COOLING;
		row->offered = o.next;
	}
	offering_write(&o, offering_first_rule(&o), &says);
	row->why = arena_printf(text, "upstream's file of this name %s%s%s: %s", has_other_bytes ? "has the SHA-256 " : "",
		has_other_bytes ? hex_of(text, known->sha256) : "", has_other_bytes ? ", and is not offered" : "is not offered",
		says.data);
}

// A project in quarantine lists nothing, of upstream neither.
static void decide_withdrawn(const struct locked_search *x, struct locked_row *row)
{
	row->status = LOCKED_MISSING;
	row->why = arena_printf(&x->out->text, "it is %s: %s", simplepage_status_name[SIMPLEPAGE_QUARANTINED], x->withdrawn);
}

static void decide_row(const struct locked_search *x, const struct locked_candidate *f, struct locked_row *row)
{
	struct arena *text = &x->out->text;
	const struct index_file *known = f->known;
	const char *whose = known && known->upstream ? "upstream's" : "our";
	row->status = known && known->upstream ? LOCKED_UPSTREAM : LOCKED_HERE;
	if (!known) {
		row->status = x->is_upstream_known ? LOCKED_MISSING : LOCKED_UNKNOWN;
		row->why = arena_printf(text, "no file of this name is here%s%s", *x->says ? "; " : "", x->says);
	} else if (is_out_of_sight(x, known)) {
		decide_out_of_sight(x, f, row);
	} else if (!f->named) {
		row->why = "the lock has no hash";
	} else if (f->named->has_sha256 && known->sha256) {
		if (has_bytes(known, f->named))
			return;
		row->status = LOCKED_OTHER_BYTES;
		row->why = arena_printf(text, "%s file of this name has the SHA-256 %s", whose,
			hex_of(text, known->sha256));
	} else if (f->named->size >= 0 && known->size >= 0 && f->named->size != known->size) {
		row->status = LOCKED_MISSING;
		row->why = arena_printf(text, "%s file of this name has %lld bytes, the lock's %lld", whose,
			(long long)known->size, (long long)f->named->size);
	} else {
		row->why = f->named->has_sha256 ? "judged by its name: upstream gives no SHA-256"
						: "judged by its name: the lock has no SHA-256";
	}
}

// --- the files of a package ---

static bool is_better(struct fits *fits, size_t place, const struct index_file *a, const struct index_file *b)
{
	if (a->is_wheel != b->is_wheel)
		return a->is_wheel;
	if (!a->is_wheel)
		return false; // the lock's first sdist
	long left = fits_rank(fits, a->tags, place), right = fits_rank(fits, b->tags, place);
	return left != right ? left < right : filename_compare_builds(a->build, b->build) < 0;
}

// Marks what the installer takes on each Python.
static void mark_wanted(const struct locked_cell *c, const struct index_files *of, struct locked_candidate *f,
	size_t count)
{
	for (size_t place = c->first; place < c->end; place++) {
		struct locked_candidate *best = NULL;
		for (size_t i = 0; i < count; i++)
			if (counts_on(c, of, f[i].file, place) &&
				(!best || (best->is_spare && !f[i].is_spare) ||
					(best->is_spare == f[i].is_spare &&
						is_better(&c->search->fits, place, f[i].file, best->file))))
				best = &f[i];
		if (best)
			best->is_wanted = true;
	}
}

static int add_candidates(const struct locked_cell *c, const struct index_files *of, struct locked_candidate *f,
	size_t count, struct err *e)
{
	struct arena *text = &c->search->out->text;
	mark_wanted(c, of, f, count);
	for (size_t i = 0; i < count; i++) {
		bool is_left_out = f[i].is_spare && !f[i].is_wanted;
		const char *pythons = is_left_out ? NULL : list_pythons(c, of, f[i].file);
		struct locked_row *row = pythons ? add_locked_row(c, pythons, e) : NULL;
		if (!pythons)
			continue;
		if (!row)
			return -1;
		row->line = f[i].named ? f[i].named->line : row->line;
		row->filename = arena_strdup(text, f[i].file->filename);
		row->is_wanted = f[i].is_wanted;
		row->sha256 = f[i].named && f[i].named->has_sha256 ? hex_of(text, f[i].named->sha256) : NULL;
		if (c->search->withdrawn)
			decide_withdrawn(c->search, row);
		else
			decide_row(c->search, &f[i], row);
	}
	return 0;
}

static int compare_known(const void *a, const void *b)
{
	const struct index_file *left = *(const struct index_file *const *)a,
				*right = *(const struct index_file *const *)b;
	int order = strcmp(left->filename, right->filename);
	return order ? order : (left->platform > right->platform) - (left->platform < right->platform);
}

// The file of this name: that of the platform, else upstream's; one that clients get before one that they do not. NULL:
// none.
static const struct index_file *find_known(const struct locked_search *x, const char *filename, int64_t platform)
{
	const struct index_file *spare = NULL;
	for (int way = 0; way < 2; way++) {
		const struct index_file key = {.filename = filename, .platform = way ? 0 : platform}, *wanted = &key;
		const struct index_file *const *found =
			bsearch(&wanted, x->by_name, x->known.count, sizeof(*x->by_name), compare_known);
		if (found && !is_out_of_sight(x, *found))
			return *found;
		spare = found && !spare ? *found : spare;
	}
	return spare;
}

// The lock names files.
static int decide_names(const struct locked_cell *c, struct err *e)
{
	struct locked_search *x = c->search;
	int64_t platform = x->fits.place[c->first].platform->id;
	CLEANUP(index_files_release) struct index_files own;
	index_files_init(&own, c->package->project, &x->fits);
	for (size_t i = 0; i < c->package->files; i++) {
		const struct lock_file *f = &c->lock->lock.file[c->package->file + i];
		const struct index_file file = {.filename = f->filename, .size = f->size, .sources = (unsigned)i};
		if (f->filename)
			index_files_add(&own, &file, NULL);
	}
	struct locked_candidate *all = ARENA_NEW(&x->scratch, struct locked_candidate, own.count);
	for (size_t i = 0; i < own.count; i++)
		all[i] = (struct locked_candidate){.file = &own.file[i],
			.named = &c->lock->lock.file[c->package->file + own.file[i].sources],
			.known = find_known(x, own.file[i].filename, platform)};
	return add_candidates(c, &own, all, own.count, e);
}

static const struct lock_file *find_hash(const struct locked_cell *c, const struct index_file *known)
{
	for (size_t i = 0; i < c->package->files; i++)
		if (has_bytes(known, &c->lock->lock.file[c->package->file + i]))
			return &c->lock->lock.file[c->package->file + i];
	return NULL;
}

// The lock has hashes, or nothing: the files of its version that a client gets are looked through.
static int decide_hashes(const struct locked_cell *c, struct err *e)
{
	struct locked_search *x = c->search;
	CLEANUP(version_release) struct version version = {0};
	int64_t platform = x->fits.place[c->first].platform->id;
	const char *pythons = list_pythons(c, NULL, NULL);
	size_t count = 0, others = 0;
	if (!pythons || !c->package->version || version_parse(str_from(c->package->version), &version, e) < 0)
		return pythons && c->package->version ? -1 : 0;
	struct index_release release = index_files_of_version(&x->known, &version);
	struct locked_candidate *all = ARENA_NEW(&x->scratch, struct locked_candidate, release.end - release.first);
	for (size_t i = release.first; i < release.end; i++) {
		const struct index_file *f = &x->known.file[i];
		const struct lock_file *named = find_hash(c, f);
		if (find_known(x, f->filename, platform) != f)
			continue;
		bool is_spare = is_out_of_sight(x, f);
		if (named || !c->package->files)
			all[count++] = (struct locked_candidate){.file = f, .named = named, .known = f, .is_spare = is_spare};
		else if (!is_spare)
			for (size_t place = c->first; place < c->end; place++)
				others += counts_on(c, &x->known, f, place);
	}
	size_t before = x->out->rows;
	if (add_candidates(c, &x->known, all, count, e) < 0)
		return -1;
	if (x->out->rows > before)
		return 0;
	struct locked_row *row = add_locked_row(c, pythons, e);
	if (!row)
		return -1;
	row->is_wanted = true;
	if (x->withdrawn) {
		decide_withdrawn(x, row);
		return 0;
	}
	row->status = others ? LOCKED_OTHER_BYTES : x->is_upstream_known ? LOCKED_MISSING : LOCKED_UNKNOWN;
	row->why = others ? "no file of this version that installs there has one of the lock's hashes"
			  : arena_printf(&x->out->text, "no file of this version installs there%s%s",
				    *x->says ? "; " : "", x->says);
	return 0;
}

static int decide_package(struct locked_search *x, const struct locked_package *p, struct err *e)
{
	struct locked_cell c = {.search = x,
		.lock = &x->lock[p->lock],
		.package = &x->lock[p->lock].lock.package[p->package],
		.number = p->package};
	bool has_names = c.package->files && c.lock->lock.file[c.package->file].filename;
	for (; c.first < x->fits.places; c.first = c.end) {
		CLEANUP(project_status_release) struct project_status status = {0};
		for (c.end = c.first; c.end < x->fits.places; c.end++)
			if (x->fits.place[c.end].platform != x->fits.place[c.first].platform)
				break;
		if (project_status_find(x->reader, p->project, &x->fits.place[c.first].platform, 1, &status, e) < 0)
			return -1;
		x->withdrawn = status.status == SIMPLEPAGE_QUARANTINED ? status.reason : NULL;
		if ((has_names ? decide_names(&c, e) : decide_hashes(&c, e)) < 0)
			return -1;
	}
	return 0;
}

// --- a project ---

struct locked_listing {
	struct locked_search *search;
	const struct platform *platform;
};

static int add_our_file(void *ctx, const struct catalog_file *file, struct err *e)
{
	struct locked_listing *l = ctx;
	const struct locked_search *x = l->search;
	int shows = 1;
	if (rule_list_find(x->denied, x->known.project, file->filename, l->platform->name))
		shows = 0;
	else if (x->options->view)
		shows = catalog_view_has(x->reader, x->options->view, GENERATION_NEWEST, l->platform->id, file->filename,
			file->sha256, e);
	if (shows >= 0)
		index_files_add_ours(&l->search->known, l->platform->id, file, shows);
	return shows < 0 ? -1 : 0;
}

static int list_project_files(struct locked_search *x, const struct upstream_answer *answer, struct err *e)
{
	size_t unused;
	const struct platform *last = NULL;
	if (answer->result == UPSTREAM_KNOWN && answer->page)
		index_files_add_page(&x->known, answer->listed, 0);
	for (size_t i = 0; i < x->fits.places; i++) {
		struct locked_listing l = {x, x->fits.place[i].platform};
		if (x->fits.place[i].platform != last &&
			catalog_project_files(x->reader, l.platform->id, x->known.project, add_our_file, &l, e) < 0)
			return -1;
		last = x->fits.place[i].platform;
	}
	index_files_admitted(&x->known, "", &unused); // puts them in their order
	x->by_name = ARENA_NEW(&x->scratch, const struct index_file *, x->known.count);
	for (size_t i = 0; i < x->known.count; i++)
		x->by_name[i] = &x->known.file[i];
	qsort(x->by_name, x->known.count, sizeof(*x->by_name), compare_known);
	return 0;
}

static void note_answer(struct locked_search *x, const struct upstream_answer *a)
{
	static const enum upstream_result certain[] = {
		UPSTREAM_KNOWN, UPSTREAM_ABSENT, UPSTREAM_NOT_FOUND, UPSTREAM_QUARANTINED, UPSTREAM_PRIVATE};
	x->is_upstream_known = false;
	for (size_t i = 0; i < ARRAY_SIZE(certain); i++)
		x->is_upstream_known |= a->result == certain[i];
	x->says = a->result == UPSTREAM_KNOWN
			  ? ""
			  : arena_printf(&x->scratch, "upstream: %s%s%s", upstream_result_name[a->result],
				    a->why && *a->why ? ": " : "", a->why ? a->why : "");
}

static int decide_locked_project(void *ctx, const struct upstream_answer *answer, struct err *e)
{
	struct locked_search *x = ctx;
	const char *project = answer->project;
	fits_trim(&x->fits, KEPT_TEXTS);
	index_files_init(&x->known, project, &x->fits);
	x->answer = answer;
	note_answer(x, answer);
	int result = list_project_files(x, answer, e);
	while (result == 0 && x->next < x->packages && strcmp(x->package[x->next].project, project) == 0)
		result = decide_package(x, &x->package[x->next++], e);
	index_files_release(&x->known);
	arena_release(&x->scratch);
	return result;
}

// --- all ---

int locked_files_places(const struct store *store, struct catalog *catalog, const struct missing_options *options,
	struct fits *fits, struct err *e)
{
	for (size_t i = 0; i < store->platform_count; i++) {
		const struct platform *p = &store->platform[i];
		enum catalog_scanned scanned = CATALOG_NOT_TRIED;
		size_t before = fits->places;
		if (!store_is_wanted(options->platform, options->platforms, p->name) ||
			(retired_is(p) && !options->has_retired))
			continue;
		for (size_t k = 0; k < p->profile.environment_count; k++) {
			const struct environment *env = &p->profile.environment[k];
			CLEANUP(buf_release) struct buf python = buf_up_to(LIMIT_FILE_NAME);
			python_print(&env->python, &python);
			if (!options->python || strcmp(python.data, options->python) == 0)
				fits_add(fits, p, &p->profile.machine, env);
		}
		if (fits->places > before && p->id && catalog_platform_scanned(catalog, p->id, &scanned, e) < 0)
			return -1;
		if (fits->places > before && scanned != CATALOG_SCANNED)
			return err_set(e, ERR_NOT_FOUND,
				"platform %s: no scan has read it yet: run wheelcache index first", p->name);
	}
	if (fits->places)
		return 0;
	if (retired_refuse(store, options->platform, options->platforms, e) < 0)
		return -1;
	return err_set(e, ERR_USAGE,
		"no platform has a known Python: [platform NAME] pythons, arch and libc name them");
}

static int compare_packages(const void *a, const void *b)
{
	const struct locked_package *left = a, *right = b;
	int order = strcmp(left->project, right->project);
	if (order == 0)
		order = (left->lock > right->lock) - (left->lock < right->lock);
	return order ? order : (left->package > right->package) - (left->package < right->package);
}

static int read_lock(struct locked_search *x, const char *path, const struct marker_choice *choice, struct err *e)
{
	struct locked_lock *l = &x->lock[x->locks++];
	l->path = arena_strdup(&x->out->text, path);
	if (lock_read(path, &l->lock, e) < 0)
		return -1;
	l->micros = xcalloc(x->fits.places * l->lock.packages + 1, sizeof(*l->micros));
	for (size_t i = 0; i < x->fits.places; i++)
		if (lock_wants(&l->lock, x->fits.place[i].machine, &x->fits.place[i].environment->python, choice,
			    &l->micros[i * l->lock.packages], e) < 0)
			return err_prefix(e, "%s: ", path);
	x->out->skipped += l->lock.skipped;
	for (size_t i = 0; i < l->lock.packages; i++) {
		const struct locked_package one = {x->locks - 1, i, l->lock.package[i].project};
		if (l->lock.package[i].source)
			continue;
		GROW(x->package, x->packages, x->package_room);
		x->package[x->packages++] = one;
		strset_add(&x->projects, one.project);
	}
	return 0;
}

static int count_locked_look_up(void *ctx, const struct upstream_answer *answer, struct err *e UNUSED)
{
	struct locked_search *x = ctx;
	x->asked++;
	x->failed += answer->result != UPSTREAM_KNOWN && answer->result != UPSTREAM_ABSENT &&
		     answer->result != UPSTREAM_NOT_FOUND && answer->result != UPSTREAM_PRIVATE;
	if (x->options->progress)
		x->options->progress(x->options->ctx, x->asked, x->projects.count, x->failed);
	return 0;
}

static int decide_all_projects(struct locked_search *x, struct err *e)
{
	if (x->options->is_offline)
		x->reader = x->catalog;
	else if (upstream_lookup(x->upstreams, x->catalog, (const char *const *)x->projects.item, x->projects.count,
			 count_locked_look_up, x, e) < 0 ||
		 catalog_open_read(catalog_path(x->catalog), &x->reader, e) < 0)
		return -1;
	if (catalog_read_begin(x->reader, e) < 0)
		return -1;
	CLEANUP(catalog_read_end) struct catalog *snapshot = x->reader;
	for (size_t i = 0; i < x->projects.count; i++)
		if (upstream_load_cached(x->upstreams, snapshot, x->projects.item[i], decide_locked_project, x, e) < 0)
			return -1;
	return catalog_is_current(snapshot, e);
}

static int compare_locked_rows(const void *a, const void *b)
{
	const struct locked_row *left = a, *right = b;
	int order = strcmp(left->lock, right->lock);
	if (order == 0)
		order = strcmp(left->platform, right->platform);
	if (order == 0)
		order = (left->line > right->line) - (left->line < right->line);
	return order ? order : strcmp(left->filename ? left->filename : "", right->filename ? right->filename : "");
}

void locked_files_sort(struct locked_files *l)
{
	if (l->rows)
		qsort(l->row, l->rows, sizeof(*l->row), compare_locked_rows);
}

static void locked_search_release(struct locked_search *x)
{
	for (size_t i = 0; i < x->locks; i++) {
		lock_release(&x->lock[i].lock);
		free(x->lock[i].micros);
	}
	free(x->lock);
	free(x->package);
	strset_release(&x->projects);
	upstreams_free(x->upstreams);
	rule_list_unref(x->denied);
	fits_release(&x->fits);
	arena_release(&x->scratch);
	if (!x->options->is_offline)
		catalog_close(x->reader);
}

// --- which groups and extras count ---

// Whether the lock lists all groups, or extras, that the project has; others name them in markers alone.
static bool lists_names(enum lock_kind kind, bool is_extra)
{
	return kind == LOCK_UV || kind == LOCK_PDM || (!is_extra && (kind == LOCK_POETRY || kind == LOCK_PIPFILE));
}

// Refuses a name that no lock has: a misspelt one would check less, and pass.
static int check_name(const struct locked_search *x, const char *name, bool is_extra, struct err *e)
{
	CLEANUP(strset_release) struct strset names = {0};
	CLEANUP(name_choice_release) struct name_choice choice = {0};
	for (size_t i = 0; i < x->locks; i++) {
		if (!lists_names(x->lock[i].lock.kind, is_extra))
			return 0;
		for (size_t k = 0; k < x->lock[i].lock.slots; k++) {
			const struct lock_slot *slot = &x->lock[i].lock.slot[k];
			const char *has = is_extra ? slot->extra : slot->group;
			if (slot->is_root && has)
				strset_add(&names, has);
		}
	}
	strset_sort(&names);
	if (strset_has(&names, name))
		return 0;
	name_choice_init(&choice, str_from(name));
	for (size_t i = 0; i < names.count; i++)
		name_choice_add(&choice, names.item[i]);
	return name_choice_refuse(&choice, ERR_USAGE, is_extra ? "no lock has the extra" : "no lock has the group", e);
}

static int check_choice(const struct locked_search *x, const struct marker_choice *choice, struct err *e)
{
	for (size_t i = 0; i < choice->groups; i++)
		if (check_name(x, choice->group[i], false, e) < 0)
			return -1;
	for (size_t i = 0; i < choice->extras; i++)
		if (check_name(x, choice->extra[i], true, e) < 0)
			return -1;
	return 0;
}

int locked_files_find(const struct config *c, const struct store *store, struct catalog *catalog,
	const char *const *path, size_t paths, const struct marker_choice *choice,
	const struct missing_options *options, struct locked_files *out, struct err *e)
{
	*out = (struct locked_files){0};
	CLEANUP(locked_search_release)
	struct locked_search x = {.store = store,
		.catalog = catalog,
		.options = options,
		.out = out,
		.lock = xcalloc(paths + 1, sizeof(*x.lock))};
	int result = rule_list_open(c->deny, NULL, &x.denied, e) < 0
			     ? -1
			     : locked_files_places(store, catalog, options, &x.fits, e);
	for (size_t i = 0; i < paths && result == 0; i++)
		result = read_lock(&x, path[i], choice, e);
	if (result == 0)
		result = check_choice(&x, choice, e);
	if (result == 0) {
		strset_sort(&x.projects);
		qsort(x.package, x.packages, sizeof(*x.package), compare_packages);
		result = upstreams_new(c, &x.upstreams, e) < 0 ? -1 : decide_all_projects(&x, e);
	}
	if (result == 0)
		locked_files_sort(out);
	else
		locked_files_release(out);
	return result;
}

void locked_files_release(struct locked_files *l)
{
	free(l->row);
	arena_release(&l->text);
	*l = (struct locked_files){0};
}
