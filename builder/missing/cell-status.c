// SPDX-License-Identifier: Apache-2.0
#include "builder/missing/cell-status.h"

#include <fnmatch.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/domain/text/specifier.h"
#include "lib/os/fs.h"

// --- the lists of [build] ---

static int read_package_list(struct requirements *list, const char *path, const char *key, struct err *e)
{
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, LIMIT_REQUIREMENTS);
	if (!path)
		return 0;
	if (fs_read_regular(path, &text, e) < 0 ||
		requirements_parse(list, buf_view(&text), path, REQUIREMENT_PACKAGES, e) < 0)
		return err_prefix(e, "[build] %s: ", key);
	return 0;
}

int cell_rules_init(struct cell_rules *r, const struct config *c, struct err *e)
{
	*r = (struct cell_rules){.config = c, .has_packages = c->build_packages != NULL};
	if (read_package_list(&r->packages, c->build_packages, "packages", e) < 0 ||
		read_package_list(&r->skip, c->build_skip, "skip", e) < 0)
		return -1;
	if (r->has_packages && !r->packages.count) // as a failed download leaves it: nothing would be built
		return err_set(e, ERR_USAGE, "[build] packages: %s: it names no project", c->build_packages);
	return 0;
}

void cell_rules_release(struct cell_rules *r)
{
	requirements_release(&r->packages);
	requirements_release(&r->skip);
	removed_wheels_release(&r->removed);
}

// A line about this version on this platform. Of an unknown version only a line for all versions counts, or any line if
// takes_any.
static const struct requirement *find_line(const struct requirements *list, const struct cell *cell,
	const struct version *version, bool takes_any)
{
	size_t count;
	const struct requirement *line = requirements_of(list, cell->project, &count);
	for (size_t i = 0; i < count; i++) {
		if (line[i].platform && fnmatch(line[i].platform, cell->platform->name, 0) != 0)
			continue;
		if (version ? specifier_set_admits(str_from(line[i].specifier), version)
			    : takes_any || !*line[i].specifier)
			return &line[i];
	}
	return NULL;
}

// --- the status ---

// The version that the files of the outcome have, or that the want pins; version NULL: none is known.
struct known_version {
	const struct version *version;
	struct version own; // memory of version
};

static void known_version_release(struct known_version *k)
{
	version_release(&k->own);
}

static void find_version(const struct branch_want *want, const struct resolve_outcome *o, struct known_version *k)
{
	struct err ignored = ERR_INIT;
	if (o->file)
		k->version = &o->file->version;
	else if (version_parse(resolve_pin(want->specifier), &k->own, &ignored) == 0)
		k->version = &k->own;
}

static const char *text_of_version(const struct branch_want *want, const struct resolve_outcome *o,
	const struct known_version *k, struct arena *text)
{
	if (o->file)
		return o->file->version.text;
	if (k->version)
		return arena_copy(text, str_from(k->version->text));
	struct str pin = resolve_pin(want->specifier); // "===" may have any text
	return pin.len ? arena_copy(text, pin) : NULL;
}

static bool is_skipped(const struct cell *cell, const struct branch_want *want, const struct version *version,
	struct cell_status *s)
{
	const struct cell_rules *r = cell->rules;
	if (want->has_url)
		return true;
	s->skip = find_line(&r->skip, cell, version, false);
	if (s->skip || (r->has_packages && !find_line(&r->packages, cell, version, true)))
		return true;
	struct removed_question q = {cell->project, cell->platform->id, cell->place.environment, s->outcome.micros,
		version, want->specifier, .is_by_us = false};
	s->removed = removed_wheels_find(&r->removed, r->removed_fits, &q);
	if (s->removed)
		return true;
	q.is_by_us = true; // a branch wants it now
	s->removed = removed_wheels_find(&r->removed, r->removed_fits, &q);
	return false;
}

