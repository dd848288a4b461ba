// SPDX-License-Identifier: Apache-2.0
#include "lib/install/replacement.h"

#include <stdlib.h>
#include <string.h>

#include "lib/domain/index/simplepage.h"
#include "lib/install/index-files.h"

struct replacement {
	const struct simplepage_file **by_name; // of the page, those of one name in its order
	size_t names;
	struct fits fits; // of all environments that were asked about
	struct index_files files;
};

static int compare_page_names(const void *a, const void *b)
{
	const struct simplepage_file *x = *(const struct simplepage_file *const *)a;
	const struct simplepage_file *y = *(const struct simplepage_file *const *)b;
	int order = strcmp(x->filename, y->filename);
	return order ? order : (x > y) - (x < y);
}

struct replacement *replacement_new(const struct simplepage *page, const char *project)
{
	struct replacement *r = xcalloc(1, sizeof(*r));
	index_files_init(&r->files, project, &r->fits);
	if (!page)
		return r;
	index_files_add_page(&r->files, page, 0);
	r->by_name = xcalloc(page->files + 1, sizeof(*r->by_name));
	for (r->names = 0; r->names < page->files; r->names++)
		r->by_name[r->names] = &page->file[r->names];
	qsort(r->by_name, r->names, sizeof(*r->by_name), compare_page_names);
	return r;
}

void replacement_free(struct replacement *r)
{
	if (!r)
		return;
	index_files_release(&r->files);
	fits_release(&r->fits);
	free(r->by_name);
	free(r);
}

void replacement_cleanup(struct replacement **r)
{
	replacement_free(*r);
	*r = NULL;
}

static size_t find_or_add_place(struct replacement *r, const struct profile *profile, const struct environment *env)
{
	for (size_t i = 0; i < r->fits.places; i++)
		if (r->fits.place[i].environment == env)
			return i;
	return fits_add(&r->fits, NULL, &profile->machine, env);
}

// Collects the places where ours installs. Nothing of upstream covers them yet.
static int find_our_places(struct replacement *r, const struct profile *profile, const struct replacement_file *ours,
	struct replacement_answer *out, struct err *e)
{
	unsigned python = fits_python(&r->fits, ours->requires_python);
	out->place = xcalloc(profile->environment_count + 1, sizeof(*out->place));
	for (size_t i = 0; i < profile->environment_count; i++) {
		const struct environment *env = &profile->environment[i];
		size_t at = find_or_add_place(r, profile, env);
		uint64_t micros = fits_micros(&r->fits, python, at);
		long rank = 0;
		if (ours->name && environment_best(env, ours->name, &rank, e) < 0)
			return -1;
		if (rank >= 0 && micros)
			out->place[out->places++] = (struct replacement_place){env, at, micros, micros, NULL};
	}
	return 0;
}

static bool is_eligible(const struct simplepage_file *file, int64_t until)
{
	return !file->yanked && (until == INT64_MAX || (file->uploaded > 0 && file->uploaded <= until));
}

static bool is_covered(const struct replacement_answer *a)
{
	for (size_t i = 0; i < a->places; i++)
		if (a->place[i].missing)
			return false;
	return true;
}

// The answer of upstream's file of our name, which installs wherever ours does, except on Pythons that its
// Requires-Python excludes. NONE: the other files decide.
static enum replacement_kind classify_same(struct replacement *r, struct replacement_answer *a, int64_t until)
{
	if (!a->same)
		return REPLACEMENT_NONE;
	if (a->same->yanked)
		return REPLACEMENT_YANKED;
	unsigned python = fits_python(&r->fits, a->same->requires_python);
	for (size_t i = 0; i < a->places; i++) {
		struct replacement_place *p = &a->place[i];
		p->missing = p->micros & ~(a->same->is_cut ? 0 : fits_micros_strictly(&r->fits, python, p->number));
		p->file = a->same;
	}
	if (!is_covered(a))
		return REPLACEMENT_NARROW;
	if (is_eligible(a->same, until))
		return REPLACEMENT_SAME;
	for (size_t i = 0; i < a->places; i++) {
		a->place[i].missing = a->place[i].micros;
		a->place[i].file = NULL;
	}
	return REPLACEMENT_NONE;
}

