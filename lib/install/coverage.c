// SPDX-License-Identifier: Apache-2.0
#include "lib/install/coverage.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/search.h"
#include "lib/domain/index/simplepage.h"
#include "lib/domain/text/specifier.h"

// A file of upstream whose name could be parsed.
struct parsed_offer {
	const struct simplepage_file *file;
	struct filename name;
};

// The micro versions of one Python that a Requires-Python admits. A project has many files and few different values.
struct memo {
	char *text;
	unsigned major, minor;
	bool is_set; // false: not a valid specifier set
	uint64_t micros;
};

enum { MEMOS = 256 };

struct coverage {
	const struct simplepage_file **file; // all files, sorted by name
	size_t files;
	struct parsed_offer *offer; // sorted by version
	size_t offers;
	struct memo memo[MEMOS];
	size_t memos;
};

static int compare_pointed_filenames(const void *a, const void *b)
{
	const struct simplepage_file *const *left = a, *const *right = b;
	return strcmp((*left)->filename, (*right)->filename);
}

static int compare_offer_versions(const void *a, const void *b)
{
	const struct parsed_offer *left = a, *right = b;
	return version_cmp(&left->name.version, &right->name.version);
}

static void coverage_add(struct coverage *c, const struct simplepage_file *file, const char *project)
{
	struct err ignored = ERR_INIT;
	struct parsed_offer *o = &c->offer[c->offers];
	*o = (struct parsed_offer){.file = file};
	c->file[c->files++] = file;
	if (filename_parse(str_from(file->filename), &o->name, &ignored) < 0)
		return;
	if (o->name.kind != FILENAME_OTHER && strcmp(o->name.project, project) == 0)
		c->offers++;
	else
		filename_release(&o->name);
}

struct coverage *coverage_new(const struct simplepage *page, const char *project)
{
	struct coverage *c = xcalloc(1, sizeof(*c));
	size_t files = page ? page->files : 0;
	if (!files)
		return c;
	c->file = xreallocarray(NULL, files, sizeof(const struct simplepage_file *));
	c->offer = xreallocarray(NULL, files, sizeof(*c->offer));
	for (size_t i = 0; i < files; i++)
		coverage_add(c, &page->file[i], project);
	qsort(c->file, c->files, sizeof(const struct simplepage_file *), compare_pointed_filenames);
	qsort(c->offer, c->offers, sizeof(*c->offer), compare_offer_versions);
	return c;
}

static void memo_clear(struct coverage *c)
{
	while (c->memos)
		free(c->memo[--c->memos].text);
}

void coverage_free(struct coverage *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->offers; i++)
		filename_release(&c->offer[i].name);
	memo_clear(c);
	free(c->offer);
	free(c->file);
	free(c);
}

void coverage_cleanup(struct coverage **c)
{
	coverage_free(*c);
	*c = NULL;
}

static const struct memo *memo_get(struct coverage *c, const char *text, const struct python *python)
{
	for (size_t i = 0; i < c->memos; i++)
		if (c->memo[i].major == python->major && c->memo[i].minor == python->minor &&
			strcmp(c->memo[i].text, text) == 0)
			return &c->memo[i];
	if (c->memos == MEMOS)
		memo_clear(c);
	struct memo *m = &c->memo[c->memos++];
	*m = (struct memo){.text = xstrdup(text), .major = python->major, .minor = python->minor};
	m->is_set = specifier_micros(str_from(text), m->major, m->minor, &m->micros);
	return m;
}

// The result for an invalid specifier set is otherwise.
static uint64_t admitted_micros(struct coverage *c, const char *requires_python, const struct python *python,
	uint64_t otherwise)
{
	if (!requires_python)
		return UINT64_MAX;
	const struct memo *m = memo_get(c, requires_python, python);
	return m->is_set ? m->micros : otherwise;
}

static uint64_t our_micros(struct coverage *c, const char *requires_python, const struct python *python)
{
	return admitted_micros(c, requires_python, python, UINT64_MAX);
}

static uint64_t upstream_micros(struct coverage *c, const struct simplepage_file *file, const struct python *python)
{
	return file->is_cut ? 0 : admitted_micros(c, file->requires_python, python, 0);
}

// Collects the places where ours installs. Nothing of upstream covers them yet.
static int find_our_places(struct coverage *c, const struct profile *profile, const struct coverage_file *ours,
	struct coverage_answer *out, struct err *e)
{
	out->place = xcalloc(profile->environment_count + 1, sizeof(*out->place));
	for (size_t i = 0; i < profile->environment_count; i++) {
		const struct environment *env = &profile->environment[i];
		uint64_t micros = our_micros(c, ours->requires_python, &env->python);
		long rank = 0;
		if (ours->name && environment_best(env, ours->name, &rank, e) < 0)
			return -1;
		if (rank >= 0 && micros)
			out->place[out->places++] = (struct coverage_place){env, micros, micros, NULL};
	}
	return 0;
}

static const struct simplepage_file *find_upstream_file(const struct coverage *c, const char *filename)
{
	const struct simplepage_file wanted = {.filename = filename}, *key = &wanted;
	const struct simplepage_file **found =
		c->files ? bsearch(&key, c->file, c->files, sizeof(const struct simplepage_file *),
				   compare_pointed_filenames)
			 : NULL;
	return found ? *found : NULL;
}

static bool is_eligible(const struct simplepage_file *file, int64_t until)
{
	return !file->yanked && (until == INT64_MAX || (file->uploaded > 0 && file->uploaded <= until));
}

static bool is_covered(const struct coverage_answer *a)
{
	for (size_t i = 0; i < a->places; i++)
		if (a->place[i].missing)
			return false;
	return true;
}

