// SPDX-License-Identifier: Apache-2.0
#include "promoter/promote-select.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/search.h"
#include "lib/domain/machine/platform.h"
#include "lib/domain/text/filename.h"
#include "lib/domain/text/specifier.h"

static int read_select_word(struct promote_word *w, struct err *e)
{
	const char *slash = strrchr(w->text, '/'), *base = slash ? slash + 1 : w->text, *equals = strstr(w->text, "==");
	if (filename_kind(str_from(base)) != FILENAME_OTHER) {
		w->filename = base;
		if (!slash)
			return 0;
		// PLATFORM/FILE or PLATFORM/…/FILE.
		const char *rest = strchr(w->text, '/') + 1;
		struct str platform = str_slice(str_from(w->text), 0, (size_t)(rest - w->text) - 1);
		if (!platform_name_is_valid(platform))
			return err_set(e, ERR_USAGE, "%s: a path begins with a platform: PLATFORM/FILE", w->text);
		w->platform = xstrndup(platform.ptr, platform.len);
		w->path = rest == w->filename ? NULL : rest;
		return 0;
	}
	if (project_select_read(w->text, equals ? (size_t)(equals - w->text) : strlen(w->text), &w->select))
		return 0;
	project_select_release(&w->select);
	return err_set(e, ERR_USAGE, "%s is not PROJECT, PROJECT==VERSION, or FILE or PLATFORM/FILE of a wheel or an sdist",
		w->text);
}

static int by_kind_and_name(const void *a, const void *b)
{
	const struct promote_word *x = a, *y = b;
	if (!x->filename != !y->filename)
		return x->filename ? -1 : 1;
	int order = x->filename ? strcmp(x->filename, y->filename) : strcmp(x->select.project, y->select.project);
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
		project_select_release(&s->word[i].select);
		free(s->word[i].platform);
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
	return strcmp(((const struct promote_word *)element)->select.project, key) < 0;
}

// How words mean a file.
struct meaning {
	bool is_meant;
	bool is_named; // by its name or its version, and not only by its project
};

// notes: the words that mean it are marked.
static struct meaning look_up(const struct promote_select *s, const struct promote_subject *f, bool notes)
{
	struct meaning m = {false, false};
	size_t i = lower_bound(f->filename, s->word, s->files, sizeof(*s->word), is_file_before);
	for (; i < s->files && strcmp(s->word[i].filename, f->filename) == 0; i++) {
		struct promote_word *w = &s->word[i];
		bool is_meant = !w->platform || (!w->is_elsewhere && strcmp(w->platform, f->platform) == 0);
		m.is_meant |= is_meant;
		m.is_named |= is_meant;
		w->is_matched |= is_meant && notes;
	}
	i = s->files + lower_bound(f->project, s->word + s->files, s->words - s->files, sizeof(*s->word),
			       is_project_before);
	if (i == s->words || strcmp(s->word[i].select.project, f->project) != 0)
		return m;
	CLEANUP(specifier_version_cleanup)
	struct specifier_version *version = f->version ? specifier_version_new(f->version) : NULL;
	for (; i < s->words && strcmp(s->word[i].select.project, f->project) == 0; i++) {
		struct promote_word *w = &s->word[i];
		bool is_meant = project_select_admits(&w->select, version);
		m.is_meant |= is_meant;
		m.is_named |= is_meant && w->select.specifier;
		w->is_matched |= is_meant && notes;
	}
	return m;
}

bool promote_select_matches(struct promote_select *s, const struct promote_subject *f)
{
	return look_up(s, f, true).is_meant || !s->words;
}

bool promote_select_names(const struct promote_select *s, const struct promote_subject *f)
{
	return s->words && look_up(s, f, false).is_named;
}

const struct promote_word *promote_select_unmatched(const struct promote_select *s)
{
	const struct promote_word *first = NULL;
	for (size_t i = 0; i < s->words; i++)
		if (!s->word[i].is_matched && (!first || s->word[i].number < first->number))
			first = &s->word[i];
	return first;
}
