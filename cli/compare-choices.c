// SPDX-License-Identifier: Apache-2.0
#include "cli/compare-choices.h"

#include <stdlib.h>
#include <string.h>

#include "lib/domain/index/simplepage.h"
#include "lib/state/upstream/upstream-download.h"

enum { PRINTED = 50 };

struct choice_list {
	const struct compare_pick *pick;
	const struct pick_place *place;
	const struct platform *platform; // of the files that are added; NULL: they are upstream's
	struct version version;          // of the release
	struct pick_choices *out;
};

void pick_choices_release(struct pick_choices *c)
{
	for (size_t i = 0; i < c->count; i++) {
		free(c->item[i].filename);
		free(c->item[i].requires_python);
	}
	free(c->item);
	*c = (struct pick_choices){0};
}

bool pick_choices_are_same(const struct pick_choices *c)
{
	for (size_t i = 1; i < c->count; i++)
		if (!c->item[i].has_sha256 || strcmp(c->item[i].filename, c->item[0].filename) != 0 ||
			memcmp(c->item[i].sha256, c->item[0].sha256, SHA256_SIZE) != 0)
			return false;
	return true;
}

void pick_choices_print(const struct pick_choices *c, FILE *out)
{
	for (size_t i = 0; i < c->count && i < PRINTED; i++)
		fprintf(out, "  %s%s%s\n", c->item[i].platform ? c->item[i].platform->name : "upstream",
			c->item[i].platform ? "/" : ":", c->item[i].filename);
	if (c->count > PRINTED)
		fprintf(out, "  and %zu more\n", c->count - PRINTED);
}

// --- whether a wheel is for the chosen platform and Python ---

static bool is_of_python(const struct environment *env, const char *python)
{
	CLEANUP(buf_release) struct buf name;
	buf_init(&name, 64);
	python_print(&env->python, &name);
	return !python || strcmp(name.data, python) == 0;
}

static bool fits_platform(const struct platform *p, const struct filename *name, const char *python)
{
	struct err ignored = ERR_INIT;
	long best = -1;
	for (size_t i = 0; i < p->profile.environment_count; i++)
		if (is_of_python(&p->profile.environment[i], python) &&
			environment_best(&p->profile.environment[i], name, &best, &ignored) == 0 && best >= 0)
			return true;
	return false;
}

// Judges by the Python tags alone: "cp311", "py3" or "py311", and for the stable ABI also "cp3…" of an older version.
static bool fits_tags(const struct filename *name, const char *text)
{
	struct err ignored = ERR_INIT;
	struct python python;
	if (python_parse(str_from(text), &python, &ignored) < 0)
		return false;
	CLEANUP(mem_free) char *tag = xasprintf("%s%u%u", python.is_pypy ? "pp" : "cp", python.major, python.minor);
	CLEANUP(mem_free) char *pure = xasprintf("py%u", python.major);
	CLEANUP(mem_free) char *exact = xasprintf("py%u%u", python.major, python.minor);
	bool is_stable = str_starts(name->abi, STR("abi3"));
	for (struct str rest = name->python; rest.ptr;) {
		struct str one = str_cut(&rest, '.');
		if (str_eq(one, str_from(tag)) || str_eq(one, str_from(pure)) || str_eq(one, str_from(exact)) ||
			(is_stable && str_starts(one, STR("cp3"))))
			return true;
	}
	return false;
}

static bool is_chosen_platform(const struct choice_list *l, const struct platform *p)
{
	return store_is_wanted(l->place->platform, l->place->platforms, p->name);
}

static bool is_chosen_somewhere(const struct choice_list *l, const struct filename *name)
{
	const struct store *s = l->place->store;
	for (size_t i = 0; s && i < s->platform_count; i++)
		if (is_chosen_platform(l, &s->platform[i]) && fits_platform(&s->platform[i], name, l->place->python))
			return true;
	return false;
}

static bool is_chosen(const struct choice_list *l, const struct filename *name)
{
	const char *python = l->place->python;
	if (!l->platform && l->place->platforms)
		return is_chosen_somewhere(l, name);
	if (!python)
		return true;
	if (l->platform && l->platform->profile.environment_count)
		return fits_platform(l->platform, name, python);
	return fits_tags(name, python);
}

// --- the files ---

static bool is_of_pick(const struct choice_list *l, const char *filename)
{
	struct err ignored = ERR_INIT;
	CLEANUP(filename_release) struct filename name = {0};
	if (filename_parse(str_from(filename), &name, &ignored) < 0 || name.kind != FILENAME_WHEEL)
		return false;
	if (l->pick->kind != PICK_RELEASE)
		return strcmp(filename, l->pick->filename) == 0;
	return version_cmp(&name.version, &l->version) == 0 && is_chosen(l, &name);
}

static void add_choice(struct choice_list *l, const char *filename, const char *requires_python, bool is_yanked,
	const uint8_t *sha256)
{
	struct pick_choices *out = l->out;
	GROW(out->item, out->count, out->room);
	struct pick_choice *c = &out->item[out->count++];
	*c = (struct pick_choice){.platform = l->platform,
		.filename = xstrdup(filename),
		.requires_python = requires_python ? xstrdup(requires_python) : NULL,
		.is_yanked = is_yanked,
		.has_sha256 = sha256 != NULL};
	if (sha256)
		memcpy(c->sha256, sha256, SHA256_SIZE);
}

static int take_stored(void *ctx, const struct catalog_file *file, struct err *e)
{
	(void)e;
	struct choice_list *l = ctx;
	if (is_of_pick(l, file->filename))
		add_choice(l, file->filename, file->requires_python, file->yanked != NULL, file->sha256);
	return 0;
}

static int list_stored(struct choice_list *l, const char *project, struct err *e)
{
	const struct store *s = l->place->store;
	for (size_t i = 0; i < s->platform_count; i++) {
		l->platform = &s->platform[i];
		if (is_chosen_platform(l, l->platform) && l->platform->id &&
			catalog_project_files(l->place->catalog, l->platform->id, project, take_stored, l, e) < 0)
			return -1;
	}
	return 0;
}

static int take_page(void *ctx, const struct upstream_answer *answer, struct err *e)
{
	struct choice_list *l = ctx;
	if (!answer->page)
		return err_set(e,
			answer->result == UPSTREAM_NOT_FOUND || answer->result == UPSTREAM_ABSENT ? ERR_NOT_FOUND
												  : ERR_NET,
			"upstream: %s: %s", upstream_result_name[answer->result], answer->why);
	for (size_t i = 0; i < answer->page->files; i++) {
		const struct simplepage_file *f = &answer->page->file[i];
		if (is_of_pick(l, f->filename))
			add_choice(l, f->filename, f->requires_python, f->yanked != NULL,
				f->has_sha256 ? f->sha256 : NULL);
	}
	return 0;
}

static int list_project(struct choice_list *l, const char *project, struct err *e)
{
	if (l->pick->is_upstream)
		return upstream_ask(l->place->upstream, l->place->catalog, project, take_page, l, e);
	return list_stored(l, project, e);
}

int pick_choices_list(const struct compare_pick *p, const struct pick_place *place, struct pick_choices *out,
	struct err *e)
{
	struct choice_list l = {.pick = p, .place = place, .out = out};
	CLEANUP(filename_release) struct filename name = {0};
	if (p->kind != PICK_RELEASE)
		return filename_parse(str_from(p->filename), &name, e) < 0 ? -1 : list_project(&l, name.project, e);
	if (version_parse(str_from(p->version), &l.version, e) < 0)
		return -1;
	int result = list_project(&l, p->project, e);
	version_release(&l.version);
	return result;
}
