// SPDX-License-Identifier: Apache-2.0
#include "cli/evidence/test-runs.h"

#include <stdlib.h>
#include <string.h>

static const char *const word_name[TEST_RUNS_WORDS] = {"kind", "platform", "python"};
static const char *const word_value[TEST_RUNS_WORDS] = {"KIND", "NAME", "V"};

void test_runs_release(struct test_runs *t)
{
	free(t->junit.item);
	free(t->wheel.item);
	free(t->list.item);
}

static void add_run_file(struct test_runs_files *files, const struct test_runs *t, const char *path)
{
	GROW(files->item, files->count, files->room);
	struct test_runs_file *f = &files->item[files->count++];
	f->path = path;
	memcpy(f->word, t->word, sizeof(f->word));
}

bool test_runs_take(struct test_runs *t, const char *name, const char *value)
{
	const struct {
		const char *name;
		struct test_runs_files *files;
	} lists[] = {{"junit", &t->junit}, {"wheels", &t->wheel}, {"wheels-from", &t->list}};
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		if (strcmp(name, lists[i].name) == 0) {
			add_run_file(lists[i].files, t, value);
			return true;
		}
	for (int i = 0; i < TEST_RUNS_WORDS; i++) {
		if (strcmp(name, word_name[i]) != 0)
			continue;
		if (i == TEST_RUNS_PLATFORM)
			t->word[TEST_RUNS_PYTHON] = NULL;
		t->word[i] = t->last[i] = value;
		t->given[i]++;
		return true;
	}
	return false;
}

// A word that is given once holds everywhere.
static void spread_words(const struct test_runs *t, struct test_runs_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		for (int w = 0; w < TEST_RUNS_WORDS; w++)
			if (t->given[w] == 1)
				files->item[i].word[w] = t->last[w];
}

static int check_run_words(const struct test_runs *t, struct err *e)
{
	for (int w = 0; w < TEST_RUNS_WORDS; w++)
		if (!t->given[w])
			return err_set(e, ERR_USAGE, "--%s %s is missing", word_name[w], word_value[w]);
	if (!t->junit.count)
		return err_set(e, ERR_USAGE, "--junit FILE is missing");
	for (size_t i = 0; i < t->junit.count; i++)
		for (int w = 0; w < TEST_RUNS_WORDS; w++)
			if (!t->junit.item[i].word[w])
				return err_set(e, ERR_USAGE, "--junit %s: no --%s stands before it%s",
					t->junit.item[i].path, word_name[w],
					w == TEST_RUNS_PYTHON ? ", behind its --platform" : "");
	return 0;
}

static bool is_of_run(const struct test_runs_file *a, const struct test_runs_file *b)
{
	for (int w = 0; w < TEST_RUNS_WORDS; w++)
		if (strcmp(a->word[w], b->word[w]) != 0)
			return false;
	return true;
}

// The wheel holds where it was given: a kind says nothing of it.
static bool is_wheel_of_run(const struct test_runs_file *wheel, const struct test_runs_file *run)
{
	for (int w = TEST_RUNS_PLATFORM; w < TEST_RUNS_WORDS; w++)
		if (wheel->word[w] && strcmp(wheel->word[w], run->word[w]) != 0)
			return false;
	return true;
}

// Those of the files that belong to the run; returns their number.
static size_t choose_of_run(const struct test_runs_files *files, const struct test_runs_file *run, const char **out)
{
	size_t count = 0;
	for (size_t i = 0; i < files->count; i++)
		if (is_wheel_of_run(&files->item[i], run))
			out[count++] = files->item[i].path;
	return count;
}

static int call_for_run(const struct test_runs *t, size_t first, test_runs_fn *fn, void *ctx, struct err *e)
{
	const struct test_runs_file *run = &t->junit.item[first];
	CLEANUP(mem_free) const char **junit = xcalloc(t->junit.count, sizeof(*junit));
	CLEANUP(mem_free) const char **wheel = xcalloc(t->wheel.count + 1, sizeof(*wheel));
	CLEANUP(mem_free) const char **list = xcalloc(t->list.count + 1, sizeof(*list));
	struct evidence_make make = {.kind = run->word[TEST_RUNS_KIND],
		.platform = run->word[TEST_RUNS_PLATFORM],
		.python = run->word[TEST_RUNS_PYTHON],
		.junit = junit,
		.wheel = wheel};
	for (size_t i = first; i < t->junit.count; i++)
		if (is_of_run(&t->junit.item[i], run))
			junit[make.junits++] = t->junit.item[i].path;
	make.wheels = choose_of_run(&t->wheel, run, wheel);
	choose_of_run(&t->list, run, list);
	return fn(ctx, &make, list, e);
}

int test_runs_each(struct test_runs *t, test_runs_fn *fn, void *ctx, struct err *e)
{
	spread_words(t, &t->junit);
	spread_words(t, &t->wheel);
	spread_words(t, &t->list);
	if (check_run_words(t, e) < 0)
		return -1;
	for (size_t i = 0; i < t->junit.count; i++) {
		size_t first = 0;
		while (!is_of_run(&t->junit.item[first], &t->junit.item[i]))
			first++;
		if (first == i && call_for_run(t, i, fn, ctx, e) < 0)
			return -1;
	}
	return 0;
}
