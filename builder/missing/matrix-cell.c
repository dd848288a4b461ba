// SPDX-License-Identifier: Apache-2.0
// The state of one cell of a matrix, and why.
#include <string.h>

#include "lib/domain/index/simplepage.h"
#include "builder/missing/cell-status.h"
#include "builder/missing/matrix-parts.h"

enum { WHY_BYTES = 16 << 10 };

// --- which wheel installs there ---

static size_t index_of_platform(const struct project_matrix_options *o, int64_t id)
{
	size_t i = 0;
	while (i < o->platforms && o->platform[i]->id != id)
		i++;
	return i;
}

// Whether clients of the place's platform are shown a file of this platform; 0: upstream's.
static bool is_shown_at(const struct project_matrix_maker *m, const struct matrix_place *place, int64_t platform)
{
	const struct project_matrix_options *o = &m->options;
	if (!platform || platform == place->platform->id)
		return true;
	return m->together[index_of_platform(o, place->platform->id) * o->platforms + index_of_platform(o, platform)];
}

static bool is_for_stable_abi(const struct matrix_work *w, const struct offer *f)
{
	struct str rest = str_from(fits_tags_text(w->offers.fits, f->tags));
	str_cut(&rest, '-');
	struct str abis = str_cut(&rest, '-');
	while (abis.ptr)
		if (str_eq(str_cut(&abis, '.'), STR("abi3")))
			return true;
	return false;
}

static enum wheel_status state_of_wheel(const struct matrix_work *w, const struct matrix_place *place,
	const struct offer *f)
{
	if (!f->platform)
		return WHEEL_UPSTREAM;
	bool is_own = f->platform == place->platform->id && !f->is_pure && !is_for_stable_abi(w, f);
	return is_own ? WHEEL_OURS : WHEEL_COVERED;
}

// Below 0: a is preferred.
static long compare_wheels(const struct matrix_work *w, size_t at, const struct offer *a, const struct offer *b)
{
	const struct matrix_place *place = &w->maker->place[at];
	long order = (long)state_of_wheel(w, place, a) - (long)state_of_wheel(w, place, b);
	if (order == 0)
		order = (a->platform != place->platform->id) - (b->platform != place->platform->id);
	return order ? order : fits_rank(w->offers.fits, a->tags, at) - fits_rank(w->offers.fits, b->tags, at);
}

// from_upstream: one of upstream's, whether clients get it or not; otherwise one that they get.
static const struct offer *find_wheel_of(const struct matrix_work *w, size_t at, const struct offers_release *release,
	bool takes_yanked, bool from_upstream)
{
	const struct matrix_place *place = &w->maker->place[at];
	const struct offer *best = NULL;
	for (size_t i = release->first; i < release->end; i++) {
		const struct offer *f = &w->offers.offer[i];
		if (!f->is_wheel || (f->is_yanked && !(takes_yanked && f->platform)) ||
			(from_upstream ? f->platform != 0 : !f->platform && place->lacks_upstream) ||
			!is_shown_at(w->maker, place, f->platform) || !resolve_micros(&w->offers, at, f))
			continue;
		if (!best || compare_wheels(w, at, f, best) < 0)
			best = f;
	}
	return best;
}

static const struct offer *find_wheel(const struct matrix_work *w, size_t at, const struct offers_release *release,
	bool takes_yanked)
{
	return find_wheel_of(w, at, release, takes_yanked, false);
}

// --- the words ---

static int64_t time_of_wheel(const struct matrix_work *w, const struct offer *f)
{
	const struct simplepage_file *upstreams = f->platform ? NULL : simplepage_find(w->page, f->filename);
	for (size_t i = 0; i < w->arrivals; i++)
		if (w->arrival[i].platform == f->platform && strcmp(w->arrival[i].filename, f->filename) == 0)
			return w->arrival[i].came;
	return upstreams ? upstreams->uploaded : 0;
}

static void describe_wheel_at(const struct matrix_work *w, size_t at, const struct offer *f, struct buf *out)
{
	const struct matrix_place *place = &w->maker->place[at];
	uint64_t micros = resolve_micros(&w->offers, at, f);
	buf_printf(out, "%s%s", f->platform ? "" : "upstream has ", f->filename);
	if (f->platform && f->platform != place->platform->id)
		buf_puts(out, " of another platform installs there");
	else if (f->platform && f->is_pure)
		buf_puts(out, " is for any platform");
	else if (f->platform && is_for_stable_abi(w, f))
		buf_puts(out, " is for the stable ABI");
	if (f->is_yanked)
		buf_puts(out, ", yanked");
	if (micros != UINT64_MAX) {
		buf_puts(out, " (on ");
		cell_print_micros(micros, &place->environment->python, out);
		buf_puts(out, ")");
	}
}

