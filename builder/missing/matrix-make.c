// SPDX-License-Identifier: Apache-2.0
// Opens a maker of matrices; reads a project's versions, ours and upstream's, and chooses the one that a matrix is
// about.
#include <stdlib.h>
#include <string.h>

#include "builder/missing/matrix-parts.h"
#include "lib/domain/index/simplepage.h"
#include "lib/domain/text/filename.h"
#include "lib/state/catalog/catalog-view.h"

enum { KEPT_NUMBERS = 100000 }; // tag sets, and texts of Requires-Python, that are kept from project to project

// --- what is the same for all projects ---

static bool view_has_platform(const struct matrix_view *v, const struct platform *p)
{
	for (size_t i = 0; i < v->platforms; i++)
		if (v->platform[i] == p)
			return true;
	return false;
}

static void list_together(struct project_matrix_maker *m)
{
	const struct project_matrix_options *o = &m->options;
	m->together = xcalloc(o->platforms * o->platforms + 1, sizeof(*m->together));
	m->name = xcalloc(o->platforms + 1, sizeof(*m->name));
	for (size_t i = 0; i < o->platforms; i++) {
		m->name[i] = o->platform[i]->name;
		for (size_t k = 0; k < o->platforms; k++)
			for (size_t v = o->views; v-- > 0;)
				if (view_has_platform(&o->view[v], o->platform[i]) &&
					view_has_platform(&o->view[v], o->platform[k]))
					m->together[i * o->platforms + k] = &o->view[v];
	}
}

int project_matrix_open(const struct project_matrix_options *options, struct project_matrix_maker **out, struct err *e)
{
	CLEANUP(project_matrix_cleanup) struct project_matrix_maker *m = xcalloc(1, sizeof(*m));
	m->options = *options;
	if (upstreams_new(options->config, &m->upstreams, e) < 0)
		return -1;
	const struct project_matrix_options *o = &m->options;
	size_t places = 0;
	for (size_t i = 0; i < o->platforms; i++)
		if (!o->is_retired || !o->is_retired[i])
			fits_add_platform(&m->fits, o->platform[i]);
	m->lacks_upstream = xcalloc(m->fits.places + 1, sizeof(*m->lacks_upstream));
	for (size_t i = 0; i < o->platforms; i++)
		for (; places < m->fits.places && m->fits.place[places].platform == o->platform[i]; places++)
			m->lacks_upstream[places] = o->lacks_upstream && o->lacks_upstream[i];
	list_together(m);
	*out = STEAL_PTR(m);
	return 0;
}

void project_matrix_free(struct project_matrix_maker *m)
{
	if (!m)
		return;
	fits_release(&m->fits);
	upstreams_free(m->upstreams);
	free(m->lacks_upstream);
	free(m->together);
	free(m->name);
	free(m);
}

void project_matrix_cleanup(struct project_matrix_maker **m)
{
	project_matrix_free(*m);
	*m = NULL;
}

// --- the versions of ours ---

// 1: the options' view shows the file, or none is asked for; 0: it does not.
static int shows_file(struct matrix_work *w, int64_t platform, const struct catalog_file *file, struct err *e)
{
	const struct project_matrix_options *o = &w->maker->options;
	if (!o->is_of_view || !o->view[0].membership)
		return 1;
	return catalog_view_has(w->catalog, o->view[0].membership, o->view[0].generation, platform, file->filename,
		file->sha256, e);
}

struct release_reader {
	struct matrix_work *work;
	int64_t platform;
	size_t first; // of the releases of this platform
};

static void add_release(struct release_reader *r, const struct catalog_file *file)
{
	struct project_matrix *m = r->work->out;
	struct err ignored = ERR_INIT;
	CLEANUP(version_release) struct version v = {0};
	bool is_parsed = version_parse(str_from(file->version), &v, &ignored) == 0;
	const char *key = arena_copy(&m->text, file->version_key);
	GROW(m->release, m->releases, m->release_room);
	m->release[m->releases++] = (struct matrix_release){
		.version = arena_copy(&m->text, str_from(file->version)),
		.key = {key, file->version_key.len},
		.is_prerelease = is_parsed && v.is_prerelease,
		.is_yanked = true,
	};
}

