// SPDX-License-Identifier: Apache-2.0
// Of a project that only upstream has: its versions, and which of them pip takes in each environment.
#include <string.h>

#include "lib/domain/index/simplepage.h"
#include "builder/missing/matrix-parts.h"
#include "lib/install/resolve.h"

enum { WHY_BYTES = 16 << 10 };

static const uint64_t newest_micro = UINT64_C(1) << 63; // all from x.y.63 on

// --- versions ---

static void count_theirs(struct matrix_work *w, struct matrix_release *r, const struct offer *f)
{
	const struct simplepage_file *file = simplepage_find(w->page, f->filename);
	int64_t came = file ? file->uploaded : 0;
	r->files++;
	r->wheels += f->is_wheel;
	r->bytes += f->size > 0 ? (uint64_t)f->size : 0;
	r->is_yanked &= f->is_yanked;
	if (came && (!r->first || came < r->first))
		r->first = came;
	r->last = came > r->last ? came : r->last;
	if (!r->requires_python && file && file->requires_python)
		r->requires_python = arena_copy(&w->out->text, str_from(file->requires_python));
}

static void take_theirs(struct matrix_work *w, const struct offers_release *release)
{
	struct project_matrix *m = w->out;
	const struct version *v = &w->offers.offer[release->first].version;
	GROW(m->release, m->releases, m->release_room);
	struct matrix_release *r = &m->release[m->releases++];
	*r = (struct matrix_release){
		.version = arena_copy(&m->text, str_from(v->text)),
		.key = {arena_copy(&m->text, v->key), v->key.len},
		.is_prerelease = v->is_prerelease,
		.is_yanked = true,
	};
	for (size_t i = release->first; i < release->end; i++)
		count_theirs(w, r, &w->offers.offer[i]);
}

static void list_metadata(struct matrix_work *w)
{
	struct project_matrix *m = w->out;
	m->metadata = xcalloc(MATRIX_METADATAS, sizeof(*m->metadata));
	for (size_t i = w->now.first; i < w->now.end && m->metadatas < MATRIX_METADATAS; i++) {
		const struct offer *f = &w->offers.offer[i];
		const struct simplepage_file *file = f->is_wheel ? simplepage_find(w->page, f->filename) : NULL;
		if (!file)
			continue;
		struct matrix_metadata *one = &m->metadata[m->metadatas++];
		*one = (struct matrix_metadata){.filename = arena_copy(&m->text, str_from(f->filename)),
			.has_sha256 = file->has_metadata_sha256};
		memcpy(one->sha256, file->metadata_sha256, SHA256_SIZE);
	}
}

// --- what pip takes ---

static struct resolve_outcome outcome_at(struct matrix_work *w, size_t at)
{
	static const struct resolve_want want = {.specifier = "", .micros = UINT64_MAX};
	struct resolve_outcome out[RESOLVE_OUTCOMES];
	size_t count = resolve(&w->offers, at, w->maker->place[at].platform->id, &want, out), i = 0;
	while (i < count && !(out[i].micros & newest_micro))
		i++;
	return i < count ? out[i] : (struct resolve_outcome){.kind = RESOLVE_NOTHING};
}

// Yanked and early versions are of no concern: pip would not take them anywhere.
static bool is_taken_somewhere(const struct offers *o, const struct offers_release *release)
{
	bool is_yanked = true;
	for (size_t i = release->first; i < release->end; i++)
		is_yanked &= o->offer[i].is_yanked;
	return !is_yanked && !o->offer[release->first].version.is_prerelease;
}

static void describe_newer(struct matrix_work *w, size_t at, const struct offers_release *release, struct buf *out)
{
	const struct matrix_place *p = &w->maker->place[at];
	const struct nearest_place place = {
		at, p->platform->id, &p->platform->profile.machine, &p->environment->python};
	const struct offer *excluding = matrix_find_excluding(w, at, release, false);
	if (excluding)
		buf_printf(out, "%s has Requires-Python %s", excluding->filename,
			fits_python_text(w->offers.fits, excluding->python));
	else
		nearest_describe(&w->offers, &place, release, out);
}

// The versions before the one that is taken, the newest first.
static void explain_newer(struct matrix_work *w, size_t at, const struct resolve_outcome *taken, struct matrix_newest *out)
{
	size_t count;
	const struct offers_release *release = offers_admitted(&w->offers, "", &count), *first = NULL;
	CLEANUP(buf_release) struct buf why;
	buf_init(&why, WHY_BYTES);
	for (size_t i = 0; i < count; i++) {
		if (taken->kind != RESOLVE_NOTHING && release[i].first == taken->release.first)
			break;
		if (!is_taken_somewhere(&w->offers, &release[i]))
			continue;
		first = first ? first : &release[i];
		out->newers++;
	}
	if (!first)
		return;
	describe_newer(w, at, first, &why);
	out->newer = arena_copy(&w->out->text, str_from(w->offers.offer[first->first].version.text));
	out->why = arena_copy(&w->out->text, buf_view(&why));
}

static void take_newest(struct matrix_work *w, size_t at)
{
	struct project_matrix *m = w->out;
	const struct matrix_place *p = &w->maker->place[at];
	struct resolve_outcome taken = outcome_at(w, at);
	struct matrix_newest *out = &m->newest[m->newests++];
	*out = (struct matrix_newest){.platform = arena_copy(&m->text, str_from(p->platform->name)),
		.python = arena_copy(&m->text, str_from(p->python)),
		.is_sdist = taken.kind == RESOLVE_SDIST};
	if (taken.kind != RESOLVE_NOTHING) {
		out->version = arena_copy(&m->text, str_from(taken.file->version.text));
		out->filename = arena_copy(&m->text, str_from(taken.file->filename));
	}
	explain_newer(w, at, &taken, out);
}

void matrix_read_upstreams(struct matrix_work *w)
{
	struct project_matrix *m = w->out;
	size_t count;
	const struct offers_release *release = offers_admitted(&w->offers, "", &count);
	for (size_t i = 0; i < count; i++)
		take_theirs(w, &release[i]);
	list_metadata(w);
	m->newest = xcalloc(w->maker->places + 1, sizeof(*m->newest));
	for (size_t i = 0; i < w->maker->places; i++)
		if (!w->maker->place[i].lacks_upstream)
			take_newest(w, i);
}