// Covers the places with upstream's file of our name. It installs wherever ours does, except on Pythons that its
// Requires-Python excludes.
static void cover_by_same(struct coverage *c, struct coverage_answer *a)
{
	for (size_t i = 0; i < a->places; i++) {
		struct coverage_place *p = &a->place[i];
		p->missing = p->micros & ~upstream_micros(c, a->same, &p->environment->python);
		p->file = a->same;
	}
}

static void clear_cover(struct coverage_answer *a)
{
	for (size_t i = 0; i < a->places; i++) {
		a->place[i].missing = a->place[i].micros;
		a->place[i].file = NULL;
	}
}

static bool is_before_version(const void *offer, const void *version)
{
	return version_cmp(&((const struct parsed_offer *)offer)->name.version, version) < 0;
}

// The index of the first offer of a version; *end is the index after the last.
static size_t find_version(const struct coverage *c, const struct version *version, size_t *end)
{
	size_t first = lower_bound(version, c->offer, c->offers, sizeof(*c->offer), is_before_version);
	for (*end = first; *end < c->offers && version_cmp(&c->offer[*end].name.version, version) == 0;)
		(*end)++;
	return first;
}

// The micro versions of a place that an offer covers; 0: it does not install there.
static uint64_t served_micros(struct coverage *c, const struct coverage_place *p, const struct parsed_offer *o,
	long *rank)
{
	struct err ignored = ERR_INIT;
	if (environment_best(p->environment, &o->name, rank, &ignored) < 0 || *rank < 0)
		return 0;
	return p->micros & upstream_micros(c, o->file, &p->environment->python);
}

// The best offer so far for a place.
struct best {
	const struct parsed_offer *offer; // NULL: none yet
	uint64_t served;
	long rank;
};

// Covering more versions comes first, then the preference of pip.
static bool is_better_cover(const struct best *a, const struct best *b)
{
	if (!b->offer || a->served != b->served)
		return !(b->served & ~a->served);
	if (a->rank != b->rank)
		return a->rank < b->rank;
	return filename_compare_builds(&a->offer->name, &b->offer->name) > 0;
}

// Covers a place with all wheels of the version together. p->file becomes the one that pip prefers of those that cover
// the most.
static void cover_by_wheels(struct coverage *c, struct coverage_place *p, const struct version *version, int64_t until)
{
	size_t end;
	struct best best = {0};
	for (size_t i = find_version(c, version, &end); i < end; i++) {
		struct best here = {.offer = &c->offer[i]};
		if (here.offer->name.kind != FILENAME_WHEEL || !is_eligible(here.offer->file, until))
			continue;
		here.served = served_micros(c, p, here.offer, &here.rank);
		p->missing &= ~here.served;
		if (here.served && is_better_cover(&here, &best))
			best = here;
	}
	p->file = best.offer ? best.offer->file : NULL;
}

static bool installs_everywhere(struct coverage *c, const struct coverage_answer *a, const struct simplepage_file *file)
{
	for (size_t i = 0; i < a->places; i++)
		if (a->place[i].micros & ~upstream_micros(c, file, &a->place[i].environment->python))
			return false;
	return true;
}

static const struct simplepage_file *find_sdist(struct coverage *c, const struct coverage_answer *a,
	const struct version *version, int64_t until)
{
	size_t end;
	for (size_t i = find_version(c, version, &end); i < end; i++) {
		const struct parsed_offer *o = &c->offer[i];
		if (o->name.kind == FILENAME_SDIST && is_eligible(o->file, until) && installs_everywhere(c, a, o->file))
			return o->file;
	}
	return NULL;
}

// The answer of upstream's file of our name. NONE: the other files decide.
static enum coverage_kind classify_same(struct coverage *c, struct coverage_answer *a, int64_t until)
{
	if (!a->same)
		return COVERAGE_NONE;
	if (a->same->yanked)
		return COVERAGE_YANKED;
	cover_by_same(c, a);
	if (!is_covered(a))
		return COVERAGE_NARROW;
	if (is_eligible(a->same, until))
		return COVERAGE_SAME;
	clear_cover(a);
	return COVERAGE_NONE;
}

static void classify(struct coverage *c, const struct coverage_file *ours, int64_t until, struct coverage_answer *a)
{
	a->same = find_upstream_file(c, ours->filename);
	a->kind = classify_same(c, a, until);
	if (!ours->name)
		return;
	a->sdist = find_sdist(c, a, &ours->name->version, until);
	if (a->kind != COVERAGE_NONE)
		return;
	for (size_t i = 0; i < a->places; i++)
		cover_by_wheels(c, &a->place[i], &ours->name->version, until);
	a->kind = is_covered(a) ? COVERAGE_OTHERS : COVERAGE_NONE;
}

int coverage_compute(struct coverage *c, const struct profile *profile, const struct coverage_file *ours, int64_t until,
	struct coverage_answer *out, struct err *e)
{
	*out = (struct coverage_answer){.kind = COVERAGE_NOWHERE};
	if (find_our_places(c, profile, ours, out, e) < 0) {
		coverage_answer_release(out);
		return -1;
	}
	bool is_anywhere = ours->name ? out->places > 0 : profile->environment_count > 0;
	if (is_anywhere)
		classify(c, ours, until, out);
	return 0;
}

void coverage_answer_release(struct coverage_answer *a)
{
	free(a->place);
	*a = (struct coverage_answer){0};
}

bool coverage_is_complete(const struct coverage_answer *a)
{
	return a->kind == COVERAGE_SAME || a->kind == COVERAGE_OTHERS;
}