static void count_file(struct matrix_release *release, const struct catalog_file *file)
{
	int64_t came = catalog_file_came(file);
	bool is_wheel = filename_kind(str_from(file->filename)) == FILENAME_WHEEL;
	release->first = release->files && release->first < came ? release->first : came;
	release->last = release->last > came ? release->last : came;
	release->files++;
	release->wheels += is_wheel;
	release->bytes += file->size;
	release->is_yanked &= file->yanked != NULL;
}

// The files come in the order of their versions.
static int take_release_file(void *ctx, const struct catalog_file *file, struct err *e)
{
	struct release_reader *r = ctx;
	struct project_matrix *m = r->work->out;
	int is_shown = shows_file(r->work, r->platform, file, e);
	if (is_shown <= 0)
		return is_shown;
	if (m->releases == r->first || !str_eq(m->release[m->releases - 1].key, file->version_key))
		add_release(r, file);
	count_file(&m->release[m->releases - 1], file);
	return 0;
}

static int compare_release_keys(const void *a, const void *b)
{
	const struct matrix_release *left = a, *right = b;
	int order = str_cmp(right->key, left->key);
	return order ? order : strcmp(left->version, right->version);
}

static int read_releases(struct matrix_work *w, struct err *e)
{
	const struct project_matrix_options *o = &w->maker->options;
	for (size_t i = 0; i < o->platforms; i++) {
		struct release_reader r = {w, o->platform[i]->id, w->out->releases};
		if (r.platform &&
			catalog_project_files(w->catalog, r.platform, w->out->project, take_release_file, &r, e) < 0)
			return -1;
	}
	struct project_matrix *m = w->out;
	size_t kept = 0;
	if (m->releases)
		qsort(m->release, m->releases, sizeof(*m->release), compare_release_keys);
	for (size_t i = 0; i < m->releases; i++) {
		const struct matrix_release *r = &m->release[i];
		struct matrix_release *same = kept ? &m->release[kept - 1] : NULL;
		if (!same || !str_eq(same->key, r->key)) {
			m->release[kept++] = *r;
			continue;
		}
		same->is_yanked &= r->is_yanked;
		same->files += r->files;
		same->wheels += r->wheels;
		same->bytes += r->bytes;
		same->first = r->first < same->first ? r->first : same->first;
		same->last = r->last > same->last ? r->last : same->last;
	}
	m->releases = kept;
	return 0;
}

// --- which of them ---

// A version that may be chosen.
struct version_choice {
	const char *text;
	struct str key;
	bool is_prerelease, is_yanked, has_wheel;
};

static struct version_choice choice_of_release(const struct matrix_release *r)
{
	return (struct version_choice){r->version, r->key, r->is_prerelease, r->is_yanked, r->wheels > 0};
}

// What upstream has of a release.
static struct version_choice choice_of_upstream(const struct index_files *o, const struct index_release *release)
{
	const struct version *v = &o->file[release->first].version;
	struct version_choice c = {v->text, v->key, v->is_prerelease, true, false};
	for (size_t i = release->first; i < release->end; i++) {
		const struct index_file *f = &o->file[i];
		c.is_yanked &= f->platform || f->is_yanked;
		c.has_wheel |= !f->platform && f->is_wheel && !f->is_yanked;
	}
	return c;
}

// Lower is better: pip takes pre-releases, and yanked files, only where there is nothing else.
static int rank_of_choice(const struct version_choice *c)
{
	return 2 * c->is_yanked + c->is_prerelease;
}

// The versions, the newest first.
struct version_list {
	struct version_choice *choice;
	size_t count;
};

static struct version_list list_ours(struct matrix_work *w)
{
	const struct project_matrix *m = w->out;
	struct version_list list = {
		arena_alloc_aligned(&w->files.text, (m->releases + 1) * sizeof(*list.choice)), m->releases};
	for (size_t i = 0; i < m->releases; i++)
		list.choice[i] = choice_of_release(&m->release[i]);
	return list;
}

