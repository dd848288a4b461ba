// SPDX-License-Identifier: Apache-2.0
// What matrix-make.c, which chooses the version, and matrix-cell.c, which decides its cells, share. One thread at a
// time.
#pragma once

#include "builder/missing/project-matrix.h"
#include "lib/install/index-files.h"

struct project_matrix_maker {
	struct project_matrix_options options;
	struct upstreams *upstreams;
	struct fits fits;     // its places are the cells
	bool *lacks_upstream; // of each place
	const struct matrix_view **together; // by platform and other platform of the options: the first view that has both
	const char **name;    // of the platforms
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
	struct index_files files;
	struct index_release now, then; // of the chosen version and of the one before; both 0: no files
	struct matrix_attempt *attempt; // by place
	size_t attempts;                // of the chosen version
	int64_t first;                  // when the first file of the version came, here or else upstream; 0: unknown
};

// Fills w->attempt.
int matrix_read_attempts(struct matrix_work *w, struct err *e) MUST_CHECK;
// Decides the cell of a place.
int matrix_decide_cell(struct matrix_work *w, size_t place, struct matrix_cell *out, struct err *e) MUST_CHECK;
// What pip takes in a place, of a project that only upstream has.
void matrix_take_newest(struct matrix_work *w, size_t place, struct matrix_newest *out);
