// SPDX-License-Identifier: Apache-2.0
#include "builder/missing/cell.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "auditor/rebuild/rebuild-set.h"
#include "lib/base/limits.h"
#include "lib/base/search.h"
#include "lib/base/strset.h"
#include "lib/domain/index/simplepage.h"
#include "lib/domain/text/specifier.h"
#include "lib/format/digest.h"
#include "lib/install/nearest-wheel.h"
#include "lib/os/fs.h"
#include "lib/state/catalog/catalog-mark.h"
#include "lib/state/store/tombstone.h"
#include "lib/state/upstream/offering.h"
#include "lib/state/upstream/rule-list.h"
#include "lib/state/upstream/upstream.h"

enum { WHY_MAX = 16 << 10 };

// --- the lists of [build] ---

static int read_package_list(struct requirements *list, const char *path, const char *section, const char *key, struct err *e)
{
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_REQUIREMENTS);
	if (!path)
		return 0;
	if (fs_read_regular(path, &text, e) < 0 ||
		requirements_parse(list, buf_view(&text), path, REQUIREMENT_PACKAGES, e) < 0)
		return err_prefix(e, "[%s] %s: ", section, key);
	return 0;
}

int cell_rules_init(struct cell_rules *r, const struct config *c, struct err *e)
{
	*r = (struct cell_rules){.config = c, .has_packages = c->build_packages != NULL};
	// What is denied would not be shown, so it is not built.
	if (read_package_list(&r->packages, c->build_packages, "build", "packages", e) < 0 ||
		read_package_list(&r->skip, c->build_skip, "build", "skip", e) < 0 ||
		read_package_list(&r->skip, c->deny, "server", "deny", e) < 0 ||
		rule_list_open(c->deny, NULL, &r->denied, e) < 0)
		return -1;
	if (r->has_packages && !r->packages.count) // as a failed download leaves it: nothing would be built
		return err_set(e, ERR_USAGE, "[build] packages: %s: it names no project", c->build_packages);
	return 0;
}

