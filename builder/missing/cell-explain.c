// SPDX-License-Identifier: Apache-2.0
// Why a cell has its status, in words.
#include <string.h>

#include "lib/base/limits.h"
#include "lib/format/digest.h"
#include "builder/missing/cell-status.h"
#include "auditor/rebuild/rebuild-set.h"

enum { WHY_MAX = 16 << 10 };

void cell_print_micros(uint64_t micros, const struct python *p, struct buf *out)
{
	enum { MICROS = 64 };
	const char *between = "";
	for (unsigned first = 0, end; first < MICROS; first = end + 1) {
		end = first;
		if (!(micros >> first & 1))
			continue;
		while (end + 1 < MICROS && (micros >> (end + 1) & 1))
			end++;
		buf_printf(out, "%s%u.%u.%u", between, p->major, p->minor, first);
		if (end == MICROS - 1)
			buf_puts(out, " and later");
		else if (end > first)
			buf_printf(out, " to %u.%u.%u", p->major, p->minor, end);
		between = ", ";
	}
}

// A file that a client of this platform is shown, of a version that the want admits.
static bool is_in_sight(const struct cell *cell, const struct offer *f)
{
	return !f->platform || f->platform == cell->platform->id;
}

struct sight {
	const struct offers_release *newest; // with a file in sight; NULL: none
	const struct offer *sdist;           // the newest one that is not yanked; NULL: none
	bool has_yanked;                     // a yanked file would install
};

static void look_around(const struct cell *cell, const struct branch_want *want, struct sight *s)
{
	size_t count;
	const struct offers_release *release = offers_admitted(cell->offers, want->specifier, &count);
	for (size_t i = 0; i < count; i++)
		for (size_t k = release[i].first; k < release[i].end; k++) {
			const struct offer *f = &cell->offers->offer[k];
			if (!is_in_sight(cell, f))
				continue;
			if (!s->newest)
				s->newest = &release[i];
			if (f->is_yanked)
				s->has_yanked |=
					resolve_micros(cell->offers, cell->place.environment, f) & want->micros;
			else if (!f->is_wheel && !s->sdist)
				s->sdist = f;
		}
}

static void put_wanted(const struct branch_want *want, struct buf *out)
{
	if (*want->specifier)
		buf_printf(out, "version %s", want->specifier);
	else
		buf_puts(out, "version");
}

// A wheel that a rule of ours removed is no reason that there is none, but people must know of it.
static void describe_removed(const struct cell_status *s, struct buf *out)
{
	if (s->removed)
		buf_printf(out, "%s was removed here: %s%s; ", s->removed->filename,
			*s->removed->reason ? s->removed->reason : "no reason was given",
			s->removed->has_file ? "; wheelcache prune restore lists it again" : "");
}

static void describe_impossible(const struct cell *cell, const struct branch_want *want,
	const struct cell_status *status, struct buf *out)
{
	struct sight s = {0};
	describe_removed(status, out);
	look_around(cell, want, &s);
	if (!s.newest) {
		buf_puts(out, "there is no file of any ");
		put_wanted(want, out);
	} else if (s.has_yanked) {
		buf_puts(out, "only yanked files, and no exact pin");
	} else if (s.sdist) {
		buf_printf(out, "%s has Requires-Python %s", s.sdist->filename,
			fits_python_text(cell->offers->fits, s.sdist->python));
	} else {
		buf_puts(out, "no sdist, and ");
		nearest_describe(cell->offers, &cell->place, s.newest, out);
	}
	if (*cell->upstream_says)
		buf_printf(out, "; %s", cell->upstream_says);
}

typedef void describe_fn(const struct cell *cell, const struct branch_want *want, const struct cell_status *s,
	struct buf *out);

// "path:line" without the folders, which clients of a server need not know.
static const char *without_folder(const char *source)
{
	const char *slash = strrchr(source, '/');
	return slash ? slash + 1 : source;
}

static void describe_not_wanted(const struct cell *cell UNUSED, const struct branch_want *want,
	const struct cell_status *s UNUSED, struct buf *out)
{
	buf_printf(out, "the markers are false there (%s)", without_folder(want->source));
}

static void describe_wheel(const struct cell *cell UNUSED, const struct branch_want *want UNUSED,
	const struct cell_status *s, struct buf *out)
{
	buf_puts(out, s->outcome.file->filename);
}

static void describe_unpromoted(const struct cell *cell, const struct branch_want *want UNUSED,
	const struct cell_status *s, struct buf *out)
{
	buf_printf(out, "%s is here, but the view %s does not show it", s->unpromoted->filename, cell->rules->view);
}

static void describe_skipped(const struct cell *cell UNUSED, const struct branch_want *want,
	const struct cell_status *s, struct buf *out)
{
	if (want->has_url)
		buf_printf(out, "%s wants a file by its URL, which no index decides about",
			without_folder(want->source));
	else if (s->skip)
		buf_printf(out, "%s: %s", without_folder(s->skip->source),
			*s->skip->reason ? s->skip->reason : "[build] skip");
	else if (s->removed)
		buf_printf(out, "%s was removed here: %s", s->removed->filename,
			*s->removed->reason ? s->removed->reason : "no reason was given");
	else
		buf_puts(out, "it is not in [build] packages");
}

