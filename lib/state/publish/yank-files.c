// SPDX-License-Identifier: Apache-2.0
#include "lib/state/publish/yank-files.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/counted.h"
#include "lib/base/limits.h"
#include "lib/base/suggest.h"
#include "lib/domain/machine/platform.h"
#include "lib/domain/text/filename.h"
#include "lib/state/publish/file-select.h"
#include "lib/state/publish/marking.h"
#include "lib/state/publish/sidecar-ops.h"

const char *const yank_files_action[2] = {"yank", "unyank"};

// What one word means.
struct yank_word {
	const struct yank_request *request;
	struct catalog *catalog;
	struct yank_files *out;
	const struct platform *platform; // that is looked at
	bool is_found;
};

void yank_files_release(struct yank_files *f)
{
	for (size_t i = 0; i < f->files; i++) {
		free(f->file[i].project);
		free(f->file[i].name);
	}
	for (size_t i = 0; i < f->holds; i++)
		freeze_leave(&f->hold[i]);
	free(f->file);
	free(f->hold);
	*f = (struct yank_files){0};
}

// --- choosing ---

static int take_meant_file(void *ctx, const char *project, const char *filename, struct err *e)
{
	struct yank_word *w = ctx;
	const struct yank_request *r = w->request;
	struct yank_files *out = w->out;
	if (!r->sees(r->ctx, w->platform, project))
		return 0;
	w->is_found = true;
	if (!r->may(r->ctx, w->platform, project))
		return err_set(e, ERR_DENIED, "the token may not %s %s of %s on %s: nothing was done", yank_files_action[r->undo],
			filename, project, w->platform->name);
	if (out->files == LIMIT_YANK_FILES)
		return err_set(e, ERR_LIMIT, "more than %d files are selected: nothing was done", LIMIT_YANK_FILES);
	GROW(out->file, out->files, out->room);
	out->file[out->files++] = (struct yank_file){w->platform, xstrdup(project), xstrdup(filename)};
	return 0;
}

static bool is_meant_platform(const struct yank_request *r, const struct platform *p)
{
	return p->id && (!r->platform || strcmp(r->platform, p->name) == 0) && r->sees(r->ctx, p, NULL);
}

static int choose_selected(struct yank_word *w, const char *word, const struct store *s, struct err *e)
{
	CLEANUP(file_select_release) struct file_select select = {0};
	if (file_select_read(word, &select, e) < 0)
		return -1;
	for (size_t i = 0; i < s->platform_count; i++) {
		w->platform = &s->platform[i];
		if (is_meant_platform(w->request, w->platform) &&
			file_select_each(&select, w->platform, w->catalog, take_meant_file, w, e) < 0)
			return -1;
	}
	return 0;
}

// path: below the platform, NULL: anywhere.
static int choose_named(struct yank_word *w, const char *filename, const char *path, struct err *e)
{
	struct err why = ERR_INIT;
	CLEANUP(catalog_place_release) struct catalog_place place = {0};
	if (catalog_find_file(w->catalog, w->platform->id, filename, &place, &why) == 0)
		return path && strcmp(path, place.path) != 0 ? 0 : take_meant_file(w, place.project, filename, e);
	return err_unless_missing(e, &why);
}

// FILE, PLATFORM/FILE or PLATFORM/…/FILE.
static int choose_file(struct yank_word *w, const char *word, const struct store *s, struct err *e)
{
	const char *last = strrchr(word, '/'), *filename = last ? last + 1 : word, *rest = last ? strchr(word, '/') + 1 : NULL;
	struct str platform = {word, rest ? (size_t)(rest - word) - 1 : 0};
	if (filename_kind(str_from(filename)) == FILENAME_OTHER)
		return err_set(e, ERR_USAGE,
			"%s is not PROJECT==VERSION, a glob of files, or FILE or PLATFORM/FILE of a wheel or an sdist", word);
	if (rest && !platform_name_is_valid(platform))
		return err_set(e, ERR_USAGE, "%s: a path begins with a platform: PLATFORM/FILE", word);
	for (size_t i = 0; i < s->platform_count; i++) {
		w->platform = &s->platform[i];
		bool is_meant = !rest || str_eq(platform, str_from(w->platform->name));
		if (is_meant && is_meant_platform(w->request, w->platform) &&
			choose_named(w, filename, rest == filename ? NULL : rest, e) < 0)
			return -1;
	}
	return 0;
}