const struct offer *matrix_find_excluding(const struct matrix_work *w, size_t at, const struct offers_release *release,
	bool takes_yanked)
{
	const struct offer *found = NULL;
	for (size_t i = release->first; i < release->end; i++) {
		const struct offer *f = &w->offers.offer[i];
		if (f->is_yanked && !takes_yanked)
			continue;
		if (fits_micros(w->offers.fits, f->python, at))
			return NULL;
		found = found && found->is_wheel <= f->is_wheel ? found : f;
	}
	return found;
}

static void describe_unknown_upstream(const struct matrix_work *w, struct buf *out)
{
	const char *why = w->answer->why;
	if (w->answer->result == UPSTREAM_NEVER_ASKED) {
		buf_puts(out, "there is none here, and upstream was never asked");
		return;
	}
	buf_printf(out, "there is none here, and upstream could not tell: %s", upstream_result_name[w->answer->result]);
	if (why && *why)
		buf_printf(out, ": %s", why);
}

// A wheel of another platform, where neither this one nor upstream has any; else NULL.
static const struct offer *find_wheel_elsewhere(const struct matrix_work *w, size_t at)
{
	const struct offer *found = NULL;
	for (size_t i = w->now.first; i < w->now.end; i++) {
		const struct offer *f = &w->offers.offer[i];
		if (f->is_wheel && (!f->platform || f->platform == w->maker->place[at].platform->id))
			return NULL;
		found = f->is_wheel ? f : found;
	}
	return found;
}

static void describe_missing_wheel(const struct matrix_work *w, size_t at, struct buf *out)
{
	const struct matrix_place *p = &w->maker->place[at];
	const struct nearest_place nearest = {
		at, p->platform->id, &p->platform->profile.machine, &p->environment->python};
	const struct offer *elsewhere = find_wheel_elsewhere(w, at);
	if (w->now.first == w->now.end)
		buf_puts(out, "there is no file of this version");
	else if (elsewhere)
		buf_printf(out, "wheels of this version are only on other platforms, such as %s", elsewhere->filename);
	else
		nearest_describe(&w->offers, &nearest, &w->now, out);
}

// --- the cell ---

static void take_wheel(const struct matrix_work *w, size_t at, const struct offer *f, struct matrix_cell *cell,
	struct buf *why)
{
	const struct platform *from = NULL;
	const struct project_matrix_options *o = &w->maker->options;
	if (f->platform)
		from = o->platform[index_of_platform(o, f->platform)];
	cell->state = state_of_wheel(w, &w->maker->place[at], f);
	cell->filename = arena_copy(&w->out->text, str_from(f->filename));
	cell->from = from ? arena_copy(&w->out->text, str_from(from->name)) : NULL;
	cell->since = time_of_wheel(w, f);
	describe_wheel_at(w, at, f, why);
}

static int explain_absence(struct matrix_work *w, size_t at, struct matrix_cell *cell, struct buf *why, struct err *e)
{
	const struct matrix_attempt *a = &w->attempt[at];
	const struct offer *excluding = matrix_find_excluding(w, at, &w->now, w->takes_yanked);
	const struct offer *unmerged = find_wheel_of(w, at, &w->now, false, true);
	cell->since = w->first;
	if (a->is_running) {
		cell->state = WHEEL_BUILDING;
		cell->since = a->begun;
		buf_puts(why, "an attempt to build it runs");
	} else if (excluding) {
		cell->state = WHEEL_EXCLUDED;
		buf_printf(why, "%s has Requires-Python %s", excluding->filename,
			fits_python_text(w->offers.fits, excluding->python));
	} else if (a->has_failed) {
		cell->state = WHEEL_FAILED;
		return matrix_describe_failure(w, at, why, &cell->since, e);
	} else if (unmerged) {
		cell->state = WHEEL_UNMERGED;
		buf_printf(why, "upstream has %s, and the index does not show it", unmerged->filename);
	} else if (!w->out->upstream.is_known) {
		cell->state = WHEEL_UNKNOWN;
		cell->since = w->answer->asked;
		describe_unknown_upstream(w, why);
	} else {
		cell->state = WHEEL_MISSING;
		describe_missing_wheel(w, at, why);
	}
	return 0;
}

int matrix_decide_cell(struct matrix_work *w, size_t at, struct matrix_cell *out, struct err *e)
{
	const struct matrix_place *place = &w->maker->place[at];
	const struct offer *wheel = find_wheel(w, at, &w->now, w->takes_yanked);
	CLEANUP(buf_release) struct buf why;
	buf_init(&why, WHY_BYTES);
	*out = (struct matrix_cell){
		.platform = arena_copy(&w->out->text, str_from(place->platform->name)),
		.python = arena_copy(&w->out->text, str_from(place->python)),
		.attempt = w->attempt[at].id,
		.has_log = w->attempt[at].has_log,
	};
	if (wheel)
		take_wheel(w, at, wheel, out, &why);
	else if (explain_absence(w, at, out, &why, e) < 0)
		return -1;
	out->is_lost = !wheel && find_wheel(w, at, &w->then, false);
	out->why = arena_copy(&w->out->text, buf_view(&why));
	return 0;
}
