// SPDX-License-Identifier: Apache-2.0
// The test runs that a command line of `evidence make` names: one for each kind, platform and Python with a report.
// --kind, --platform and --python hold for the files behind them, up to the next of that name; --platform begins a
// platform without a Python. One that is given once holds for the whole line, wherever it stands. Strings are borrowed
// from the command line. One thread at a time.
#pragma once

#include "promoter/evidence-make.h"

enum test_runs_word { TEST_RUNS_KIND, TEST_RUNS_PLATFORM, TEST_RUNS_PYTHON, TEST_RUNS_WORDS };

// A file, with the words that hold for it; NULL: none does.
struct test_runs_file {
	const char *path;
	const char *word[TEST_RUNS_WORDS];
};

struct test_runs_files {
	struct test_runs_file *item;
	size_t count, room;
};

struct test_runs {
	const char *word[TEST_RUNS_WORDS]; // the ones that hold now
	const char *last[TEST_RUNS_WORDS]; // the last ones given
	size_t given[TEST_RUNS_WORDS];     // how often
	struct test_runs_files junit, wheel, list;
};

void test_runs_release(struct test_runs *t); // for CLEANUP
// Takes --kind, --platform, --python, --junit, --wheels and --wheels-from. Returns false if it is another option.
bool test_runs_take(struct test_runs *t, const char *name, const char *value);
// Called for each run, in the order of its first report. The arrays are borrowed for the call; list has the words of
// --wheels-from, NULL at the end.
typedef int test_runs_fn(void *ctx, const struct evidence_make *run, const char *const *list, struct err *e);
// Calls fn for each run. A wheel belongs to each run of the platform and of the Python that hold for it. ERR_USAGE: a
// report has no kind, platform or Python, or none is given; then fn is not called.
int test_runs_each(struct test_runs *t, test_runs_fn *fn, void *ctx, struct err *e) MUST_CHECK;
