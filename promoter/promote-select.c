// SPDX-License-Identifier: Apache-2.0
#include "promoter/promote-select.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/buf.h"
#include "lib/base/limits.h"
#include "lib/base/search.h"
#include "lib/domain/machine/platform.h"
#include "lib/domain/text/filename.h"
#include "lib/domain/text/name.h"
#include "lib/domain/text/specifier.h"

// "PROJECT" or "PROJECT==VERSION".
static int read_project_word(struct promote_word *w, struct err *e)
{
	struct str text = str_from(w->text);
	const char *equals = strstr(w->text, "==");
	struct str name = equals ? str_trim(str_slice(text, 0, (size_t)(equals - w->text))) : text;
	if (!name_is_valid(name) || name.len > LIMIT_FILE_NAME || (equals && !specifier_set_is_valid(str_from(equals))))
		return err_set(e, ERR_USAGE,
			"%s is not PROJECT, PROJECT==VERSION, or FILE or PLATFORM/FILE of a wheel or an sdist",
			w->text);
	CLEANUP(buf_release) struct buf normal;
	buf_init(&normal, LIMIT_FILE_NAME);
	name_normalize(name, &normal);
	w->project = buf_steal(&normal);
	w->specifier = equals ? specifier_set_new(str_from(equals)) : NULL;
	return 0;
}

// PLATFORM/FILE or PLATFORM/…/FILE.
static int read_path_word(struct promote_word *w, struct err *e)
{
	const char *rest = strchr(w->text, '/') + 1;
	struct str platform = str_slice(str_from(w->text), 0, (size_t)(rest - w->text) - 1);
	if (!platform_name_is_valid(platform))
		return err_set(e, ERR_USAGE, "%s: a path begins with a platform: PLATFORM/FILE", w->text);
	w->platform = xstrndup(platform.ptr, platform.len);
	w->path = rest == w->filename ? NULL : rest;
	return 0;
}

static int read_select_word(struct promote_word *w, struct err *e)
{
	const char *slash = strrchr(w->text, '/'), *base = slash ? slash + 1 : w->text;
	if (filename_kind(str_from(base)) == FILENAME_OTHER)
		return read_project_word(w, e);
	w->filename = base;
	return slash ? read_path_word(w, e) : 0;
}

static int by_kind_and_name(const void *a, const void *b)
{
	const struct promote_word *x = a, *y = b;
	if (!x->filename != !y->filename)
		return x->filename ? -1 : 1;
	int order = x->filename ? strcmp(x->filename, y->filename) : strcmp(x->project, y->project);
	return order ? order : (x->number > y->number) - (x->number < y->number);
}

int promote_select_read(const char *const *text, size_t count, struct promote_select *out, struct err *e)
{
	*out = (struct promote_select){.word = xcalloc(count + 1, sizeof(*out->word))};
	for (; out->words < count; out->words++) {
		struct promote_word *w = &out->word[out->words];
		*w = (struct promote_word){.text = text[out->words], .number = out->words};
		if (read_select_word(w, e) < 0) {
			promote_select_release(out);
			return -1;
		}
		out->files += w->filename != NULL;
	}
	qsort(out->word, out->words, sizeof(*out->word), by_kind_and_name);
	return 0;
}

void promote_select_release(struct promote_select *s)
{
	for (size_t i = 0; i < s->words; i++) {
		free(s->word[i].project);
		free(s->word[i].platform);
		specifier_set_free(s->word[i].specifier);
	}
	free(s->word);
	*s = (struct promote_select){0};
}

static bool is_file_before(const void *element, const void *key)
{
	return strcmp(((const struct promote_word *)element)->filename, key) < 0;
}

static bool is_project_before(const void *element, const void *key)
{
	return strcmp(((const struct promote_word *)element)->project, key) < 0;
}

static size_t first_file_word(const struct promote_select *s, const char *filename)
{
	return lower_bound(filename, s->word, s->files, sizeof(*s->word), is_file_before);
}

static size_t first_project_word(const struct promote_select *s, const char *project)
{
	return s->files +
	       lower_bound(project, s->word + s->files, s->words - s->files, sizeof(*s->word), is_project_before);
}

// A word with the name of the file.
static bool admits_place(const struct promote_word *w, const struct promote_subject *f)
{
	return !w->platform || (!w->is_elsewhere && strcmp(w->platform, f->platform) == 0);
}

static bool match_files(struct promote_select *s, const struct promote_subject *f)
{
	bool is_found = false;
	for (size_t i = first_file_word(s, f->filename);
		i < s->files && strcmp(s->word[i].filename, f->filename) == 0; i++) {
		bool is_meant = admits_place(&s->word[i], f);
		s->word[i].is_matched |= is_meant;
		is_found |= is_meant;
	}
	return is_found;
}

static bool names_file(const struct promote_select *s, const struct promote_subject *f)
{
	for (size_t i = first_file_word(s, f->filename);
		i < s->files && strcmp(s->word[i].filename, f->filename) == 0; i++)
		if (admits_place(&s->word[i], f))
			return true;
	return false;
}

static bool admits_version(const struct promote_word *w, const struct specifier_version *version)
{
	return !w->specifier || (version && specifier_set_contains(w->specifier, version));
}

static bool match_projects(struct promote_select *s, const char *project, const char *version)
{
	bool is_found = false;
	size_t i = first_project_word(s, project);
	if (i == s->words || strcmp(s->word[i].project, project) != 0)
		return false;
	CLEANUP(specifier_version_cleanup)
	struct specifier_version *parsed = version ? specifier_version_new(version) : NULL;
	for (; i < s->words && strcmp(s->word[i].project, project) == 0; i++) {
		bool is_meant = admits_version(&s->word[i], parsed);
		s->word[i].is_matched |= is_meant;
		is_found |= is_meant;
	}
	return is_found;
}

bool promote_select_matches(struct promote_select *s, const struct promote_subject *f)
{
	bool is_file = match_files(s, f), is_project = match_projects(s, f->project, f->version);
	return !s->words || is_file || is_project;
}

bool promote_select_names(const struct promote_select *s, const struct promote_subject *f)
{
	if (names_file(s, f))
		return true;
	size_t i = first_project_word(s, f->project);
	if (i == s->words || strcmp(s->word[i].project, f->project) != 0)
		return false;
	CLEANUP(specifier_version_cleanup)
	struct specifier_version *parsed = f->version ? specifier_version_new(f->version) : NULL;
	for (; i < s->words && strcmp(s->word[i].project, f->project) == 0; i++)
		if (s->word[i].specifier && admits_version(&s->word[i], parsed))
			return true;
	return false;
}

const struct promote_word *promote_select_unmatched(const struct promote_select *s)
{
	const struct promote_word *first = NULL;
	for (size_t i = 0; i < s->words; i++)
		if (!s->word[i].is_matched && (!first || s->word[i].number < first->number))
			first = &s->word[i];
	return first;
}
