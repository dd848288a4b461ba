// SPDX-License-Identifier: Apache-2.0
// The status of a want of one project in one environment, and why. One thread at a time.
#pragma once

#include "lib/domain/text/requirement.h"
#include "builder/missing/branch.h"
#include "builder/missing/missing.h"
#include "lib/install/nearest.h"
#include "builder/missing/removed-wheels.h"
#include "lib/install/resolve.h"

struct rebuild_set;
struct results;

// What is the same for all cells. Borrowed.
struct cell_rules {
	const struct config *config;
	struct requirements packages, skip; // [build] packages and skip
	bool has_packages;
	struct removed_wheels removed;
	struct fits *removed_fits; // of the numbers in removed; borrowed
	bool wants_pure;
	const struct rebuild_set *rebuild; // NULL: none
	const char *view;                  // NULL: none is asked about
	struct results *results;           // NULL: none
	struct catalog *catalog;           // for the paths of sdists
	int64_t now;                       // seconds since 1970
};

// Reads the lists of [build]. ERR_USAGE: an invalid line, or packages without one; ERR_NOT_FOUND, ERR_IO: a file. To be
// released in any case.
int cell_rules_init(struct cell_rules *r, const struct config *c, struct err *e) MUST_CHECK;
void cell_rules_release(struct cell_rules *r);

// A project in one environment. Borrowed.
struct cell {
	const struct cell_rules *rules;
	struct offers *offers;
	const char *project;
	const struct platform *platform;
	const char *python; // "3.12"
	struct nearest_place place;
	bool is_upstream_known;    // upstream could tell what it has, or is not asked
	const char *upstream_says; // why there is nothing of upstream; "": it has the project
	bool is_pure;              // all wheels that are known of the project, and not yanked, are pure Python
};

// What a want comes to. It borrows from the cell and the text.
struct cell_status {
	enum wheel_status status; // never AWAITING and FAILED
	const char *version;        // NULL: none is known
	struct resolve_outcome outcome;
	const struct requirement *skip;      // that is why it is skipped; NULL: it is not
	const struct removed_wheel *removed; // that is why it is skipped, or what was here once if it is not; NULL: none
	const struct offer *unpromoted;      // the wheel of UNPROMOTED; NULL
};

// Fills out with the statuses of a want, and returns how many there are: one for each version that different micro
// versions take. A version that no file has is put into text.
size_t cell_decide(const struct cell *cell, const struct branch_want *want, struct arena *text,
	struct cell_status out[RESOLVE_OUTCOMES]);
// Fills the version, why, micros and sdist of a row whose status is set; the strings are put into text. Errors of
// catalog.h.
int cell_explain(const struct cell *cell, const struct branch_want *want, const struct cell_status *s,
	struct arena *text, struct missing_row *row, struct err *e) MUST_CHECK;
// Whether all known wheels of the project are pure Python.
bool cell_project_is_pure(const struct offers *o);
// Appends the micro versions of x.y, as "3.10.0 to 3.10.4" or "3.10.5 and later".
void cell_print_micros(uint64_t micros, const struct python *p, struct buf *out);
