// SPDX-License-Identifier: Apache-2.0
#include "auditor/compare/release-compare.h"

#include <stdlib.h>
#include <string.h>

#include "auditor/compare/diff-rows.h"
#include "lib/base/counted.h"
#include "lib/install/resolve.h"

const char *const release_state_name[RELEASE_STATE_COUNT] = {"lost", "won", "kept"};

void release_compare_begin(struct release_compare *r, const char *a, const char *b)
{
	*r = (struct release_compare){.label = {a, b}};
}

void release_compare_release(struct release_compare *r)
{
	arena_release(&r->text);
	*r = (struct release_compare){0};
}

static void add_cell(struct release_compare *r, const char *platform, const char *python, const char *a, const char *b)
{
	if (!a && !b)
		return;
	enum release_state state = !b ? RELEASE_LOST : !a ? RELEASE_WON : RELEASE_KEPT;
	ARENA_GROW(&r->text, r->cell, r->cells, r->room);
	r->cell[r->cells++] = (struct release_cell){arena_strdup(&r->text, platform), arena_strdup(&r->text, python),
		state, arena_strdup(&r->text, a), arena_strdup(&r->text, b)};
	r->count[state]++;
}

// --- by the Pythons of the platform ---

// The wheels of one release. False: there is none, or its name is none.
static bool list_files(const struct release_files *files, struct fits *fits, struct filename *name,
	struct index_files *out)
{
	struct err ignored = ERR_INIT;
	if (!files->count || filename_parse(str_from(files->file[0].filename), name, &ignored) < 0)
		return false;
	index_files_init(out, name->project, fits);
	for (size_t i = 0; i < files->count; i++) {
		const struct release_file *from = &files->file[i];
		const struct index_file file = {.filename = from->filename, .is_yanked = from->is_yanked, .sources = 1};
		index_files_add(out, &file, from->requires_python);
	}
	return true;
}

static void add_environments(struct release_compare *r, const char *platform, const struct profile *profile,
	const struct release_files files[2])
{
	CLEANUP(fits_release) struct fits fits = {0};
	struct filename name[2] = {{0}};
	struct index_files list[2] = {{0}};
	char *requested[2];
	for (size_t i = 0; i < profile->environment_count; i++)
		fits_add(&fits, NULL, &profile->machine, &profile->environment[i]);
	for (int side = 0; side < 2; side++)
		requested[side] = list_files(&files[side], &fits, &name[side], &list[side])
					  ? xasprintf("==%s", name[side].version.text)
					  : NULL;
	for (size_t i = 0; i < fits.places; i++) {
		const char *chosen[2] = {NULL};
		for (int side = 0; side < 2; side++) {
			uint64_t micros;
			const struct index_file *f =
				requested[side] ? resolve_file(&list[side], i, 1, requested[side], &micros) : NULL;
			chosen[side] = f && f->is_wheel ? f->filename : NULL;
		}
		add_cell(r, platform, fits.place[i].python, chosen[0], chosen[1]);
	}
	for (int side = 0; side < 2; side++) {
		index_files_release(&list[side]);
		filename_release(&name[side]);
		free(requested[side]);
	}
}

// --- by the tags of the wheels ---

// A tag of a wheel.
struct tag_entry {
	const char *platform, *python, *filename;
};

// The tags of a release's wheels. Texts are in the arena.
struct tag_entries {
	struct tag_entry *item;
	size_t count, room;
	struct pairing_list list;
};

static void add_pythons(struct tag_entries *t, struct arena *text, const char *platform, struct str pythons,
	const char *filename)
{
	while (pythons.ptr) {
		const char *python = arena_copy(text, str_cut(&pythons, '.'));
		ARENA_GROW(text, t->item, t->count, t->room);
		pairing_add(&t->list, arena_printf(text, "%s %s", platform, python), t->count);
		t->item[t->count++] = (struct tag_entry){platform, python, filename};
	}
}

// platform NULL: the platform tags of the wheel.
static void list_tags_of(struct tag_entries *t, struct arena *text, const char *platform, const char *filename)
{
	struct err ignored = ERR_INIT;
	CLEANUP(filename_release) struct filename name = {0};
	if (filename_parse(str_from(filename), &name, &ignored) < 0)
		return;
	struct str rest = platform ? str_from(platform) : name.platform;
	while (rest.ptr) {
		struct str one = platform ? rest : str_cut(&rest, '.');
		add_pythons(t, text, arena_copy(text, one), name.python, filename);
		if (platform)
			return;
	}
}