// Names none of which the sender may not know.
static int check_wanted_platform(const struct yank_request *r, const struct store *s, struct err *e)
{
	CLEANUP(name_choice_release) struct name_choice names;
	bool is_there = !r->platform;
	name_choice_init(&names, str_from(r->platform ? r->platform : ""));
	for (size_t i = 0; i < s->platform_count && !is_there; i++) {
		is_there = is_meant_platform(r, &s->platform[i]);
		if (r->sees(r->ctx, &s->platform[i], NULL))
			name_choice_add(&names, s->platform[i].name);
	}
	return is_there ? 0 : name_choice_refuse(&names, ERR_NOT_FOUND, "the store has no platform", e);
}

static int by_platform_and_name(const void *a, const void *b)
{
	const struct yank_file *x = a, *y = b;
	int order = strcmp(x->platform->name, y->platform->name);
	return order ? order : strcmp(x->name, y->name);
}

int yank_files_choose(const struct yank_request *r, const struct store *s, struct catalog *c, struct yank_files *out,
	struct err *e)
{
	if (check_wanted_platform(r, s, e) < 0)
		return -1;
	for (size_t i = 0; i < r->selects; i++) {
		const char *word = r->select[i];
		struct yank_word w = {.request = r, .catalog = c, .out = out};
		if ((file_select_is(word) ? choose_selected : choose_file)(&w, word, s, e) < 0)
			return -1;
		if (!w.is_found) {
			// As the commands say it.
			if (file_select_is(word))
				return err_set(e, ERR_NOT_FOUND, "no listed file is %s", word);
			if (r->platform)
				return err_set(e, ERR_NOT_FOUND, "platform %s has no file %s", r->platform, word);
			return err_set(e, ERR_NOT_FOUND, "no platform has a file %s", word);
		}
	}
	// Several words may mean one file.
	size_t kept = 0;
	if (out->files)
		qsort(out->file, out->files, sizeof(*out->file), by_platform_and_name);
	for (size_t i = 0; i < out->files; i++) {
		if (kept && by_platform_and_name(&out->file[kept - 1], &out->file[i]) == 0) {
			free(out->file[i].project);
			free(out->file[i].name);
		} else {
			out->file[kept++] = out->file[i];
		}
	}
	out->files = kept;
	return 0;
}

// --- checking ---

// No freeze of the platform returns from now on.
static int hold_platform(struct yank_files *f, const struct platform *p, struct err *e)
{
	return marking_check_volume(p, e) < 0 ? -1 : freeze_enter(p, false, &f->hold[f->holds++], e);
}

int yank_files_check(struct yank_files *f, struct catalog *c, struct err *e)
{
	f->hold = xcalloc(f->files + 1, sizeof(*f->hold));
	for (size_t i = 0; i < f->files; i++) {
		const struct yank_file *one = &f->file[i];
		if ((!i || one->platform != f->file[i - 1].platform) && hold_platform(f, one->platform, e) < 0)
			return -1;
		if (sidecar_ops_check(one->platform, c, one->name, e) < 0)
			return -1;
	}
	return 0;
}

// --- marking ---

struct yank_mark {
	const struct yank_request *request;
	const char *name;
};

static int mark_yanked(void *ctx, const struct platform *p, struct catalog *c, struct err *e)
{
	const struct yank_mark *m = ctx;
	return m->request->undo ? sidecar_ops_unyank(p, c, m->name, e)
				: sidecar_ops_yank(p, c, m->name, m->request->reason, e);
}

int yank_files_mark(const struct yank_request *r, const struct yank_files *f, struct catalog *c, struct audit *audit,
	struct err *e)
{
	for (size_t i = 0; i < f->files; i++) {
		struct yank_mark one = {r, f->file[i].name};
		const struct marking m = {.action = yank_files_action[r->undo],
			.reason = r->reason,
			.who = r->who,
			.peer = r->peer,
			.mark = mark_yanked,
			.ctx = &one};
		if (marking_file(&m, one.name, f->file[i].platform, c, audit, e) < 0)
			return err_prefix(e, "%zu of %s done, and then not %s on %s: ", i,
				COUNTED(f->files, "file was|files were"), one.name, f->file[i].platform->name);
	}
	return 0;
}
