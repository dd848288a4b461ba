// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/promotion/retention.h"

#include <stdlib.h>

#include "lib/base/mem.h"

// The environments that a newer version serves: with pre-releases, and by final versions alone.
struct retention_served {
	uint64_t *any, *final;
	size_t words;
};

// A run of files of one version.
struct retention_version {
	struct retention_file *file;
	size_t count, place; // place: number of newer versions
};

static int newest_first(const void *a, const void *b)
{
	const struct retention_file *x = a, *y = b;
	int order = version_cmp(y->version, x->version);
	return order ? order : (x->arrived < y->arrived) - (x->arrived > y->arrived);
}

// The number of an environment that the file serves and no newer version does; -1: there is none.
static long find_unserved(const uint64_t *installs, const uint64_t *served, size_t words)
{
	for (size_t i = 0; i < words; i++) {
		uint64_t left = installs[i] & ~served[i];
		if (left)
			return (long)(64 * i) + __builtin_ctzll(left);
	}
	return -1;
}

static long environment_that_needs(const struct retention_version *v, const struct retention_served *s)
{
	for (size_t i = 0; i < v->count; i++) {
		const struct retention_file *f = &v->file[i];
		long found = f->is_yanked ? -1 : find_unserved(f->installs, s->any, s->words);
		if (found < 0 && !f->is_yanked && !f->version->is_prerelease)
			found = find_unserved(f->installs, s->final, s->words);
		if (found >= 0)
			return found;
	}
	return -1;
}

// When the version stops being young; 0: never, because a file of it has no date.
static int64_t end_of_youth(const struct retention_version *v, const struct retention_rules *rules)
{
	int64_t newest = 0;
	for (size_t i = 0; i < v->count; i++) {
		if (v->file[i].arrived <= 0)
			return 0;
		newest = v->file[i].arrived > newest ? v->file[i].arrived : newest;
	}
	return newest + rules->keep_seconds;
}

static bool is_wanted_version(const struct retention_version *v)
{
	for (size_t i = 0; i < v->count; i++)
		if (v->file[i].is_wanted)
			return true;
	return false;
}

void retention_decide(struct retention_file *file, size_t files, size_t environments,
	const struct retention_rules *rules, int64_t now)
{
	size_t words = (environments + 63) / 64;
	CLEANUP(mem_free) uint64_t *any = xcalloc(words + 1, sizeof(*any));
	CLEANUP(mem_free) uint64_t *final = xcalloc(words + 1, sizeof(*final));
	struct retention_served served = {any, final, words};
	struct retention_version v = {file, 0, 0};
	qsort(file, files, sizeof(*file), newest_first);
	for (; v.file < file + files; v.file += v.count, v.place++) {
		v.count = 1;
		while (v.file + v.count < file + files && version_cmp(v.file->version, v.file[v.count].version) == 0)
			v.count++;
		struct retention_file d = {.decision = RETENTION_ENDS};
		long needed = environment_that_needs(&v, &served);
		int64_t end = end_of_youth(&v, rules);
		if (!rules->keep_versions && !rules->keep_seconds) {
			d.decision = RETENTION_NO_RULE;
		} else if (v.place < rules->keep_versions) {
			d.decision = RETENTION_NEWEST;
		} else if (needed >= 0) {
			d.decision = RETENTION_LAST;
			d.environment = (size_t)needed;
		} else if (is_wanted_version(&v)) {
			d.decision = RETENTION_WANTED;
		} else if (rules->keep_seconds && !end) {
			d.decision = RETENTION_UNDATED;
		} else if (rules->keep_seconds && now < end) {
			d.decision = RETENTION_YOUNG;
			d.ends = end;
			d.is_warned = end - now <= rules->warn_seconds;
		}
		for (size_t i = 0; i < v.count; i++) {
			v.file[i].decision = d.decision;
			v.file[i].environment = d.environment;
			v.file[i].ends = d.ends;
			v.file[i].is_warned = d.is_warned;
		}
		for (size_t i = 0; i < v.count; i++)
			for (size_t w = 0; w < served.words && !v.file[i].is_yanked; w++) {
				served.any[w] |= v.file[i].installs[w];
				served.final[w] |= v.file[i].version->is_prerelease ? 0 : v.file[i].installs[w];
			}
	}
}