void cell_rules_release(struct cell_rules *r)
{
	requirements_release(&r->packages);
	requirements_release(&r->skip);
	rule_list_unref(r->denied);
	for (size_t i = 0; i < r->removeds; i++)
		filename_release(&r->removed[i].name);
	free(r->removed);
	arena_release(&r->text);
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

// --- removed wheels ---

struct removed_reading {
	struct cell_rules *rules;
	const struct strset *projects;
};

static int on_removed_wheel(void *ctx, const struct catalog_marked *mark, struct err *e UNUSED)
{
	struct removed_reading *x = ctx;
	struct cell_rules *r = x->rules;
	struct err ignored = ERR_INIT;
	CLEANUP(filename_release) struct filename name = {0};
	CLEANUP(tombstone_release) struct tombstone stone = {0};
	const char *filename = arena_copy(&r->text, str_from(mark->filename));
	if (filename_parse(str_from(filename), &name, &ignored) < 0 || name.kind != FILENAME_WHEEL ||
		!strset_has(x->projects, name.project))
		return 0;
	tombstone_read(str_from(mark->text ? mark->text : ""), &stone);
	// Only its tombstone has it after a purge.
	const char *python = mark->requires_python ? mark->requires_python : stone.requires_python;
	GROW(r->removed, r->removeds, r->removed_room);
	r->removed[r->removeds++] = (struct removed_wheel){
		.name = name,
		.filename = filename,
		.reason = arena_copy(&r->text, str_from(mark->reason)),
		.requires_python = python ? arena_copy(&r->text, str_from(python)) : NULL,
		.platform = mark->platform,
		.is_by_us = tombstone_is_by_us(&stone),
		.has_file = mark->has_file,
	};
	name = (struct filename){0};
	return 0;
}

int cell_rules_add_removed(struct cell_rules *r, struct catalog *c, int64_t platform, const struct strset *projects,
	struct err *e)
{
	struct removed_reading x = {r, projects};
	return catalog_marks(c, platform, MARK_PRUNED, on_removed_wheel, &x, e);
}

static int compare_removed(const void *a, const void *b)
{
	const struct removed_wheel *left = a, *right = b;
	int order = strcmp(left->name.project, right->name.project);
	if (order == 0)
		order = (left->platform > right->platform) - (left->platform < right->platform);
	return order ? order : strcmp(left->filename, right->filename);
}

void cell_rules_sort(struct cell_rules *r)
{
	if (r->removeds)
		qsort(r->removed, r->removeds, sizeof(*r->removed), compare_removed);
}

static bool is_of_earlier_project(const void *wheel, const void *project)
{
	return strcmp(((const struct removed_wheel *)wheel)->name.project, project) < 0;
}

// The next removed wheel of the cell's project and platform, from *at on, which 0 begins; NULL: none.
static const struct removed_wheel *next_removed(const struct cell *cell, size_t *at)
{
	const struct cell_rules *r = cell->rules;
	if (!*at)
		*at = lower_bound(cell->project, r->removed, r->removeds, sizeof(*r->removed), is_of_earlier_project);
	while (*at < r->removeds && strcmp(r->removed[*at].name.project, cell->project) == 0)
		if (r->removed[(*at)++].platform == cell->platform->id)
			return &r->removed[*at - 1];
	return NULL;
}

// A removed wheel of this version that installs on one of the micro versions. version NULL: any that the want admits.
static const struct removed_wheel *find_removed(const struct cell *cell, const struct branch_want *want, uint64_t micros,
	const struct version *version, bool is_by_us)
{
	const struct removed_wheel *w;
	struct fits *fits = cell->files->fits;
	for (size_t at = 0; (w = next_removed(cell, &at));)
		if (w->is_by_us == is_by_us &&
			(version ? version_cmp(&w->name.version, version) == 0
				 : specifier_set_admits(str_from(want->specifier), &w->name.version)) &&
			(fits_micros(fits, fits_python(fits, w->requires_python), cell->place) & micros) &&
			fits_rank(fits, fits_tags(fits, &w->name), cell->place) >= 0)
			return w;
	return NULL;
}

// --- the status ---

static bool is_skipped(const struct cell *cell, const struct branch_want *want, const struct version *version,
	struct cell_status *s)
{
	const struct cell_rules *r = cell->rules;
	if (want->has_url)
		return true;
	s->skip = find_line(&r->skip, cell, version, false);
	if (s->skip || (r->has_packages && !find_line(&r->packages, cell, version, true)))
		return true;
	s->removed = find_removed(cell, want, s->outcome.micros, version, false);
	if (s->removed)
		return true;
	s->removed = find_removed(cell, want, s->outcome.micros, version, true); // a branch wants it now
	return false;
}

// A wheel that the view does not show, and that installs where there is no other: of the version of the sdist, else the
// newest that is wanted.
static const struct index_file *find_unpromoted(const struct cell *cell, const struct branch_want *want,
	const struct resolve_outcome *o)
{
	size_t count = 1;
	const struct index_release *release = &o->release;
	if (o->kind == RESOLVE_NOTHING)
		release = index_files_admitted(cell->files, want->specifier, &count);
	for (size_t i = 0; i < count; i++)
		for (size_t k = release[i].first; k < release[i].end; k++) {
			const struct index_file *f = &cell->files->file[k];
			if (f->is_unpromoted && f->is_wheel && !f->is_yanked && f->platform == cell->platform->id &&
				(index_files_micros(cell->files, cell->place, f) & o->micros))
				return f;
		}
	return NULL;
}

static void judge(const struct cell *cell, const struct index_file *f, struct offering *o)
{
	const struct upstream_answer *a = cell->answer;
	upstream_judge(a, upstream_home(a, f->upstream).upstream, f->upstream, o);
}

static const struct index_file *find_hidden(const struct cell *cell, const struct branch_want *want, uint64_t micros)
{
	struct offering judged;
	struct resolve_outcome o[RESOLVE_OUTCOMES];
	const struct resolve_want wanted = {want->specifier, micros, want->is_pinned, want->allows_pre, false};
	if (!cell->listed || want->has_url || !micros)
		return NULL;
	size_t count = resolve(cell->listed, cell->place, cell->platform->id, &wanted, o);
	for (size_t i = 0; i < count; i++) {
		if (!o[i].file || !o[i].file->upstream)
			continue;
		judge(cell, o[i].file, &judged);
		if (!judged.is_offered)
			return o[i].file;
	}
	return NULL;
}

// Of a pinned version, what is hidden only for a time, or until a hold ends.
static bool is_cooling(const struct cell *cell, const struct branch_want *want, const struct index_file *hidden)
{
	struct offering o;
	if (!hidden || !want->is_pinned)
		return false;
	judge(cell, hidden, &o);
	return offering_first_rule(&o) > OFFERING_RECORD;
}

static enum wheel_status status_of_outcome(const struct cell *cell, const struct branch_want *want,
	const struct version *version, struct cell_status *s)
{
	if (cell->withdrawn)
		return WHEEL_SKIPPED;
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
	s->hidden = find_hidden(cell, want, s->outcome.micros);
	if (is_cooling(cell, want, s->hidden))
		return WHEEL_COOLING;
	if (s->outcome.kind == RESOLVE_NOTHING)
		return WHEEL_IMPOSSIBLE;
	return cell->is_pure && !cell->rules->wants_pure ? WHEEL_PURE : WHEEL_MISSING;
}

static size_t find_outcomes(const struct cell *cell, const struct branch_want *want, struct resolve_outcome *o)
{
	const struct resolve_want wanted = {
		want->specifier, want->micros, want->is_pinned, want->allows_pre, !cell->is_upstream_known};
	if (!want->micros || want->has_url) {
		o[0] = (struct resolve_outcome){.kind = RESOLVE_NOTHING, .micros = want->micros};
		return 1;
	}
	size_t count = resolve(cell->files, cell->place, cell->platform->id, &wanted, o);
	if (!cell->is_upstream_known) {
		// Without upstream's answer only a wheel of ours of a pinned version is certain.
		size_t kept = 0;
		for (size_t i = 0; i < count; i++)
			if (o[i].kind == RESOLVE_HERE && want->is_pinned)
				o[kept++] = o[i];
		if (!kept)
			o[kept++] = (struct resolve_outcome){.kind = RESOLVE_NOTHING, .micros = want->micros};
		return kept;
	}
	// Micro versions without any file are no row of their own beside others.
	return count > 1 && o[count - 1].kind == RESOLVE_NOTHING ? count - 1 : count;
}

size_t cell_decide(const struct cell *cell, const struct branch_want *want, struct arena *text,
	struct cell_status out[RESOLVE_OUTCOMES])
{
	struct resolve_outcome o[RESOLVE_OUTCOMES];
	struct err ignored = ERR_INIT;
	size_t count = find_outcomes(cell, want, o);
	struct str pin = STR(""); // "===" may have any text
	specifier_set_pins(str_from(want->specifier), &pin);
	CLEANUP(version_release) struct version pinned = {0};
	bool is_version = version_parse(pin, &pinned, &ignored) == 0;
	const char *pin_text = is_version ? pinned.text : pin.len ? pin.ptr : NULL;
	for (size_t i = 0; i < count; i++) {
		struct cell_status *s = &out[i];
		*s = (struct cell_status){.outcome = o[i]};
		if (!want->micros) {
			s->status = WHEEL_NOT_WANTED;
			continue;
		}
		const struct version *version = o[i].file ? &o[i].file->version : is_version ? &pinned : NULL;
		s->status = status_of_outcome(cell, want, version, s);
		if (s->unpromoted || o[i].file)
			s->version = (s->unpromoted ? s->unpromoted : o[i].file)->version.text;
		else if (pin_text)
			s->version = arena_copy(text, is_version ? str_from(pinned.text) : pin);
	}
	return count;
}

bool cell_project_is_pure(const struct index_files *o)
{
	bool has_wheel = false;
	for (size_t i = 0; i < o->count; i++) {
		const struct index_file *f = &o->file[i];
		if (!f->is_wheel || f->is_yanked)
			continue;
		if (!f->is_pure)
			return false;
		has_wheel = true;
	}
	return has_wheel;
}

// --- why, in words ---

// A file that a client of this platform is shown, of a version that the want admits.
static bool is_in_sight(const struct cell *cell, const struct index_file *f)
{
	return !f->platform || f->platform == cell->platform->id;
}

struct sight {
	const struct index_release *newest; // with a file in sight; NULL: none
	const struct index_file *sdist;           // the newest one that is not yanked; NULL: none
	bool has_yanked;                     // a yanked file would install
};

// A wheel that a rule of ours removed is no reason that there is none, but people must know of it.
static void describe_removed(const struct cell_status *s, struct buf *out)
{
	if (s->removed)
		buf_printf(out, "%s was removed here: %s%s; ", s->removed->filename,
			*s->removed->reason ? s->removed->reason : "no reason was given",
			s->removed->has_file ? "; wheelcache prune restore lists it again" : "");
}

// The last part of a sentence.
static void describe_hidden(const struct cell *cell, const struct cell_status *s, struct buf *out)
{
	struct offering o;
	if (!s->hidden)
		return;
	judge(cell, s->hidden, &o);
	buf_printf(out, "; %s is not offered: ", s->hidden->filename);
	offering_write(&o, offering_first_rule(&o), out);
}

static void describe_impossible(const struct cell *cell, const struct branch_want *want, const struct cell_status *of,
	struct buf *out)
{
	struct sight s = {0};
	size_t count;
	const struct index_release *release = index_files_admitted(cell->files, want->specifier, &count);
	for (size_t i = 0; i < count; i++)
		for (size_t k = release[i].first; k < release[i].end; k++) {
			const struct index_file *f = &cell->files->file[k];
			if (!is_in_sight(cell, f))
				continue;
			if (!s.newest)
				s.newest = &release[i];
			if (f->is_yanked)
				s.has_yanked |= index_files_micros(cell->files, cell->place, f) & want->micros;
			else if (!f->is_wheel && !s.sdist)
				s.sdist = f;
		}
	if (!s.newest)
		buf_printf(out, "there is no file of any version%s%s", *want->specifier ? " " : "", want->specifier);
	else if (s.has_yanked)
		buf_puts(out, "only yanked files, and no exact pin");
	else if (s.sdist)
		buf_printf(out, "%s has Requires-Python %s", s.sdist->filename,
			fits_python_text(cell->files->fits, s.sdist->python));
	else {
		buf_puts(out, "no sdist, and ");
		nearest_wheel(cell->files, cell->place, s.newest, out);
	}
	if (*cell->upstream_says)
		buf_printf(out, "; %s", cell->upstream_says);
	describe_hidden(cell, of, out);
}

// "path:line" without the folders, which clients of a server need not know.
// The number is above those of the platform's wheels that are there now: the list may be older than some of them, and a
// name that was taken is not taken again.
static unsigned next_build(const struct cell *cell, const struct version *version, unsigned build)
{
	for (size_t i = 0; i < cell->files->count; i++) {
		const struct index_file *f = &cell->files->file[i];
		if (f->platform == cell->platform->id && filename_build_number(f->build) >= build &&
			version_cmp(&f->version, version) == 0)
			build = filename_build_number(f->build) + 1;
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
	const struct removed_wheel *w;
	const struct version *version = &s->outcome.file->version;
	unsigned build = 0;
	bool found = false;
	for (size_t at = 0; s->removed && s->removed->is_by_us && (w = next_removed(cell, &at));) {
		if (version_cmp(&w->name.version, version) != 0)
			continue;
		unsigned one = filename_build_number(w->name.build);
		build = one > build ? one : build;
		found = true;
	}
	return found ? next_build(cell, version, build + 1) : 0;
}

static void describe_missing(const struct cell *cell, const struct cell_status *s, struct buf *out)
{
	struct rebuild_wanted again;
	if (find_rebuild(cell, s, &again)) {
		buf_printf(out, "%s is to be rebuilt, with build tag %u: %s", again.filename, again.build, again.why);
		return;
	}
	if (s->status == WHEEL_PURE)
		buf_puts(out, "all known wheels of the project are pure Python; ");
	describe_removed(s, out);
	nearest_wheel(cell->files, cell->place, &s->outcome.release, out);
	describe_hidden(cell, s, out);
}

static void describe_status(const struct cell *cell, const struct branch_want *want, const struct cell_status *s,
	struct buf *out)
{
	enum wheel_status status = s->status;
	if (status == WHEEL_NOT_WANTED) {
		buf_printf(out, "the markers are false there (%s)", fs_path_as_told(want->source, false));
	} else if (status == WHEEL_HERE || status == WHEEL_UPSTREAM) {
		buf_puts(out, s->outcome.file->filename);
	} else if (status == WHEEL_UNPROMOTED) {
		buf_printf(out, "%s is here, but the view %s does not show it", s->unpromoted->filename, cell->rules->view);
	} else if (status == WHEEL_SKIPPED) {
		if (cell->withdrawn)
			buf_printf(out, "it is %s: %s", simplepage_status_name[SIMPLEPAGE_QUARANTINED], cell->withdrawn);
		else if (want->has_url)
			buf_printf(out, "%s wants a file by its URL, which no index decides about",
				fs_path_as_told(want->source, false));
		else if (s->skip)
			buf_printf(out, "%s: %s", fs_path_as_told(s->skip->source, false),
				*s->skip->reason ? s->skip->reason : "[build] skip");
		else if (s->removed)
			buf_printf(out, "%s was removed here: %s", s->removed->filename,
				*s->removed->reason ? s->removed->reason : "no reason was given");
		else
			buf_puts(out, "it is not in [build] packages");
	} else if (status == WHEEL_COOLING) {
		struct offering o;
		judge(cell, s->hidden, &o);
		buf_printf(out, "%s is ", s->hidden->filename);
		offering_write(&o, offering_first_rule(&o), out);
	} else if (status == WHEEL_UNKNOWN) {
		buf_puts(out, cell->upstream_says);
	} else if (status == WHEEL_IMPOSSIBLE) {
		describe_removed(s, out);
		describe_impossible(cell, want, s, out);
	} else { // PURE, MISSING
		describe_missing(cell, s, out);
	}
}

static int put_sdist_url(const struct cell *cell, const struct index_file *f, struct arena *text, const char **url,
	struct err *e)
{
	struct catalog_place place;
	if (!f->platform) {
		*url = arena_copy(text, str_from(f->upstream->url));
		return 0;
	}
	if (catalog_find_file(cell->rules->catalog, f->platform, f->filename, &place, e) < 0)
		return -1;
	CLEANUP(mem_free) char *own = xasprintf("file:%s", place.path); // below the platform's folder, on any machine
	catalog_place_release(&place);
	*url = arena_copy(text, str_from(own));
	return 0;
}

int cell_explain(const struct cell *cell, const struct branch_want *want, const struct cell_status *s,
	struct arena *text, struct missing_row *row, struct err *e)
{
	struct rebuild_wanted again;
	CLEANUP(buf_release) struct buf why = buf_up_to(WHY_MAX);
	describe_status(cell, want, s, &why);
	if (row->micros && row->micros != UINT64_MAX) {
		buf_puts(&why, " (on ");
		fits_print_micros(row->micros, &cell->files->fits->place[cell->place].environment->python, &why);
		buf_puts(&why, ")");
	}
	row->why = arena_copy(text, buf_view(&why));
	row->version = s->version ? arena_copy(text, str_from(s->version)) : NULL;
	if (s->status == WHEEL_COOLING) {
		struct offering o;
		judge(cell, s->hidden, &o);
		row->offered = o.next;
	}
	row->sdist = (struct missing_sdist){.size = -1};
	if (s->outcome.kind != RESOLVE_SDIST || s->unpromoted)
		return 0;
	row->build = find_rebuild(cell, s, &again) ? again.build : build_after_removal(cell, s);
	const struct index_file *f = s->outcome.file;
	struct missing_sdist *out = &row->sdist;
	char hex[SHA256_HEX + 1] = "";
	*out = (struct missing_sdist){.filename = arena_copy(text, str_from(f->filename)), .size = f->size};
	if (f->sha256) {
		hex_encode(f->sha256, SHA256_SIZE, hex);
		out->sha256 = arena_copy(text, str_from(hex));
	}
	return put_sdist_url(cell, f, text, &out->url, e);
}
