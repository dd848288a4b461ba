// SPDX-License-Identifier: Apache-2.0
// The status of one cell of a matrix, and why; what was tried to build there, and what pip takes there.
#include <stdio.h>
#include <string.h>

#include "builder/missing/matrix-parts.h"
#include "lib/base/counted.h"
#include "lib/base/limits.h"
#include "lib/install/nearest-wheel.h"
#include "lib/install/resolve.h"
#include "lib/os/clock.h"
#include "lib/state/results/results.h"

enum { DAY_SECONDS = 86400, WHY_BYTES = 16 << 10 };

static const uint64_t newest_micro = UINT64_C(1) << 63; // all from x.y.63 on

// --- attempts ---

struct attempt_reader {
	struct matrix_work *work;
	int64_t now;
	char last[LIMIT_FILE_NAME + 1]; // the text that was compared last,
	bool is_same;                   // and whether it is the version,
	bool is_earlier;                // or no later one than tried
	struct version tried;           // the newest later version; text NULL: none
};

// Equal versions may be spelled in several ways.
static bool is_at_version(struct attempt_reader *r, const char *text)
{
	struct err ignored = ERR_INIT;
	CLEANUP(version_release) struct version v = {0};
	const struct version *wanted = &r->work->chosen;
	if (strcmp(text, r->last) == 0)
		return r->is_same;
	r->is_same = strcmp(text, wanted->text) == 0 ||
		     (version_parse(str_from(text), &v, &ignored) == 0 && str_eq(v.key, wanted->key));
	r->is_earlier = false;
	snprintf(r->last, sizeof(r->last), "%s", text);
	return r->is_same;
}

static struct matrix_attempt *attempt_at(struct matrix_work *w, const struct results_attempt *a)
{
	for (size_t i = 0; i < w->maker->fits.places; i++) {
		const struct fits_place *p = &w->maker->fits.place[i];
		if (strcmp(p->platform->name, a->platform) == 0 && strcmp(p->python, a->python) == 0)
			return &w->attempt[i];
	}
	return NULL;
}

// An attempt at a version that we do not have yet: nothing else of the matrix tells of it.
static void note_later_version(struct attempt_reader *r, const char *text)
{
	struct err ignored = ERR_INIT;
	struct project_matrix *m = r->work->out;
	CLEANUP(version_release) struct version v = {0};
	if (r->is_earlier || version_parse(str_from(text), &v, &ignored) < 0)
		return;
	r->is_earlier = version_cmp(&v, m->tried ? &r->tried : &r->work->chosen) <= 0;
	if (r->is_earlier)
		return;
	version_release(&r->tried);
	r->tried = v;
	v = (struct version){0};
	m->tried = arena_copy(&m->text, str_from(text));
}

// The newest comes first. One from a clock that is a day ahead does not count, as for results_history().
static int note_attempt(void *ctx, const struct results_attempt *a, struct err *e UNUSED)
{
	struct attempt_reader *r = ctx;
	struct matrix_attempt *found = attempt_at(r->work, a);
	if (!found)
		return 0;
	if (!is_at_version(r, a->version)) {
		note_later_version(r, a->version);
		return 0;
	}
	r->work->attempts++;
	bool is_ended = a->result == RESULTS_OK || results_is_failure(a->result);
	if (!found->id) {
		found->id = arena_copy(&r->work->out->text, str_from(a->id));
		found->has_log = a->has_log;
		found->begun = a->begun;
		found->is_running = a->result == RESULTS_RUNNING;
	}
	if (is_ended && !found->has_ended && a->begun <= r->now + DAY_SECONDS) {
		found->has_ended = true;
		found->has_failed = results_is_failure(a->result);
		found->version = arena_copy(&r->work->out->text, str_from(a->version));
	}
	return 0;
}

