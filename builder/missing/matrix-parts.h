// SPDX-License-Identifier: Apache-2.0
// What the files that make a struct project_matrix share: matrix-make.c, -releases.c, -attempts.c, -upstream.c and
// -cell.c. One thread at
// a time.
#pragma once

#include "lib/install/nearest.h"
#include "lib/install/offers.h"
#include "builder/missing/project-matrix.h"
#include "lib/state/results/results.h"

struct simplepage;

// A row and column of the matrix. The number of its environment is its index.
struct matrix_place {
	const struct platform *platform;
	const struct environment *environment;
	char *python; // "3.12"; owned
	bool lacks_upstream;
};

struct project_matrix_maker {
	struct project_matrix_options options;
	struct upstream *upstream;
	struct matrix_place *place;
	const struct environment **environment; // of each place
	size_t places;
	bool *together;    // by platform and other platform of the options: a view has both
	const char **name; // of the platforms
	struct fits fits;
};

// When a file of ours came.
struct matrix_arrival {
	int64_t platform;
	const char *filename;
	int64_t came; // seconds since 1970
};

// What the attempts say about a place.
struct matrix_attempt {
	const char *id; // of the newest; NULL: none
	bool has_log, is_running;
	int64_t begun;
	bool has_ended, has_failed; // the newest that ended
	const char *version;        // of that one, as it is spelled there
};

// One matrix while it is made.
struct matrix_work {
	struct project_matrix_maker *maker;
	struct catalog *catalog;
	struct project_matrix *out;
	const struct version *wanted;  // NULL: the newest
	struct version chosen, before; // text NULL: none
	bool takes_yanked;             // all files of ours of the chosen version are yanked
	const struct upstream_answer *answer;
	const struct simplepage *page; // NULL: upstream has none
	struct offers offers;
	struct offers_release now, then; // of the chosen version and of the one before; both 0: no files
	struct matrix_arrival *arrival;
	size_t arrivals, arrival_room;
	struct matrix_attempt *attempt; // by place
	size_t attempts;                // of the chosen version
	int64_t first;                  // when the first file of the version came, here or else upstream; 0: unknown
};

// matrix-releases.c. Fills out->release.
int matrix_read_releases(struct matrix_work *w, struct err *e) MUST_CHECK;
// Chooses the version and the one before, from ours, or else from upstream's, which are in the offers.
void matrix_choose_versions(struct matrix_work *w);
// Adds our files of both versions to the offers.
int matrix_add_files(struct matrix_work *w, struct err *e) MUST_CHECK;
// 1: the options' view shows the file, or none is asked for; 0: it does not.
int matrix_shows_file(struct matrix_work *w, int64_t platform, const struct catalog_file *file,
	struct err *e) MUST_CHECK;
int64_t matrix_time_of_file(const struct catalog_file *file);

// matrix-attempts.c. Fills w->attempt.
int matrix_read_attempts(struct matrix_work *w, struct err *e) MUST_CHECK;
// Appends why the last attempt failed; *since becomes the time of the first of these failures.
int matrix_describe_failure(struct matrix_work *w, size_t place, struct buf *out, int64_t *since,
	struct err *e) MUST_CHECK;

// matrix-upstream.c. Fills out->release, out->newest and out->metadata with what upstream has.
void matrix_read_upstreams(struct matrix_work *w);

// matrix-cell.c. A file whose Requires-Python excludes the Python, if that of each file of the release does; else NULL.
const struct offer *matrix_find_excluding(const struct matrix_work *w, size_t at, const struct offers_release *release,
	bool takes_yanked);
// Decides the cell of a place.
int matrix_decide_cell(struct matrix_work *w, size_t place, struct matrix_cell *out, struct err *e) MUST_CHECK;