// A wheel that the view does not show, and that installs where there is no other: of the version of the sdist, else the
// newest that is wanted.
static const struct offer *find_unpromoted(const struct cell *cell, const struct branch_want *want,
	const struct resolve_outcome *o)
{
	size_t count = 1;
	const struct offers_release *release = &o->release;
	if (o->kind == RESOLVE_NOTHING)
		release = offers_admitted(cell->offers, want->specifier, &count);
	for (size_t i = 0; i < count; i++)
		for (size_t k = release[i].first; k < release[i].end; k++) {
			const struct offer *f = &cell->offers->offer[k];
			if (f->is_unpromoted && f->is_wheel && !f->is_yanked && f->platform == cell->platform->id &&
				(resolve_micros(cell->offers, cell->place.environment, f) & o->micros))
				return f;
		}
	return NULL;
}

static enum wheel_status status_of_outcome(const struct cell *cell, const struct branch_want *want,
	const struct version *version, struct cell_status *s)
{
	if (s->outcome.kind == RESOLVE_HERE)
		return WHEEL_HERE;
	if (s->outcome.kind != RESOLVE_UPSTREAM)
		s->unpromoted = find_unpromoted(cell, want, &s->outcome);
	if (s->unpromoted)
		return WHEEL_UNPROMOTED;
	if (is_skipped(cell, want, version, s))
		return WHEEL_SKIPPED;
	if (s->outcome.kind == RESOLVE_UPSTREAM)
		return WHEEL_UPSTREAM;
	if (!cell->is_upstream_known)
		return WHEEL_UNKNOWN;
	if (s->outcome.kind == RESOLVE_NOTHING)
		return WHEEL_IMPOSSIBLE;
	return cell->is_pure && !cell->rules->wants_pure ? WHEEL_PURE : WHEEL_MISSING;
}

// Without upstream's answer only a wheel of ours of a pinned version is certain.
static size_t keep_certain(const struct branch_want *want, struct resolve_outcome *o, size_t count)
{
	size_t kept = 0;
	for (size_t i = 0; i < count; i++)
		if (o[i].kind == RESOLVE_HERE && want->is_pinned)
			o[kept++] = o[i];
	if (!kept)
		o[kept++] = (struct resolve_outcome){.kind = RESOLVE_NOTHING, .micros = want->micros};
	return kept;
}

static size_t find_outcomes(const struct cell *cell, const struct branch_want *want, struct resolve_outcome *o)
{
	const struct resolve_want wanted = {
		want->specifier, want->micros, want->is_pinned, want->allows_pre, !cell->is_upstream_known};
	if (!want->micros || want->has_url) {
		o[0] = (struct resolve_outcome){.kind = RESOLVE_NOTHING, .micros = want->micros};
		return 1;
	}
	size_t count = resolve(cell->offers, cell->place.environment, cell->platform->id, &wanted, o);
	if (!cell->is_upstream_known)
		return keep_certain(want, o, count);
	// Micro versions without any file are no row of their own beside others.
	return count > 1 && o[count - 1].kind == RESOLVE_NOTHING ? count - 1 : count;
}

size_t cell_decide(const struct cell *cell, const struct branch_want *want, struct arena *text,
	struct cell_status out[RESOLVE_OUTCOMES])
{
	struct resolve_outcome o[RESOLVE_OUTCOMES];
	size_t count = find_outcomes(cell, want, o);
	for (size_t i = 0; i < count; i++) {
		CLEANUP(known_version_release) struct known_version k = {0};
		out[i] = (struct cell_status){.outcome = o[i]};
		if (!want->micros) {
			out[i].status = WHEEL_NOT_WANTED;
			continue;
		}
		find_version(want, &o[i], &k);
		out[i].status = status_of_outcome(cell, want, k.version, &out[i]);
		out[i].version =
			out[i].unpromoted ? out[i].unpromoted->version.text : text_of_version(want, &o[i], &k, text);
	}
	return count;
}

bool cell_project_is_pure(const struct offers *o)
{
	bool has_wheel = false;
	for (size_t i = 0; i < o->count; i++) {
		const struct offer *f = &o->offer[i];
		if (!f->is_wheel || f->is_yanked)
			continue;
		if (!f->is_pure)
			return false;
		has_wheel = true;
	}
	return has_wheel;
}
