// SPDX-License-Identifier: Apache-2.0
#include "lib/install/resolve.h"

#include "lib/domain/text/filename.h"
#include "lib/domain/text/specifier.h"

struct resolution {
	struct index_files *files;
	size_t place;
	int64_t platform;
	const struct resolve_want *want;
	const struct index_release *release; // that the specifier admits
	size_t releases;
	uint64_t left;   // micro versions without an outcome
	uint64_t finals; // on which a final release has a file that installs, yanked or not
	struct resolve_outcome *out;
	size_t count;
};

// One walk over the releases.
struct release_walk {
	bool takes_finals, takes_prereleases;
	bool takes_yanked; // only these; otherwise only the others
	uint64_t micros;
};

static bool is_in_sight(const struct resolution *r, const struct index_file *f)
{
	if (f->is_wheel && f->is_unpromoted)
		return false;
	return f->platform ? f->platform == r->platform : !r->want->only_ours;
}

// The micro versions of a release on which a file of this kind installs.
static uint64_t micros_of_kind(const struct resolution *r, const struct index_release *release,
	const struct release_walk *w, enum resolve_kind kind)
{
	uint64_t micros = 0;
	for (size_t i = release->first; i < release->end; i++) {
		const struct index_file *f = &r->files->file[i];
		enum resolve_kind own = !f->is_wheel ? RESOLVE_SDIST : f->platform ? RESOLVE_HERE : RESOLVE_UPSTREAM;
		if (own == kind && f->is_yanked == w->takes_yanked && is_in_sight(r, f))
			micros |= index_files_micros(r->files, r->place, f);
	}
	return micros & w->micros;
}

static int compare_sdists(const struct index_file *a, const struct index_file *b)
{
	static const struct str best = STR(".tar.gz");
	int order = (a->platform != 0) - (b->platform != 0);
	if (order == 0)
		order = (a->sha256 != NULL) - (b->sha256 != NULL);
	if (order == 0)
		order = str_ends(str_from(a->filename), best) - str_ends(str_from(b->filename), best);
	return order;
}

// The wheel with the best tags; of sdists one of ours, one with a hash, one that is a .tar.gz.
static const struct index_file *preferred_file(const struct resolution *r, const struct index_release *release,
	const struct release_walk *w, enum resolve_kind kind, uint64_t micros)
{
	const struct index_file *best = NULL;
	for (size_t i = release->first; i < release->end; i++) {
		const struct index_file *f = &r->files->file[i];
		if (f->is_wheel != (kind != RESOLVE_SDIST) || f->is_yanked != w->takes_yanked || !is_in_sight(r, f))
			continue;
		if ((kind == RESOLVE_HERE && !f->platform) || (kind == RESOLVE_UPSTREAM && f->platform))
			continue;
		if (!(index_files_micros(r->files, r->place, f) & micros))
			continue;
		bool is_better = !best || (f->is_wheel ? fits_rank(r->files->fits, f->tags, r->place) <
								  fits_rank(r->files->fits, best->tags, r->place)
						       : compare_sdists(f, best) > 0);
		if (is_better)
			best = f;
	}
	return best;
}

static void add_outcome(struct resolution *r, enum resolve_kind kind, uint64_t micros,
	const struct index_release *release, const struct index_file *file)
{
	for (size_t i = 0; i < r->count; i++)
		if (r->out[i].kind == kind && r->out[i].release.first == release->first) {
			r->out[i].micros |= micros;
			return;
		}
	r->out[r->count++] = (struct resolve_outcome){kind, micros, *release, file};
}

// The micro versions on which any file of the release installs.
static uint64_t any_micros(const struct resolution *r, const struct index_release *release)
{
	uint64_t micros = 0;
	for (size_t i = release->first; i < release->end; i++)
		if (is_in_sight(r, &r->files->file[i]))
			micros |= index_files_micros(r->files, r->place, &r->files->file[i]);
	return micros;
}