static void list_tags(struct tag_entries *t, struct arena *text, const char *platform,
	const struct release_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		list_tags_of(t, text, platform, files->file[i].filename);
	pairing_unique(&t->list);
}

struct tag_pairs {
	struct release_compare *out;
	struct tag_entries side[2];
};

static void add_tag_pair(void *ctx, size_t a, size_t b)
{
	struct tag_pairs *p = ctx;
	const struct tag_entry *one = &p->side[0].item[a], *other = &p->side[1].item[b];
	add_cell(p->out, one->platform, one->python, one->filename, other->filename);
}

static int compare_cells(const void *a, const void *b)
{
	const struct release_cell *left = a, *right = b;
	int order = strcmp(left->platform, right->platform);
	return order ? order : strcmp(left->python, right->python);
}

static void add_tags(struct release_compare *r, const char *platform, const struct release_files files[2])
{
	CLEANUP(arena_release) struct arena text = {0};
	struct tag_pairs p = {.out = r, .side = {{.list.in = &text}, {.list.in = &text}}};
	size_t first = r->cells;
	for (int i = 0; i < 2; i++)
		list_tags(&p.side[i], &text, platform, &files[i]);
	pairing_take(&p.side[0].list, &p.side[1].list, add_tag_pair, &p);
	for (int i = 0; i < 2; i++)
		for (size_t k = 0; k < p.side[i].list.count; k++) {
			const struct tag_entry *t = &p.side[i].item[p.side[i].list.item[k].at];
			add_cell(r, t->platform, t->python, i ? NULL : t->filename, i ? t->filename : NULL);
		}
	if (r->cells > first)
		qsort(r->cell + first, r->cells - first, sizeof(*r->cell), compare_cells);
}

void release_compare_platform(struct release_compare *r, const char *platform, const struct profile *profile,
	const struct release_files files[2])
{
	for (size_t i = 0; i < 2; i++)
		r->files[i] += files[i].count;
	if (profile && profile->environment_count)
		add_environments(r, platform, profile, files);
	else
		add_tags(r, platform, files);
}

// --- forms ---

static struct jsondoc *release_json(const struct release_compare *r, size_t side)
{
	struct jsondoc *o = jsondoc_object();
	jsondoc_put_str(o, "name", r->label[side]);
	jsondoc_put_int(o, "wheels", (int64_t)r->files[side]);
	return o;
}

struct jsondoc *release_compare_json(const struct release_compare *r)
{
	struct jsondoc *o = jsondoc_object(), *cells = jsondoc_array();
	jsondoc_put(o, "a", release_json(r, 0));
	jsondoc_put(o, "b", release_json(r, 1));
	for (int i = 0; i < RELEASE_STATE_COUNT; i++)
		jsondoc_put_int(o, release_state_name[i], (int64_t)r->count[i]);
	for (size_t i = 0; i < r->cells; i++) {
		struct jsondoc *cell = jsondoc_object();
		jsondoc_put_str(cell, "platform", r->cell[i].platform);
		jsondoc_put_str(cell, "python", r->cell[i].python);
		jsondoc_put_str(cell, "state", release_state_name[r->cell[i].state]);
		jsondoc_put_str(cell, "a", r->cell[i].a);
		jsondoc_put_str(cell, "b", r->cell[i].b);
		jsondoc_add(cells, cell);
	}
	jsondoc_put(o, "cells", cells);
	return o;
}

void release_compare_sheet(const struct release_compare *r, struct report_sheet *out)
{
	static const char *const head[] = {"platform", "Python", "", "A", "B"};
	CLEANUP(mem_free) char *names = xasprintf("%s and %s", r->label[0], r->label[1]);
	CLEANUP(mem_free)
	char *words = xasprintf("%zu lost, %zu won, %zu kept", r->count[RELEASE_LOST], r->count[RELEASE_WON],
		r->count[RELEASE_KEPT]);
	report_sheet_begin(out, words, names);
	report_sheet_part(out, "Platforms and Pythons", head, ARRAY_SIZE(head));
	for (size_t i = 0; i < r->cells; i++) {
		const struct release_cell *c = &r->cell[i];
		const char *const cell[] = {
			c->platform, c->python, release_state_name[c->state], c->a ? c->a : "–", c->b ? c->b : "–"};
		if (c->state != RELEASE_KEPT)
			report_sheet_row(out, cell, c->state == RELEASE_LOST);
	}
	report_sheet_note(out, "%zu kept. A has %s, B %zu.", r->count[RELEASE_KEPT],
		COUNTED(r->files[0], "wheel|wheels"), r->files[1]);
}
