// SPDX-License-Identifier: Apache-2.0
#include "builder/missing/kept-versions.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/search.h"
#include "lib/domain/text/filename.h"
#include "lib/domain/text/specifier.h"
#include "lib/format/digest.h"
#include "lib/install/resolve.h"
#include "lib/os/fs.h"

enum {
	REASON_MAX = LIMIT_PATH + LIMIT_BRANCH_SPECIFIERS + 1024,
	KEPT_TEXTS = 10000, // tag sets that are kept between projects
	TOGETHER = 1,       // the platform of files that a client sees together
};

// --- the lists of [prune] ---

static int read_list(struct requirements *list, const char *path, enum requirement_form form, struct digest *d,
	struct err *e)
{
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_REQUIREMENTS);
	if (fs_read_file(path, &text, e) < 0 || requirements_parse(list, buf_view(&text), path, form, e) < 0)
		return -1;
	uint64_t length = text.len; // hashed too, so that no two lists give the same bytes
	if (d) {
		digest_add(d, &length, sizeof(length));
		digest_add(d, text.data, text.len);
	}
	return 0;
}

// An empty file, such as a failed download leaves, must not unpin everything.
static int read_pins(struct requirements *pins, const char *path, struct digest *d, struct err *e)
{
	size_t before = pins->count;
	if (read_list(pins, path, REQUIREMENT_CONSTRAINTS, d, e) < 0)
		return err_prefix(e, "[prune] constraints: ");
	return pins->count > before ? 0 : err_set(e, ERR_USAGE, "[prune] constraints: %s: it pins nothing", path);
}

int kept_lists_read(const struct config *c, struct requirements *packages, struct requirements *pins, struct digest *d,
	struct err *e)
{
	if (c->prune_packages && read_list(packages, c->prune_packages, REQUIREMENT_PACKAGES, d, e) < 0)
		return err_prefix(e, "[prune] packages: ");
	for (struct str rest = str_from(c->prune_constraints ? c->prune_constraints : ""); rest.len;) {
		struct str word = str_cut(&rest, ' ');
		CLEANUP(mem_free) char *path = xstrndup(word.ptr, word.len);
		if (read_pins(pins, path, d, e) < 0)
			return -1;
	}
	return 0;
}

// --- the branches ---

static bool is_known_to_a_branch(const struct branches *b, const struct platform *p)
{
	for (size_t i = 0; i < b->count && p->profile.environment_count; i++)
		if (!b->branch[i].is_over && branch_has_platform(&b->branch[i], p->name))
			return true;
	return false;
}

static int collect_wanted(struct kept_versions *k, const struct store *s, struct err *e)
{
	CLEANUP(mem_free) const char **name = xcalloc(s->platform_count + 1, sizeof(*name));
	struct missing_options o = {.platform = name, .has_retired = true};
	for (size_t i = 0; i < s->platform_count; i++)
		if (is_known_to_a_branch(&k->branches, &s->platform[i]))
			name[o.platforms++] = s->platform[i].name;
	struct err no_python = ERR_INIT; // no branch has a Python of these platforms
	if (o.platforms && wanted_cells_collect(&k->wanted, &k->branches, s, &o, &no_python) < 0 && k->wanted.fits.places) {
		*e = no_python;
		return -1;
	}
	return 0;
}

void kept_versions_open(const struct config *c, const struct store *s, int64_t now, struct kept_versions *out)
{
	struct err e = ERR_INIT;
	*out = (struct kept_versions){.trouble = NULL};
	if (kept_lists_read(c, &out->packages, &out->pins, NULL, &e) < 0 ||
		kept_locks_read(c, now, NULL, &out->locks, &e) < 0 ||
		(c->branch_count && (branches_read(c, NULL, now, &out->branches, &e) < 0 ||
					    collect_wanted(out, s, &e) < 0)))
		out->trouble = xasprintf("what is wanted is not known: %s", e.msg);
}

void kept_versions_release(struct kept_versions *k)
{
	wanted_cells_release(&k->wanted);
	branches_release(&k->branches);
	requirements_release(&k->packages);
	requirements_release(&k->pins);
	kept_locks_release(&k->locks);
	free(k->trouble);
	*k = (struct kept_versions){.trouble = NULL};
}

static bool is_line_of_earlier_project(const void *line, const void *project)
{
	return strcmp(((const struct branch_line *)line)->project, project) < 0;
}

// The first line of the project that admits the version; NULL: none does.
static const struct branch_line *find_admitting_line(const struct branch *b, const char *project, const struct version *version,
	bool wants_pins)
{
	size_t i = lower_bound(project, b->line, b->lines, sizeof(*b->line), is_line_of_earlier_project);
	for (; i < b->lines && strcmp(b->line[i].project, project) == 0; i++) {
		const struct branch_line *line = &b->line[i];
		bool counts = line->is_pinned || (!wants_pins && !line->is_constraint);
		if (counts && (!*line->specifier || specifier_set_admits(str_from(line->specifier), version)))
			return line;
	}
	return NULL;
}

