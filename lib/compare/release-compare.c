// SPDX-License-Identifier: Apache-2.0
#include "lib/compare/release-compare.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/strset.h"
#include "lib/domain/index/finder.h"

const char *const release_state_name[RELEASE_STATE_COUNT] = {"lost", "won", "kept"};

void release_compare_begin(struct release_compare *r, const char *a, const char *b)
{
	*r = (struct release_compare){.label = {a, b}};
}

void release_compare_release(struct release_compare *r)
{
	free(r->cell);
	arena_release(&r->text);
	*r = (struct release_compare){0};
}

static const char *keep_text(struct release_compare *r, const char *text)
{
	return text ? arena_copy(&r->text, str_from(text)) : NULL;
}

static void add_cell(struct release_compare *r, const char *platform, const char *python, const char *a, const char *b)
{
	if (!a && !b)
		return;
	enum release_state state = !b ? RELEASE_LOST : !a ? RELEASE_WON : RELEASE_KEPT;
	GROW(r->cell, r->cells, r->room);
	r->cell[r->cells++] = (struct release_cell){
		keep_text(r, platform), keep_text(r, python), state, keep_text(r, a), keep_text(r, b)};
	r->count[state]++;
}

// --- by the Pythons of the platform ---

static struct finder *make_finder(const struct release_files *files)
{
	struct err ignored = ERR_INIT;
	struct finder *f = NULL;
	CLEANUP(filename_release) struct filename name = {0};
	if (!files->count || filename_parse(str_from(files->file[0].filename), &name, &ignored) < 0 ||
		finder_new(name.version.text, &f, &ignored) < 0)
		return NULL;
	for (size_t i = 0; i < files->count; i++) {
		const struct release_file *from = &files->file[i];
		const struct finder_file file = {.filename = from->filename,
			.requires_python = from->requires_python,
			.is_yanked = from->is_yanked,
			.sources = 1};
		finder_add(f, name.project, &file);
	}
	return f;
}

static const char *choose_wheel(struct finder *f, const struct environment *env)
{
	struct finder_choice choice = {0};
	if (f)
		finder_choose(f, env, 1, &choice);
	return choice.file && choice.is_wheel ? choice.file->filename : NULL;
}

static void add_environments(struct release_compare *r, const char *platform, const struct profile *profile,
	const struct release_files files[2])
{
	CLEANUP(finder_cleanup) struct finder *a = make_finder(&files[0]);
	CLEANUP(finder_cleanup) struct finder *b = make_finder(&files[1]);
	for (size_t i = 0; i < profile->environment_count; i++) {
		const struct environment *env = &profile->environment[i];
		CLEANUP(buf_release) struct buf python;
		buf_init(&python, 64);
		python_print(&env->python, &python);
		add_cell(r, platform, python.data, choose_wheel(a, env), choose_wheel(b, env));
	}
}

// --- by the tags of the wheels ---

static void list_python_tags(const struct release_files *files, struct strset *out)
{
	for (size_t i = 0; i < files->count; i++) {
		struct err ignored = ERR_INIT;
		CLEANUP(filename_release) struct filename name = {0};
		if (filename_parse(str_from(files->file[i].filename), &name, &ignored) < 0)
			continue;
		for (struct str rest = name.python; rest.ptr;) {
			struct str tag = str_cut(&rest, '.');
			CLEANUP(mem_free) char *text = xstrndup(tag.ptr, tag.len);
			strset_add(out, text);
		}
	}
}

static bool has_python_tag(const char *filename, const char *tag)
{
	struct err ignored = ERR_INIT;
	CLEANUP(filename_release) struct filename name = {0};
	if (filename_parse(str_from(filename), &name, &ignored) < 0)
		return false;
	for (struct str rest = name.python; rest.ptr;)
		if (str_eq(str_cut(&rest, '.'), str_from(tag)))
			return true;
	return false;
}

static const char *find_tag(const struct release_files *files, const char *tag)
{
	for (size_t i = 0; i < files->count; i++)
		if (has_python_tag(files->file[i].filename, tag))
			return files->file[i].filename;
	return NULL;
}

static void add_tags(struct release_compare *r, const char *platform, const struct release_files files[2])
{
	struct strset tags = {0};
	list_python_tags(&files[0], &tags);
	list_python_tags(&files[1], &tags);
	strset_sort(&tags);
	for (size_t i = 0; i < tags.count; i++)
		add_cell(r, platform, tags.item[i], find_tag(&files[0], tags.item[i]),
			find_tag(&files[1], tags.item[i]));
	strset_release(&tags);
}

void release_compare_platform(struct release_compare *r, const char *platform, const struct profile *profile,
	const struct release_files files[2])
{
	for (size_t i = 0; i < 2; i++)
		r->files[i] += files[i].count;
	if (profile->environment_count)
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
	CLEANUP(mem_free) char *title = xasprintf("%s and %s", r->label[0], r->label[1]);
	CLEANUP(mem_free)
	char *words = xasprintf("%zu lost, %zu won, %zu kept", r->count[RELEASE_LOST], r->count[RELEASE_WON],
		r->count[RELEASE_KEPT]);
	report_sheet_begin(out, title, words);
	report_sheet_part(out, "Platforms and Pythons", head, ARRAY_SIZE(head));
	for (size_t i = 0; i < r->cells; i++) {
		const struct release_cell *c = &r->cell[i];
		const char *const cell[] = {
			c->platform, c->python, release_state_name[c->state], c->a ? c->a : "–", c->b ? c->b : "–"};
		if (c->state != RELEASE_KEPT)
			report_sheet_row(out, cell, c->state == RELEASE_LOST);
	}
	report_sheet_note(out, "%zu kept. A has %zu wheels, B %zu.", r->count[RELEASE_KEPT], r->files[0], r->files[1]);
}
