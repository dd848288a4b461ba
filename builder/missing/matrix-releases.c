// SPDX-License-Identifier: Apache-2.0
// The versions of a project that we have, and which of them a matrix is about.
#include <stdlib.h>
#include <string.h>

#include "builder/missing/matrix-parts.h"
#include "lib/state/catalog/catalog-view.h"

int64_t matrix_time_of_file(const struct catalog_file *file)
{
	return file->arrived ? file->arrived : file->mtime_ns / 1000000000;
}

int matrix_shows_file(struct matrix_work *w, int64_t platform, const struct catalog_file *file, struct err *e)
{
	const struct project_matrix_options *o = &w->maker->options;
	if (!o->is_of_view || !o->view[0].membership)
		return 1;
	return catalog_view_has(w->catalog, o->view[0].membership, o->view[0].generation, platform, file->filename,
		file->sha256, e);
}

// --- the versions of ours ---

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
	int64_t came = matrix_time_of_file(file);
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
	int is_shown = matrix_shows_file(r->work, r->platform, file, e);
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

static void join_releases(struct project_matrix *m)
{
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
}

int matrix_read_releases(struct matrix_work *w, struct err *e)
{
	const struct project_matrix_options *o = &w->maker->options;
	for (size_t i = 0; i < o->platforms; i++) {
		struct release_reader r = {w, o->platform[i]->id, w->out->releases};
		if (r.platform &&
			catalog_project_files(w->catalog, r.platform, w->out->project, take_release_file, &r, e) < 0)
			return -1;
	}
	join_releases(w->out);
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
static struct version_choice choice_of_upstream(const struct offers *o, const struct offers_release *release)
{
	const struct version *v = &o->offer[release->first].version;
	struct version_choice c = {v->text, v->key, v->is_prerelease, true, false};
	for (size_t i = release->first; i < release->end; i++) {
		const struct offer *f = &o->offer[i];
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

static struct version_list list_ours(const struct project_matrix *m)
{
	struct version_list list = {xcalloc(m->releases + 1, sizeof(*list.choice)), m->releases};
	for (size_t i = 0; i < m->releases; i++)
		list.choice[i] = choice_of_release(&m->release[i]);
	return list;
}

static struct version_list list_upstreams(struct offers *o)
{
	size_t count;
	const struct offers_release *release = offers_admitted(o, "", &count);
	struct version_list list = {xcalloc(count + 1, sizeof(*list.choice)), count};
	for (size_t i = 0; i < count; i++)
		list.choice[i] = choice_of_upstream(o, &release[i]);
	return list;
}

static void version_list_release(struct version_list *list)
{
	free(list->choice);
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

void matrix_choose_versions(struct matrix_work *w)
{
	struct project_matrix *m = w->out;
	CLEANUP(version_list_release) struct version_list ours = list_ours(m);
	CLEANUP(version_list_release) struct version_list upstreams = list_upstreams(&w->offers);
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
	struct matrix_work *w = a->work;
	int is_shown = matrix_shows_file(w, a->platform, file, e);
	if (is_shown <= 0)
		return is_shown;
	offers_add_ours(&w->offers, a->platform, file, true);
	GROW(w->arrival, w->arrivals, w->arrival_room);
	w->arrival[w->arrivals++] = (struct matrix_arrival){
		a->platform, arena_copy(&w->offers.text, str_from(file->filename)), matrix_time_of_file(file)};
	return 0;
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

static struct offers_release release_of(struct matrix_work *w, const struct version *v)
{
	size_t count;
	const struct offers_release *release = offers_admitted(&w->offers, "", &count);
	for (size_t i = 0; v->text && i < count; i++)
		if (version_cmp(&w->offers.offer[release[i].first].version, v) == 0)
			return release[i];
	return (struct offers_release){0, 0};
}

int matrix_add_files(struct matrix_work *w, struct err *e)
{
	offers_reopen(&w->offers);
	if (w->out->releases && (add_files_of(w, &w->chosen, e) < 0 || add_files_of(w, &w->before, e) < 0))
		return -1;
	w->now = release_of(w, &w->chosen);
	w->then = release_of(w, &w->before);
	return 0;
}