static struct version_list list_upstreams(struct matrix_work *w)
{
	size_t count;
	const struct index_release *release = index_files_admitted(&w->files, "", &count);
	struct version_list list = {arena_alloc_aligned(&w->files.text, (count + 1) * sizeof(*list.choice)), count};
	for (size_t i = 0; i < count; i++)
		list.choice[i] = choice_of_upstream(&w->files, &release[i]);
	return list;
}

static const struct version_choice *newest_choice(const struct version_list *list)
{
	const struct version_choice *best = NULL;
	for (size_t i = 0; i < list->count; i++)
		if (!best || rank_of_choice(&list->choice[i]) < rank_of_choice(best))
			best = &list->choice[i];
	return best;
}

static const struct version_choice *choice_of_version(const struct version_list *list, const struct version *wanted)
{
	for (size_t i = 0; i < list->count; i++)
		if (str_eq(list->choice[i].key, wanted->key))
			return &list->choice[i];
	return NULL;
}

// The next older one with a wheel. Pre-releases do not come before a final release.
static const struct version_choice *choice_before(const struct version_list *list, const struct version *v)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct version_choice *c = &list->choice[i];
		if (str_cmp(c->key, v->key) < 0 && c->has_wheel && !c->is_yanked &&
			(!c->is_prerelease || v->is_prerelease))
			return c;
	}
	return NULL;
}

static void set_version(struct version *out, const char *text)
{
	struct err ignored = ERR_INIT;
	if (text && version_parse(str_from(text), out, &ignored) < 0)
		*out = (struct version){0};
}

static void choose_versions(struct matrix_work *w)
{
	struct project_matrix *m = w->out;
	const struct version_list ours = list_ours(w), upstreams = list_upstreams(w);
	const struct version_list *list = ours.count ? &ours : &upstreams;
	const struct version_choice *newest = newest_choice(&upstreams), *chosen, *before;
	m->upstream.newest = newest && !newest->is_yanked ? arena_copy(&m->text, str_from(newest->text)) : NULL;
	m->is_upstreams = !ours.count && upstreams.count;
	chosen = w->wanted ? choice_of_version(list, w->wanted) : newest_choice(list);
	w->takes_yanked = chosen && list == &ours && chosen->is_yanked;
	if (!chosen && w->wanted)
		chosen = choice_of_version(&upstreams, w->wanted);
	set_version(&w->chosen, chosen ? chosen->text : NULL);
	if (!chosen && w->wanted)
		set_version(&w->chosen, w->wanted->text);
	before = w->chosen.text ? choice_before(list, &w->chosen) : NULL;
	set_version(&w->before, before ? before->text : NULL);
}

// --- their files ---

struct file_adder {
	struct matrix_work *work;
	int64_t platform;
};

static int add_our_file(void *ctx, const struct catalog_file *file, struct err *e)
{
	struct file_adder *a = ctx;
	int is_shown = shows_file(a->work, a->platform, file, e);
	if (is_shown > 0)
		index_files_add_ours(&a->work->files, a->platform, file, true);
	return is_shown < 0 ? -1 : 0;
}

static int add_files_of(struct matrix_work *w, const struct version *v, struct err *e)
{
	const struct project_matrix_options *o = &w->maker->options;
	for (size_t i = 0; v->text && i < o->platforms; i++) {
		struct file_adder a = {w, o->platform[i]->id};
		if (a.platform &&
			catalog_version_files(w->catalog, a.platform, w->out->project, v->key, add_our_file, &a, e) < 0)
			return -1;
	}
	return 0;
}

// --- of a project that only upstream has ---