static void walk_releases(struct resolution *r, struct release_walk w)
{
	for (size_t i = 0; i < r->releases && w.micros; i++) {
		const struct index_release *release = &r->release[i];
		bool is_pre = r->files->file[release->first].version.is_prerelease;
		if (!is_pre)
			r->finals |= any_micros(r, release);
		if (is_pre ? w.takes_prereleases : w.takes_finals) {
			// Takes the release on the micro versions on which it has a file.
			for (enum resolve_kind kind = RESOLVE_HERE; kind < RESOLVE_NOTHING && w.micros; kind++) {
				uint64_t micros = micros_of_kind(r, release, &w, kind);
				if (!micros)
					continue;
				add_outcome(r, kind, micros, release, preferred_file(r, release, &w, kind, micros));
				w.micros &= ~micros;
				r->left &= ~micros;
			}
		}
	}
}

size_t resolve(struct index_files *all, size_t place, int64_t platform, const struct resolve_want *want,
	struct resolve_outcome out[RESOLVE_OUTCOMES])
{
	struct resolution r = {all, place, platform, want, NULL, 0, want->micros, 0, out, 0};
	r.release = index_files_admitted(all, want->specifier, &r.releases);
	// Pre-releases count only where no final release has a file, unless a specifier names one (PEP 440). Yanked
	// files count only where there are no others and the version is pinned (PEP 592).
	bool takes_pre = r.want->allows_pre || specifier_set_names_prerelease(str_from(r.want->specifier));
	walk_releases(&r, (struct release_walk){true, takes_pre, false, r.left});
	if (!takes_pre)
		walk_releases(&r, (struct release_walk){false, true, false, r.left & ~r.finals});
	if (r.want->is_pinned) {
		walk_releases(&r, (struct release_walk){true, takes_pre, true, r.left});
		if (!takes_pre)
			walk_releases(&r, (struct release_walk){false, true, true, r.left & ~r.finals});
	}
	if (r.left)
		r.out[r.count++] = (struct resolve_outcome){.kind = RESOLVE_NOTHING, .micros = r.left};
	return r.count;
}

// --- one file ---

// The files that one pass considers.
struct file_pass {
	bool takes_wheels, takes_yanked; // only these; otherwise only the others
	bool takes_prereleases;
	unsigned sources;
};

static bool is_in_pass(const struct file_pass *p, const struct index_file *f)
{
	return (f->sources & p->sources) && f->is_wheel == p->takes_wheels && f->is_yanked == p->takes_yanked &&
	       (p->takes_prereleases || !f->version.is_prerelease);
}

// Both have the same version.
static bool is_preferred_file(const struct index_files *all, size_t place, const struct index_file *a,
	const struct index_file *b)
{
	long left = a->is_wheel ? fits_rank(all->fits, a->tags, place) : 0;
	long right = b->is_wheel ? fits_rank(all->fits, b->tags, place) : 0;
	int builds = filename_compare_builds(a->build, b->build);
	return left != right ? left < right : builds ? builds > 0 : a->order > b->order;
}

// The best file of the newest version that has one which installs.
static const struct index_file *best_in_pass(struct index_files *all, size_t place, const char *specifier,
	const struct file_pass *pass)
{
	size_t count;
	const struct index_file *best = NULL;
	const struct index_release *release = index_files_admitted(all, specifier, &count);
	for (size_t i = 0; i < count && !best; i++)
		for (size_t k = release[i].first; k < release[i].end; k++) {
			const struct index_file *f = &all->file[k];
			if (is_in_pass(pass, f) && index_files_micros(all, place, f) &&
				(!best || is_preferred_file(all, place, f, best)))
				best = f;
		}
	return best;
}

// Yanked files are only considered if their version was requested (PEP 592).
const struct index_file *resolve_file(struct index_files *all, size_t place, unsigned sources, const char *requested,
	uint64_t *micros)
{
	bool is_pinned = requested != NULL;
	const struct file_pass passes[] = {
		{true, false, is_pinned, sources},
		{true, is_pinned, true, sources},
		{false, false, is_pinned, sources},
		{false, is_pinned, true, sources},
	};
	const struct index_file *found = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(passes) && !found; i++)
		found = best_in_pass(all, place, requested ? requested : "", &passes[i]);
	*micros = found ? index_files_micros(all, place, found) : 0;
	return found;
}