// The best file so far for a place.
struct best_cover {
	const struct index_file *file; // NULL: none yet
	uint64_t served;
	long rank;
};

// Covering more versions comes first, then the preference of pip, then the order of the page.
static bool is_better_cover(const struct best_cover *a, const struct best_cover *b)
{
	if (!b->file || a->served != b->served)
		return !(b->served & ~a->served);
	if (a->rank != b->rank)
		return a->rank < b->rank;
	int builds = filename_compare_builds(a->file->build, b->file->build);
	return builds ? builds > 0 : a->file->order < b->file->order;
}

// Covers a place with all wheels of the version together. p->file becomes the one that pip prefers of those that cover
// the most.
static void cover_by_wheels(struct replacement *r, struct replacement_place *p, struct index_release release,
	int64_t until)
{
	struct best_cover best = {0};
	for (size_t i = release.first; i < release.end; i++) {
		const struct index_file *f = &r->files.file[i];
		if (!f->is_wheel || !is_eligible(f->upstream, until))
			continue;
		struct best_cover here = {.file = f, .rank = fits_rank(&r->fits, f->tags, p->number)};
		if (here.rank >= 0)
			here.served = p->micros & fits_micros_strictly(&r->fits, f->python, p->number);
		p->missing &= ~here.served;
		if (here.served && is_better_cover(&here, &best))
			best = here;
	}
	p->file = best.file ? best.file->upstream : NULL;
}

static bool installs_everywhere(struct replacement *r, const struct replacement_answer *a, const struct index_file *f)
{
	for (size_t i = 0; i < a->places; i++)
		if (a->place[i].micros & ~fits_micros_strictly(&r->fits, f->python, a->place[i].number))
			return false;
	return true;
}

// Whether the sdist's name is this one by the last dash too: only then no installer takes it for another version.
static bool has_plain_name(const struct index_file *f, const char *project)
{
	struct err ignored = ERR_INIT;
	CLEANUP(filename_release) struct filename name = {0};
	return filename_parse(str_from(f->filename), &name, &ignored) == 0 && strcmp(name.project, project) == 0;
}

static void classify(struct replacement *r, const struct replacement_file *ours, int64_t until,
	struct replacement_answer *a)
{
	// The first one on the page.
	size_t low = 0;
	for (size_t high = r->names; low < high;) {
		size_t middle = low + (high - low) / 2;
		if (strcmp(r->by_name[middle]->filename, ours->filename) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	a->same = low < r->names && strcmp(r->by_name[low]->filename, ours->filename) == 0 ? r->by_name[low] : NULL;
	a->kind = classify_same(r, a, until);
	if (!ours->name)
		return;
	struct index_release release = index_files_of_version(&r->files, &ours->name->version);
	// The first one on the page.
	const struct index_file *best = NULL;
	for (size_t i = release.first; i < release.end; i++) {
		const struct index_file *f = &r->files.file[i];
		if (!f->is_wheel && (!best || f->order < best->order) && is_eligible(f->upstream, until) &&
			installs_everywhere(r, a, f) && has_plain_name(f, r->files.project))
			best = f;
	}
	a->sdist = best ? best->upstream : NULL;
	if (a->kind != REPLACEMENT_NONE)
		return;
	for (size_t i = 0; i < a->places; i++)
		cover_by_wheels(r, &a->place[i], release, until);
	a->kind = is_covered(a) ? REPLACEMENT_OTHERS : REPLACEMENT_NONE;
}

int replacement_compute(struct replacement *r, const struct profile *profile, const struct replacement_file *ours,
	int64_t until, struct replacement_answer *out, struct err *e)
{
	*out = (struct replacement_answer){.kind = REPLACEMENT_NOWHERE};
	if (find_our_places(r, profile, ours, out, e) < 0) {
		replacement_answer_release(out);
		return -1;
	}
	bool is_anywhere = ours->name ? out->places > 0 : profile->environment_count > 0;
	if (is_anywhere)
		classify(r, ours, until, out);
	return 0;
}

void replacement_answer_release(struct replacement_answer *a)
{
	free(a->place);
	*a = (struct replacement_answer){0};
}

bool replacement_is_complete(const struct replacement_answer *a)
{
	return a->kind == REPLACEMENT_SAME || a->kind == REPLACEMENT_OTHERS;
}
