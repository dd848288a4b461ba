// SPDX-License-Identifier: Apache-2.0
#include "lib/install/finder.h"

#include <stdlib.h>
#include <string.h>

#include "lib/domain/text/specifier.h"

struct added_file {
	struct finder_file file;
	struct filename name;
	size_t place; // position in the order of finder_add()
};

struct finder {
	char *specifiers; // "==1.0"; NULL: any version
	struct added_file *offer;
	size_t count, room;
	bool is_sorted;
};

int finder_new(const char *version, struct finder **out, struct err *e)
{
	CLEANUP(version_release) struct version v = {0};
	if (version && version_parse(str_from(version), &v, e) < 0)
		return -1;
	*out = xcalloc(1, sizeof(**out));
	(*out)->specifiers = version ? xasprintf("==%s", v.text) : NULL;
	return 0;
}

void finder_free(struct finder *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->count; i++)
		filename_release(&f->offer[i].name);
	free(f->offer);
	free(f->specifiers);
	free(f);
}

void finder_cleanup(struct finder **f)
{
	finder_free(*f);
	*f = NULL;
}

bool finder_matches_version(const struct finder *f, const struct filename *name)
{
	return !f->specifiers || specifier_set_admits(str_from(f->specifiers), &name->version);
}

void finder_add(struct finder *f, const char *project, const struct finder_file *file)
{
	struct err ignored = ERR_INIT;
	struct added_file o = {.file = *file, .place = f->count};
	if (filename_parse(str_from(file->filename), &o.name, &ignored) < 0)
		return;
	if (o.name.kind == FILENAME_OTHER || strcmp(o.name.project, project) != 0 ||
		!finder_matches_version(f, &o.name)) {
		filename_release(&o.name);
		return;
	}
	GROW(f->offer, f->count, f->room);
	f->offer[f->count++] = o;
	f->is_sorted = false;
}

// The newest version first.
static int compare_newest_first(const void *a, const void *b)
{
	const struct added_file *left = a, *right = b;
	int order = version_cmp(&right->name.version, &left->name.version);
	return order ? order : (left->place > right->place) - (left->place < right->place);
}

// How a file installs in an environment.
struct fit {
	const struct added_file *offer; // NULL: it does not install
	long rank;
	uint64_t micros;
};

static struct fit fit_in(const struct added_file *o, const struct environment *env)
{
	struct err ignored = ERR_INIT;
	struct fit f = {.offer = o, .rank = 0, .micros = UINT64_MAX};
	if (o->name.kind == FILENAME_WHEEL && (environment_best(env, &o->name, &f.rank, &ignored) < 0 || f.rank < 0))
		return (struct fit){0};
	if (o->file.requires_python)
		specifier_micros(str_from(o->file.requires_python), env->python.major, env->python.minor, &f.micros);
	return f.micros ? f : (struct fit){0};
}

// Whether pip prefers a to b. Both have the same version, and a was added after b.
static bool is_preferred(const struct fit *a, const struct fit *b)
{
	if (a->rank != b->rank)
		return a->rank < b->rank;
	return filename_compare_builds(&a->offer->name, &b->offer->name) >= 0;
}

// The files that one pass considers.
struct pass {
	unsigned sources;
	enum filename_kind kind;
	bool is_yanked;
	bool takes_prereleases;
};

static bool is_in_pass(const struct pass *pass, const struct added_file *o)
{
	return (o->file.sources & pass->sources) && o->name.kind == pass->kind &&
	       o->file.is_yanked == pass->is_yanked && (pass->takes_prereleases || !o->name.version.is_prerelease);
}

// The best file of the newest version that has one which installs.
static struct fit best_in_pass(const struct finder *f, const struct environment *env, const struct pass *pass)
{
	struct fit best = {0};
	for (size_t i = 0; i < f->count; i++) {
		const struct added_file *o = &f->offer[i];
		if (best.offer && version_cmp(&best.offer->name.version, &o->name.version) != 0)
			break;
		struct fit here = is_in_pass(pass, o) ? fit_in(o, env) : (struct fit){0};
		if (here.offer && (!best.offer || is_preferred(&here, &best)))
			best = here;
	}
	return best;
}

// Wheels come before sdists, and files that are not yanked before yanked ones, which are only considered if their
// version was requested (PEP 592).
static struct fit best_of_sources(const struct finder *f, const struct environment *env, unsigned sources)
{
	static const enum filename_kind kinds[] = {FILENAME_WHEEL, FILENAME_SDIST};
	bool is_pinned = f->specifiers != NULL;
	struct fit found = {0};
	for (size_t i = 0; i < ARRAY_SIZE(kinds) && !found.offer; i++) {
		const struct pass passes[] = {
			{sources, kinds[i], false, is_pinned},
			{sources, kinds[i], is_pinned, true},
		};
		for (size_t n = 0; n < ARRAY_SIZE(passes) && !found.offer; n++)
			found = best_in_pass(f, env, &passes[n]);
	}
	return found;
}

void finder_choose(struct finder *f, const struct environment *env, unsigned sources, struct finder_choice *out)
{
	if (!f->is_sorted && f->count)
		qsort(f->offer, f->count, sizeof(f->offer[0]), compare_newest_first);
	f->is_sorted = true;
	struct fit best = best_of_sources(f, env, sources);
	*out = (struct finder_choice){0};
	if (!best.offer)
		return;
	out->file = &best.offer->file;
	out->version = best.offer->name.version.text;
	out->is_wheel = best.offer->name.kind == FILENAME_WHEEL;
	out->has_all_micros = best.micros == UINT64_MAX;
}
