// SPDX-License-Identifier: Apache-2.0
#include "lib/install/resolve.h"

#include "lib/domain/text/pyspace.h"

static const struct str signs[] = {
	STR("==="), STR("=="), STR("!="), STR("~="), STR("<="), STR(">="), STR("<"), STR(">")};

// Splits one specifier of a valid set. An empty one has the length 0.
static struct str cut_sign(struct str *one)
{
	for (size_t i = 0; i < ARRAY_SIZE(signs); i++) {
		if (!str_starts(*one, signs[i]))
			continue;
		*one = pyspace_trim(str_slice(*one, signs[i].len, one->len));
		return signs[i];
	}
	return (struct str){"", 0};
}

static bool is_prerelease(struct str text)
{
	struct err ignored = ERR_INIT;
	CLEANUP(version_release) struct version v = {0};
	return version_parse(text, &v, &ignored) == 0 && v.is_prerelease;
}

bool resolve_names_prerelease(const char *specifier)
{
	struct str set = str_from(specifier);
	while (set.ptr) {
		struct str one = pyspace_trim(str_cut(&set, ','));
		struct str sign = cut_sign(&one);
		if (sign.len && !str_eq(sign, STR("!=")) && is_prerelease(one))
			return true;
	}
	return false;
}

struct str resolve_pin(const char *specifier)
{
	struct str set = str_from(specifier);
	while (set.ptr) {
		struct str one = pyspace_trim(str_cut(&set, ','));
		struct str sign = cut_sign(&one);
		if (str_eq(sign, STR("===")) || (str_eq(sign, STR("==")) && !str_ends(one, STR(".*"))))
			return one;
	}
	return (struct str){"", 0};
}

uint64_t resolve_micros(const struct offers *o, size_t environment, const struct offer *file)
{
	if (file->is_wheel && fits_rank(o->fits, file->tags, environment) < 0)
		return 0;
	return fits_micros(o->fits, file->python, environment);
}

struct resolution {
	struct offers *offers;
	size_t environment;
	int64_t platform;
	const struct resolve_want *want;
	const struct offers_release *release; // that the specifier admits
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

static bool is_in_sight(const struct resolution *r, const struct offer *f)
{
	if (f->is_wheel && f->is_unpromoted)
		return false;
	return f->platform ? f->platform == r->platform : !r->want->only_ours;
}

// The micro versions of a release on which a file of this kind installs.
static uint64_t micros_of_kind(const struct resolution *r, const struct offers_release *release,
	const struct release_walk *w, enum resolve_kind kind)
{
	uint64_t micros = 0;
	for (size_t i = release->first; i < release->end; i++) {
		const struct offer *f = &r->offers->offer[i];
		enum resolve_kind own = !f->is_wheel ? RESOLVE_SDIST : f->platform ? RESOLVE_HERE : RESOLVE_UPSTREAM;
		if (own == kind && f->is_yanked == w->takes_yanked && is_in_sight(r, f))
			micros |= resolve_micros(r->offers, r->environment, f);
	}
	return micros & w->micros;
}

static int compare_sdists(const struct offer *a, const struct offer *b)
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
static const struct offer *preferred_file(const struct resolution *r, const struct offers_release *release,
	const struct release_walk *w, enum resolve_kind kind, uint64_t micros)
{
	const struct offer *best = NULL;
	for (size_t i = release->first; i < release->end; i++) {
		const struct offer *f = &r->offers->offer[i];
		if (f->is_wheel != (kind != RESOLVE_SDIST) || f->is_yanked != w->takes_yanked || !is_in_sight(r, f))
			continue;
		if ((kind == RESOLVE_HERE && !f->platform) || (kind == RESOLVE_UPSTREAM && f->platform))
			continue;
		if (!(resolve_micros(r->offers, r->environment, f) & micros))
			continue;
		bool is_better = !best || (f->is_wheel ? fits_rank(r->offers->fits, f->tags, r->environment) <
								  fits_rank(r->offers->fits, best->tags, r->environment)
						       : compare_sdists(f, best) > 0);
		if (is_better)
			best = f;
	}
	return best;
}

static void add_outcome(struct resolution *r, enum resolve_kind kind, uint64_t micros,
	const struct offers_release *release, const struct offer *file)
{
	for (size_t i = 0; i < r->count; i++)
		if (r->out[i].kind == kind && r->out[i].release.first == release->first) {
			r->out[i].micros |= micros;
			return;
		}
	r->out[r->count++] = (struct resolve_outcome){kind, micros, *release, file};
}

// Takes the release on the micro versions on which it has a file.
static void take_release(struct resolution *r, const struct offers_release *release, struct release_walk *w)
{
	for (enum resolve_kind kind = RESOLVE_HERE; kind < RESOLVE_NOTHING && w->micros; kind++) {
		uint64_t micros = micros_of_kind(r, release, w, kind);
		if (!micros)
			continue;
		add_outcome(r, kind, micros, release, preferred_file(r, release, w, kind, micros));
		w->micros &= ~micros;
		r->left &= ~micros;
	}
}

// The micro versions on which any file of the release installs.
static uint64_t any_micros(const struct resolution *r, const struct offers_release *release)
{
	uint64_t micros = 0;
	for (size_t i = release->first; i < release->end; i++)
		if (is_in_sight(r, &r->offers->offer[i]))
			micros |= resolve_micros(r->offers, r->environment, &r->offers->offer[i]);
	return micros;
}

static void walk_releases(struct resolution *r, struct release_walk w)
{
	for (size_t i = 0; i < r->releases && w.micros; i++) {
		const struct offers_release *release = &r->release[i];
		bool is_pre = r->offers->offer[release->first].version.is_prerelease;
		if (!is_pre)
			r->finals |= any_micros(r, release);
		if (is_pre ? w.takes_prereleases : w.takes_finals)
			take_release(r, release, &w);
	}
}

// Pre-releases count only where no final release has a file, unless a specifier names one (PEP 440). Yanked files count
// only where there are no others and the version is pinned (PEP 592).
static void walk_all(struct resolution *r)
{
	bool takes_pre = r->want->allows_pre || resolve_names_prerelease(r->want->specifier);
	walk_releases(r, (struct release_walk){true, takes_pre, false, r->left});
	if (!takes_pre)
		walk_releases(r, (struct release_walk){false, true, false, r->left & ~r->finals});
	if (!r->want->is_pinned)
		return;
	walk_releases(r, (struct release_walk){true, takes_pre, true, r->left});
	if (!takes_pre)
		walk_releases(r, (struct release_walk){false, true, true, r->left & ~r->finals});
}

size_t resolve(struct offers *o, size_t environment, int64_t platform, const struct resolve_want *want,
	struct resolve_outcome out[RESOLVE_OUTCOMES])
{
	struct resolution r = {o, environment, platform, want, NULL, 0, want->micros, 0, out, 0};
	r.release = offers_admitted(o, want->specifier, &r.releases);
	walk_all(&r);
	if (r.left)
		r.out[r.count++] = (struct resolve_outcome){.kind = RESOLVE_NOTHING, .micros = r.left};
	return r.count;
}