bool kept_versions_admit(const struct branches *b, const char *project, const struct version *version,
	const char *platform, bool wants_pins, struct buf *why)
{
	for (size_t i = 0; i < b->count; i++) {
		const struct branch *one = &b->branch[i];
		const struct branch_line *line = find_admitting_line(one, project, version, wants_pins);
		if (!line || !branch_has_platform(one, platform))
			continue;
		buf_printf(why, "branch %s %s %s%s (%s)", one->name, line->is_pinned ? "pins" : "wants", project,
			line->specifier, line->source);
		return true;
	}
	return false;
}

bool kept_versions_pin(const struct kept_versions *k, const char *project, const struct version *version,
	const char *platform, struct buf *why)
{
	const struct requirement *listed = requirements_find(&k->packages, project, version, platform);
	const struct requirement *pin = listed ? NULL : requirements_find(&k->pins, project, version, platform);
	if (listed)
		buf_printf(why, "it is on the list (%s)%s%s", listed->source, *listed->reason ? ": " : "",
			listed->reason);
	else if (pin)
		buf_printf(why, "%s pins %s%s", pin->source, pin->project, pin->specifier);
	return listed || pin || kept_versions_admit(&k->branches, project, version, platform, true, why);
}

// --- what pip takes ---

// The files of a project as one client sees them.
struct kept_sight {
	bool is_together; // all of them; otherwise those of one platform
	bool has_sdists;
	struct index_files files;
};

static void keep_version(struct kept_file *file, size_t files, const struct version *version, const char *kept_by)
{
	for (size_t i = 0; i < files; i++)
		if (!file[i].kept_by && version_cmp(file[i].version, version) == 0)
			file[i].kept_by = kept_by;
}

static void keep_what_pip_takes(struct kept_versions *k, struct kept_sight *s, const struct wanted_cell *cell,
	struct kept_file *file, size_t files, struct arena *text)
{
	struct resolve_outcome out[RESOLVE_OUTCOMES];
	const struct branch_want *w = cell->want;
	const struct resolve_want wanted = {w->specifier, w->micros, w->is_pinned, w->allows_pre, true};
	int64_t platform = s->is_together ? TOGETHER : k->wanted.fits.place[cell->place].platform->id;
	size_t count = resolve(&s->files, cell->place, platform, &wanted, out);
	CLEANUP(mem_free)
	char *why = xasprintf("branch %s wants %s%s (%s)", k->branches.branch[cell->branch].name, w->project,
		w->specifier, w->source);
	for (size_t i = 0; i < count; i++)
		if (out[i].kind != RESOLVE_NOTHING)
			keep_version(file, files, &s->files.file[out[i].release.first].version,
				arena_copy(text, str_from(why)));
}

void kept_versions_mark(struct kept_versions *k, const char *project, struct kept_file *file, size_t files,
	struct arena *text)
{
	CLEANUP(buf_release) struct buf why = buf_up_to(REASON_MAX);
	for (size_t i = 0; i < files; i++) {
		buf_clear(&why);
		const char *lock = kept_locks_find(&k->locks, file[i].file->sha256);
		file[i].kept_by = lock ? arena_printf(text, KEPT_LOCKS_WORDS, lock) : NULL;
		if (!lock && kept_versions_pin(k, project, file[i].version, file[i].platform->name, &why))
			file[i].kept_by = arena_copy(text, buf_view(&why));
	}
	size_t first = wanted_cells_first(&k->wanted, project);
	if (first == k->wanted.cells || strcmp(k->wanted.cell[first].want->project, project) != 0)
		return;
	fits_trim(&k->wanted.fits, KEPT_TEXTS);
	for (int way = 0; way < 4; way++) {
		struct kept_sight s = {.is_together = way & 1, .has_sdists = way & 2};
		index_files_init(&s.files, project, &k->wanted.fits);
		for (size_t i = 0; i < files; i++) {
			bool is_wheel = filename_kind(str_from(file[i].file->filename)) == FILENAME_WHEEL;
			if (!file[i].is_gone && (is_wheel || s.has_sdists))
				index_files_add_ours(&s.files, s.is_together ? TOGETHER : file[i].platform->id,
					file[i].file, true);
		}
		for (size_t i = first; i < k->wanted.cells && strcmp(k->wanted.cell[i].want->project, project) == 0; i++)
			if (k->wanted.cell[i].want->micros)
				keep_what_pip_takes(k, &s, &k->wanted.cell[i], file, files, text);
		index_files_release(&s.files);
	}
}
