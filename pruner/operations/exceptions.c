// SPDX-License-Identifier: Apache-2.0
#include "pruner/operations/exceptions.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/buf.h"
#include "lib/base/limits.h"
#include "lib/base/mem.h"
#include "lib/base/str.h"
#include "lib/os/fs.h"
#include "pruner/plan/planfile.h"

static int add_word(struct exceptions *x, struct str word, struct err *e)
{
	CLEANUP(mem_free) char *text = xstrndup(word.ptr, word.len);
	if (!word.len)
		return err_set(e, ERR_USAGE, "--except: expected the name of a file, or a glob of names");
	if (!strpbrk(text, "*?[")) {
		GROW(x->name, x->names, x->name_room);
		x->name[x->names++] = (struct exception){.word = STEAL_PTR(text)};
		return 0;
	}
	if (x->globs == LIMIT_EXCEPTION_GLOBS)
		return err_set(e, ERR_USAGE, "--except: more than %d globs", LIMIT_EXCEPTION_GLOBS);
	GROW(x->glob, x->globs, x->glob_room);
	x->glob[x->globs++] = (struct exception){.word = STEAL_PTR(text)};
	return 0;
}

static int add_file(struct exceptions *x, const char *path, struct err *e)
{
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, LIMIT_EXCEPTIONS);
	if (fs_read_file(path, &text, e) < 0)
		return -1;
	struct str rest = buf_view(&text);
	while (rest.len) {
		struct str line = str_trim(str_cut(&rest, '\n'));
		if (line.len && line.ptr[0] != '#' && add_word(x, line, e) < 0)
			return -1;
	}
	return 0;
}

int exceptions_add(struct exceptions *x, const char *word, struct err *e)
{
	return *word == '@' ? add_file(x, word + 1, e) : add_word(x, str_from(word), e);
}

static int compare_exceptions(const void *a, const void *b)
{
	return strcmp(((const struct exception *)a)->word, ((const struct exception *)b)->word);
}

void exceptions_sort(struct exceptions *x)
{
	if (x->names)
		qsort(x->name, x->names, sizeof(*x->name), compare_exceptions);
}

// A word may be there twice: both are used.
static bool take_exact(struct exceptions *x, char *name)
{
	const struct exception wanted = {.word = name};
	struct exception *found =
		x->names ? bsearch(&wanted, x->name, x->names, sizeof(*x->name), compare_exceptions) : NULL;
	if (!found)
		return false;
	while (found > x->name && strcmp(found[-1].word, name) == 0)
		found--;
	for (; found < x->name + x->names && strcmp(found->word, name) == 0; found++)
		found->is_used = true;
	return true;
}

static bool take_glob(struct exceptions *x, const char *name)
{
	bool is_taken = false;
	for (size_t i = 0; i < x->globs; i++) {
		if (fnmatch(x->glob[i].word, name, 0) != 0 && strcmp(x->glob[i].word, name) != 0)
			continue;
		is_taken = x->glob[i].is_used = true;
	}
	return is_taken;
}

bool exceptions_take(struct exceptions *x, const struct planfile_entry *file)
{
	if (!x->names && !x->globs)
		return false;
	CLEANUP(mem_free) char *alone = xstrdup(file->filename);
	CLEANUP(mem_free) char *name = xasprintf("%s/%s", file->platform, file->filename);
	CLEANUP(mem_free) char *path = xasprintf("%s/%s", file->platform, file->path);
	char *const spelling[] = {alone, name, path};
	bool is_taken = false;
	for (size_t i = 0; i < ARRAY_SIZE(spelling); i++) {
		bool is_named = take_exact(x, spelling[i]), is_matched = take_glob(x, spelling[i]);
		is_taken |= is_named || is_matched;
	}
	return is_taken;
}

const char *exceptions_unused(const struct exceptions *x)
{
	for (size_t i = 0; i < x->names; i++)
		if (!x->name[i].is_used)
			return x->name[i].word;
	for (size_t i = 0; i < x->globs; i++)
		if (!x->glob[i].is_used)
			return x->glob[i].word;
	return NULL;
}

void exceptions_release(struct exceptions *x)
{
	for (size_t i = 0; i < x->names; i++)
		free(x->name[i].word);
	for (size_t i = 0; i < x->globs; i++)
		free(x->glob[i].word);
	free(x->name);
	free(x->glob);
	*x = (struct exceptions){0};
}