static void take_theirs(struct matrix_work *w, const struct index_release *release)
{
	struct project_matrix *m = w->out;
	const struct version *v = &w->files.file[release->first].version;
	GROW(m->release, m->releases, m->release_room);
	struct matrix_release *r = &m->release[m->releases++];
	*r = (struct matrix_release){
		.version = arena_copy(&m->text, str_from(v->text)),
		.key = {arena_copy(&m->text, v->key), v->key.len},
		.is_prerelease = v->is_prerelease,
		.is_yanked = true,
	};
	for (size_t i = release->first; i < release->end; i++) {
		const struct index_file *f = &w->files.file[i];
		r->files++;
		r->wheels += f->is_wheel;
		r->bytes += f->size > 0 ? (uint64_t)f->size : 0;
		r->is_yanked &= f->is_yanked;
		if (f->came && (!r->first || f->came < r->first))
			r->first = f->came;
		r->last = f->came > r->last ? f->came : r->last;
		if (!r->requires_python && f->python)
			r->requires_python =
				arena_copy(&w->out->text, str_from(fits_python_text(w->files.fits, f->python)));
	}
}

// A cache is searched for a file of unknown hash: of other versions than the one that is shown that is too much.
static void list_metadata(struct matrix_work *w, const struct index_release *release)
{
	struct project_matrix *m = w->out;
	bool is_shown = release->first == w->now.first;
	for (size_t i = release->first; i < release->end && m->metadatas < MATRIX_METADATAS; i++) {
		const struct index_file *f = &w->files.file[i];
		const struct simplepage_file *file = f->upstream;
		if (!f->is_wheel || !file || !(is_shown || file->has_metadata_sha256))
			continue;
		ARENA_GROW(&m->text, m->metadata, m->metadatas, m->metadata_room);
		struct matrix_metadata *one = &m->metadata[m->metadatas++];
		*one = (struct matrix_metadata){.filename = arena_copy(&m->text, str_from(f->filename)),
			.has_sha256 = file->has_metadata_sha256};
		memcpy(one->sha256, file->metadata_sha256, SHA256_SIZE);
	}
}

static void read_upstreams(struct matrix_work *w)
{
	struct project_matrix *m = w->out;
	size_t count;
	const struct index_release *release = index_files_admitted(&w->files, "", &count);
	for (size_t i = 0; i < count; i++)
		take_theirs(w, &release[i]);
	list_metadata(w, &w->now);
	for (size_t i = 0; i < count; i++)
		if (release[i].first != w->now.first)
			list_metadata(w, &release[i]);
	m->newest = arena_alloc_aligned(&m->text, (m->cells + 1) * sizeof(*m->newest));
	for (size_t i = 0; i < m->cells; i++)
		if (!w->maker->lacks_upstream[i])
			matrix_take_newest(w, i, &m->newest[m->newests++]);
}

// --- one project ---

static void matrix_work_release(struct matrix_work *w)
{
	index_files_release(&w->files);
	version_release(&w->chosen);
	version_release(&w->before);
}

// Upstream has said what it has, or that it has nothing.
static bool is_certain(const struct upstream_answer *a)
{
	return a->page || a->stale || a->result == UPSTREAM_ABSENT || a->result == UPSTREAM_NOT_FOUND ||
	       a->result == UPSTREAM_QUARANTINED || a->result == UPSTREAM_PRIVATE;
}