static void describe_unknown(const struct cell *cell, const struct branch_want *want UNUSED,
	const struct cell_status *s UNUSED, struct buf *out)
{
	buf_puts(out, cell->upstream_says);
}

// The number is above those of the platform's wheels that are there now: the list may be older than some of them, and a
// name that was taken is not taken again.
static unsigned next_build(const struct cell *cell, const struct version *version, unsigned build)
{
	for (size_t i = 0; i < cell->offers->count; i++) {
		const struct offer *f = &cell->offers->offer[i];
		if (f->platform == cell->platform->id && f->build >= build && version_cmp(&f->version, version) == 0)
			build = f->build + 1;
	}
	return build;
}

static bool find_rebuild(const struct cell *cell, const struct cell_status *s, struct rebuild_wanted *out)
{
	if (s->outcome.kind != RESOLVE_SDIST || !rebuild_set_find(cell->rules->rebuild, cell->platform->name,
							cell->project, &s->outcome.file->version, out))
		return false;
	out->build = next_build(cell, &s->outcome.file->version, out->build);
	return true;
}

// The names of wheels that were removed stay taken. 0: none was.
static unsigned build_after_removal(const struct cell *cell, const struct cell_status *s)
{
	unsigned build = 0;
	const struct version *version = s->outcome.file ? &s->outcome.file->version : NULL;
	if (!s->removed || !s->removed->is_by_us ||
		!removed_wheels_build(&cell->rules->removed, cell->project, cell->platform->id, version, &build))
		return 0;
	return next_build(cell, version, build + 1);
}

static void describe_missing(const struct cell *cell, const struct branch_want *want UNUSED,
	const struct cell_status *s, struct buf *out)
{
	struct rebuild_wanted again;
	if (find_rebuild(cell, s, &again)) {
		buf_printf(out, "%s is to be rebuilt, with build tag %u: %s", again.filename, again.build, again.why);
		return;
	}
	if (s->status == WHEEL_PURE)
		buf_puts(out, "all known wheels of the project are pure Python; ");
	describe_removed(s, out);
	nearest_describe(cell->offers, &cell->place, &s->outcome.release, out);
}

static describe_fn *const describe[WHEEL_STATUS_COUNT] = {
	[WHEEL_NOT_WANTED] = describe_not_wanted,
	[WHEEL_HERE] = describe_wheel,
	[WHEEL_UNPROMOTED] = describe_unpromoted,
	[WHEEL_SKIPPED] = describe_skipped,
	[WHEEL_UPSTREAM] = describe_wheel,
	[WHEEL_UNKNOWN] = describe_unknown,
	[WHEEL_IMPOSSIBLE] = describe_impossible,
	[WHEEL_PURE] = describe_missing,
	[WHEEL_MISSING] = describe_missing,
};

static int put_sdist_url(const struct cell *cell, const struct offer *f, struct arena *text, const char **url,
	struct err *e)
{
	struct catalog_place place;
	if (!f->platform) {
		*url = arena_copy(text, str_from(f->url));
		return 0;
	}
	if (catalog_find_file(cell->rules->catalog, f->platform, f->filename, &place, e) < 0)
		return -1;
	CLEANUP(mem_free) char *own = xasprintf("file:%s", place.path); // below the platform's folder, on any machine
	catalog_place_release(&place);
	*url = arena_copy(text, str_from(own));
	return 0;
}

static int put_sdist(const struct cell *cell, const struct offer *f, struct arena *text, struct missing_sdist *out,
	struct err *e)
{
	char hex[SHA256_HEX + 1] = "";
	*out = (struct missing_sdist){.filename = arena_copy(text, str_from(f->filename)), .size = f->size};
	if (f->sha256) {
		hex_encode(f->sha256, SHA256_SIZE, hex);
		out->sha256 = arena_copy(text, str_from(hex));
	}
	return put_sdist_url(cell, f, text, &out->url, e);
}

int cell_explain(const struct cell *cell, const struct branch_want *want, const struct cell_status *s,
	struct arena *text, struct missing_row *row, struct err *e)
{
	struct rebuild_wanted again;
	CLEANUP(buf_release) struct buf why;
	buf_init(&why, WHY_MAX);
	describe[s->status](cell, want, s, &why);
	if (row->micros && row->micros != UINT64_MAX) {
		buf_puts(&why, " (on ");
		cell_print_micros(row->micros, cell->place.python, &why);
		buf_puts(&why, ")");
	}
	row->why = arena_copy(text, buf_view(&why));
	row->version = s->version ? arena_copy(text, str_from(s->version)) : NULL;
	row->sdist = (struct missing_sdist){.size = -1};
	if (s->outcome.kind != RESOLVE_SDIST || s->unpromoted)
		return 0;
	row->build = find_rebuild(cell, s, &again) ? again.build : build_after_removal(cell, s);
	return put_sdist(cell, s->outcome.file, text, &row->sdist, e);
}