int matrix_read_attempts(struct matrix_work *w, struct err *e)
{
	const struct project_matrix_maker *m = w->maker;
	struct attempt_reader r = {.work = w, .now = clock_wall_seconds()};
	const struct results_filter filter = {.project = w->out->project,
		.platforms = m->name,
		.platform_count = m->options.platforms,
		.limit = LIMIT_MATRIX_ATTEMPTS};
	w->attempt = arena_alloc_aligned(&w->out->text, (m->fits.places + 1) * sizeof(*w->attempt));
	memset(w->attempt, 0, (m->fits.places + 1) * sizeof(*w->attempt));
	if (!m->options.results || !w->chosen.text)
		return 0;
	int result = results_list(m->options.results, &filter, note_attempt, &r, e);
	version_release(&r.tried);
	return result;
}

// Appends why the last attempt failed; *since becomes the time of the first of these failures.
static int describe_failure(struct matrix_work *w, size_t place, struct buf *out, int64_t *since, struct err *e)
{
	const struct project_matrix_options *o = &w->maker->options;
	const struct fits_place *p = &w->maker->fits.place[place];
	CLEANUP(results_history_release) struct results_history h = {0};
	if (results_history(o->results, p->platform->name, p->python, w->out->project, w->attempt[place].version, &h,
		    e) < 0)
		return -1;
	*since = h.first_failed;
	int64_t now = clock_wall_seconds();
	char retry[CLOCK_TEXT];
	int64_t again = results_retry_time(o->config, &h);
	buf_printf(out, "%s in step %s", results_result_name[h.result], h.step && *h.step ? h.step : "?");
	if (h.failures > 1)
		buf_printf(out, ", %s in a row", COUNTED(h.failures, "time|times"));
	if (again && again <= now) {
		buf_puts(out, ", due to be tried again");
	} else if (again) {
		clock_write(again, retry);
		buf_printf(out, ", to be tried again at %s", retry);
	} else {
		buf_puts(out, ", not to be tried again by itself");
	}
	if (h.why && *h.why)
		buf_printf(out, ": %s", h.why);
	return 0;
}

// --- which wheel installs there ---

static size_t index_of_platform(const struct project_matrix_options *o, int64_t id)
{
	size_t i = 0;
	while (i < o->platforms && o->platform[i]->id != id)
		i++;
	return i;
}

// The first view that shows the place's platform and this one; NULL: none does.
static const struct matrix_view *find_view_of_both(const struct project_matrix_maker *m, const struct fits_place *place,
	int64_t platform)
{
	const struct project_matrix_options *o = &m->options;
	return m->together[index_of_platform(o, place->platform->id) * o->platforms + index_of_platform(o, platform)];
}

// Whether clients of the place's platform are shown a file of this platform; 0: upstream's.
static bool is_shown_at(const struct project_matrix_maker *m, const struct fits_place *place, int64_t platform)
{
	return !platform || platform == place->platform->id || find_view_of_both(m, place, platform);
}

static bool is_for_stable_abi(const struct matrix_work *w, const struct index_file *f)
{
	struct str abis = fits_tag_set(w->files.fits, f->tags).abi;
	while (abis.ptr)
		if (str_eq(str_cut(&abis, '.'), STR("abi3")))
			return true;
	return false;
}

static enum wheel_status state_of_wheel(const struct matrix_work *w, const struct fits_place *place,
	const struct index_file *f)
{
	if (!f->platform)
		return WHEEL_UPSTREAM;
	bool is_own = f->platform == place->platform->id && !f->is_pure && !is_for_stable_abi(w, f);
	return is_own ? WHEEL_OURS : WHEEL_COVERED;
}

// Below 0: a is preferred.
static long compare_wheels(const struct matrix_work *w, size_t at, const struct index_file *a, const struct index_file *b)
{
	const struct fits_place *place = &w->maker->fits.place[at];
	long order = (long)state_of_wheel(w, place, a) - (long)state_of_wheel(w, place, b);
	if (order == 0)
		order = (a->platform != place->platform->id) - (b->platform != place->platform->id);
	return order ? order : fits_rank(w->files.fits, a->tags, at) - fits_rank(w->files.fits, b->tags, at);
}