static int decide_matrix(struct matrix_work *w, struct err *e)
{
	struct project_matrix *m = w->out;
	choose_versions(w);
	if (!w->chosen.text)
		return 0;
	// Adds our files of both versions to those of upstream.
	index_files_reopen(&w->files);
	if (w->out->releases && (add_files_of(w, &w->chosen, e) < 0 || add_files_of(w, &w->before, e) < 0))
		return -1;
	w->now = w->chosen.text ? index_files_of_version(&w->files, &w->chosen) : w->now;
	w->then = w->before.text ? index_files_of_version(&w->files, &w->before) : w->then;
	if (matrix_read_attempts(w, e) < 0)
		return -1;
	if (w->now.first == w->now.end && !w->attempts)
		return 0;
	// When the first file of the version came, to us or else to upstream.
	for (size_t i = 0; i < w->out->releases; i++)
		if (str_eq(w->out->release[i].key, w->chosen.key))
			w->first = w->out->release[i].first;
	if (!w->first) {
		for (size_t i = w->now.first; i < w->now.end; i++) {
			const struct index_file *f = &w->files.file[i];
			if (!f->platform && f->came && (!w->first || f->came < w->first))
				w->first = f->came;
		}
	}
	m->version = arena_copy(&m->text, str_from(w->chosen.text));
	m->before = w->before.text ? arena_copy(&m->text, str_from(w->before.text)) : NULL;
	m->cell = arena_alloc_aligned(&m->text, (w->maker->fits.places + 1) * sizeof(*m->cell));
	for (; m->cells < w->maker->fits.places; m->cells++) {
		struct matrix_cell *cell = &m->cell[m->cells];
		if (matrix_decide_cell(w, m->cells, cell, e) < 0)
			return -1;
		m->count[cell->state]++;
		m->lost += cell->is_lost;
		m->others += cell->index != NULL;
	}
	m->has_upstreams = m->is_upstreams && w->maker->options.wants_upstreams;
	if (m->has_upstreams)
		read_upstreams(w);
	return 0;
}

static void add_conflict(void *ctx, const char *filename, const char *first, const char *other)
{
	struct project_matrix *m = ctx;
	if (m->upstream.conflicts == MATRIX_CONFLICTS)
		return;
	if (!m->upstream.conflict)
		m->upstream.conflict = ARENA_NEW(&m->text, struct matrix_conflict, MATRIX_CONFLICTS);
	m->upstream.conflict[m->upstream.conflicts++] = (struct matrix_conflict){arena_strdup(&m->text, filename),
		arena_strdup(&m->text, first), arena_strdup(&m->text, other)};
}

static int decide_with_upstream(void *ctx, const struct upstream_answer *answer, struct err *e)
{
	struct matrix_work *w = ctx;
	w->answer = answer;
	fits_trim(&w->maker->fits, KEPT_NUMBERS);
	index_files_init(&w->files, w->out->project, &w->maker->fits);
	const struct upstream_answer *a = w->answer;
	const struct simplepage *page = a->page ? a->page : a->stale;
	w->out->upstream.result = a->result;
	w->out->upstream.is_known = is_certain(a);
	w->out->upstream.asked = a->asked;
	w->out->upstream.fetched = page ? a->fetched : 0;
	upstream_conflicts(a, add_conflict, w->out);
	for (size_t i = 0; a->hidden && i < a->listed->files; i++)
		w->out->upstream.hidden += a->hidden[i];
	if (page)
		index_files_add_page(&w->files, page, 0);
	int result = decide_matrix(w, e);
	matrix_work_release(w); // the files borrow from the answer
	return result;
}

// Where the matrix shows no file of ours, it does not tell either whether others, which its platforms do not have, hide
// the name.
static int load_upstream(struct upstreams *u, struct catalog *c, const char *project, struct matrix_work *w, struct err *e)
{
	return w->out->releases ? upstream_load_cached(u, c, project, decide_with_upstream, w, e)
				: upstream_load_cached_open(u, c, project, decide_with_upstream, w, e);
}

int project_matrix_make(struct project_matrix_maker *m, struct catalog *c, const char *project, const char *version,
	struct project_matrix *out, struct err *e)
{
	CLEANUP(version_release) struct version wanted = {0};
	*out = (struct project_matrix){0};
	out->project = arena_copy(&out->text, str_from(project));
	struct matrix_work w = {.maker = m, .catalog = c, .out = out, .wanted = version ? &wanted : NULL};
	if ((!version || version_parse(str_from(version), &wanted, e) == 0) && read_releases(&w, e) == 0 &&
		load_upstream(m->upstreams, c, project, &w, e) == 0)
		return 0;
	project_matrix_release(out);
	return -1;
}

void project_matrix_release(struct project_matrix *m)
{
	free(m->release);
	arena_release(&m->text);
	*m = (struct project_matrix){0};
}