// from_upstream: one of upstream's, whether clients get it or not; otherwise one that they get.
static const struct index_file *find_wheel_of(const struct matrix_work *w, size_t at, const struct index_release *release,
	bool takes_yanked, bool from_upstream)
{
	const struct fits_place *place = &w->maker->fits.place[at];
	const struct index_file *best = NULL;
	for (size_t i = release->first; i < release->end; i++) {
		const struct index_file *f = &w->files.file[i];
		if (!f->is_wheel || (f->is_yanked && !(takes_yanked && f->platform)) ||
			(from_upstream ? f->platform != 0 : !f->platform && w->maker->lacks_upstream[at]) ||
			!is_shown_at(w->maker, place, f->platform) || !index_files_micros(&w->files, at, f))
			continue;
		if (!best || compare_wheels(w, at, f, best) < 0)
			best = f;
	}
	return best;
}

static const struct index_file *find_wheel(const struct matrix_work *w, size_t at, const struct index_release *release,
	bool takes_yanked)
{
	return find_wheel_of(w, at, release, takes_yanked, false);
}

// --- the words ---

// A file whose Requires-Python excludes the Python, if that of each file of the release does; else NULL.
static const struct index_file *find_excluding(const struct matrix_work *w, size_t at, const struct index_release *release,
	bool takes_yanked)
{
	const struct index_file *found = NULL;
	for (size_t i = release->first; i < release->end; i++) {
		const struct index_file *f = &w->files.file[i];
		if (f->is_yanked && !takes_yanked)
			continue;
		if (fits_micros(w->files.fits, f->python, at))
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
static const struct index_file *find_wheel_elsewhere(const struct matrix_work *w, size_t at)
{
	const struct index_file *found = NULL;
	for (size_t i = w->now.first; i < w->now.end; i++) {
		const struct index_file *f = &w->files.file[i];
		if (f->is_wheel && (!f->platform || f->platform == w->maker->fits.place[at].platform->id))
			return NULL;
		found = f->is_wheel ? f : found;
	}
	return found;
}

// --- the cell ---

static void take_wheel(const struct matrix_work *w, size_t at, const struct index_file *f, struct matrix_cell *cell,
	struct buf *why)
{
	const struct platform *from = NULL;
	const struct project_matrix_options *o = &w->maker->options;
	if (f->platform)
		from = o->platform[index_of_platform(o, f->platform)];
	cell->state = state_of_wheel(w, &w->maker->fits.place[at], f);
	cell->filename = arena_copy(&w->out->text, str_from(f->filename));
	cell->from = from ? arena_copy(&w->out->text, str_from(from->name)) : NULL;
	cell->since = f->came;
	const struct fits_place *place = &w->maker->fits.place[at];
	uint64_t micros = index_files_micros(&w->files, at, f);
	buf_printf(why, "%s%s", f->platform ? "" : "upstream has ", f->filename);
	if (f->platform && f->platform != place->platform->id) {
		const char *view = find_view_of_both(w->maker, place, f->platform)->name;
		CLEANUP(mem_free) char *index = xasprintf("/%s%ssimple/", view ? view : "", view ? "/" : "");
		cell->index = arena_copy(&w->out->text, str_from(index));
		buf_printf(why, " of another platform installs there, from %s", index);
	} else if (f->platform && f->is_pure)
		buf_puts(why, " is for any platform");
	else if (f->platform && is_for_stable_abi(w, f))
		buf_puts(why, " is for the stable ABI");
	if (f->is_yanked)
		buf_puts(why, ", yanked");
	if (micros != UINT64_MAX) {
		buf_puts(why, " (on ");
		fits_print_micros(micros, &place->environment->python, why);
		buf_puts(why, ")");
	}
}

static int explain_absence(struct matrix_work *w, size_t at, struct matrix_cell *cell, struct buf *why, struct err *e)
{
	const struct matrix_attempt *a = &w->attempt[at];
	const struct index_file *excluding = find_excluding(w, at, &w->now, w->takes_yanked);
	const struct index_file *unmerged = find_wheel_of(w, at, &w->now, false, true);
	cell->since = w->first;
	if (a->is_running) {
		cell->state = WHEEL_BUILDING;
		cell->since = a->begun;
		buf_puts(why, "an attempt to build it runs");
	} else if (excluding) {
		cell->state = WHEEL_EXCLUDED;
		buf_printf(why, "%s has Requires-Python %s", excluding->filename,
			fits_python_text(w->files.fits, excluding->python));
	} else if (a->has_failed) {
		cell->state = WHEEL_FAILED;
		return describe_failure(w, at, why, &cell->since, e);
	} else if (unmerged) {
		cell->state = WHEEL_UNMERGED;
		buf_printf(why, "upstream has %s, and the index does not show it", unmerged->filename);
	} else if (!w->out->upstream.is_known) {
		cell->state = WHEEL_UNKNOWN;
		cell->since = w->answer->asked;
		describe_unknown_upstream(w, why);
	} else {
		cell->state = WHEEL_MISSING;
		const struct index_file *elsewhere = find_wheel_elsewhere(w, at);
		if (w->now.first == w->now.end)
			buf_puts(why, "there is no file of this version");
		else if (elsewhere)
			buf_printf(why, "wheels of this version are only on other platforms, such as %s",
				elsewhere->filename);
		else
			nearest_wheel(&w->files, at, &w->now, why);
	}
	return 0;
}

int matrix_decide_cell(struct matrix_work *w, size_t at, struct matrix_cell *out, struct err *e)
{
	const struct fits_place *place = &w->maker->fits.place[at];
	const struct index_file *wheel = find_wheel(w, at, &w->now, w->takes_yanked);
	CLEANUP(buf_release) struct buf why = buf_up_to(WHY_BYTES);
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

// --- what pip takes ---

static struct resolve_outcome outcome_at(struct matrix_work *w, size_t at)
{
	static const struct resolve_want want = {.specifier = "", .micros = UINT64_MAX};
	struct resolve_outcome out[RESOLVE_OUTCOMES];
	size_t count = resolve(&w->files, at, w->maker->fits.place[at].platform->id, &want, out), i = 0;
	while (i < count && !(out[i].micros & newest_micro))
		i++;
	return i < count ? out[i] : (struct resolve_outcome){.kind = RESOLVE_NOTHING};
}

// Yanked and early versions are of no concern: pip would not take them anywhere.
static bool is_taken_somewhere(const struct index_files *o, const struct index_release *release)
{
	bool is_yanked = true;
	for (size_t i = release->first; i < release->end; i++)
		is_yanked &= o->file[i].is_yanked;
	return !is_yanked && !o->file[release->first].version.is_prerelease;
}

// The versions before the one that is taken, the newest first.
static void explain_newer(struct matrix_work *w, size_t at, const struct resolve_outcome *taken, struct matrix_newest *out)
{
	size_t count;
	const struct index_release *release = index_files_admitted(&w->files, "", &count), *first = NULL;
	CLEANUP(buf_release) struct buf why = buf_up_to(WHY_BYTES);
	for (size_t i = 0; i < count; i++) {
		if (taken->kind != RESOLVE_NOTHING && release[i].first == taken->release.first)
			break;
		if (!is_taken_somewhere(&w->files, &release[i]))
			continue;
		first = first ? first : &release[i];
		out->newers++;
	}
	if (!first)
		return;
	const struct index_file *excluding = find_excluding(w, at, first, false);
	if (excluding)
		buf_printf(&why, "%s has Requires-Python %s", excluding->filename,
			fits_python_text(w->files.fits, excluding->python));
	else
		nearest_wheel(&w->files, at, first, &why);
	out->newer = arena_copy(&w->out->text, str_from(w->files.file[first->first].version.text));
	out->why = arena_copy(&w->out->text, buf_view(&why));
}

void matrix_take_newest(struct matrix_work *w, size_t at, struct matrix_newest *out)
{
	struct project_matrix *m = w->out;
	struct resolve_outcome taken = outcome_at(w, at);
	*out = (struct matrix_newest){.platform = m->cell[at].platform,
		.python = m->cell[at].python,
		.is_sdist = taken.kind == RESOLVE_SDIST};
	if (taken.kind != RESOLVE_NOTHING) {
		out->version = arena_copy(&m->text, str_from(taken.file->version.text));
		out->filename = arena_copy(&m->text, str_from(taken.file->filename));
	}
	explain_newer(w, at, &taken, out);
}
