// SPDX-License-Identifier: Apache-2.0
// A project in one place: the status of what a branch wants of it there, and why. One thread at a time.
#pragma once

#include "lib/domain/text/requirement.h"
#include "lib/install/resolve.h"
#include "builder/missing/branch.h"
#include "builder/missing/missing.h"

struct rebuild_set;
struct results;
struct upstream_answer;

// The wheels that were removed from the pages of our platforms (lib/state/store/tombstone.h), and why. What an operator
// removed is not to be built again. What a prune or `wheelcache retain` removed was of no use then, and is missing once
// a branch wants it.
struct removed_wheel {
	struct filename name; // owned; of filename
	const char *filename, *reason, *requires_python;
	int64_t platform;
	bool is_by_us; // a prune or `wheelcache retain` removed it
	bool has_file; // it was not purged
};

struct rule_list;
// What is the same for all cells. Borrowed, but for the lists and the removed wheels.
struct cell_rules {
	const struct config *config;
	struct requirements packages, skip; // [build] packages and skip; skip has the lines of [server] deny too
	struct rule_list *denied;           // [server] deny
	bool has_packages;
	bool wants_pure;
	const struct rebuild_set *rebuild; // NULL: none
	const char *view;                  // NULL: none is asked about
	struct results *results;           // NULL: none
	struct catalog *catalog;           // for the paths of sdists
	int64_t now;                       // seconds since 1970
	struct removed_wheel *removed;     // sorted by project after cell_rules_sort()
	size_t removeds, removed_room;
	struct arena text;
};

// Reads the lists of [build]. ERR_USAGE: an invalid line, or packages without one; ERR_NOT_FOUND, ERR_IO: a file. To be
// released in any case.
int cell_rules_init(struct cell_rules *r, const struct config *c, struct err *e) MUST_CHECK;
void cell_rules_release(struct cell_rules *r);
// Adds the removed wheels of a platform whose projects are in the set (sorted). Errors of catalog.h.
int cell_rules_add_removed(struct cell_rules *r, struct catalog *c, int64_t platform, const struct strset *projects,
	struct err *e) MUST_CHECK;
void cell_rules_sort(struct cell_rules *r);

// A project in one place of struct fits. Borrowed.
struct cell {
	const struct cell_rules *rules;
	struct index_files *files;
	const char *project;
	size_t place;
	const struct platform *platform; // of the place
	bool is_upstream_known;          // upstream could tell what it has, or is not asked
	const char *upstream_says;       // why there is nothing of upstream; "": it has the project
	struct index_files *listed;      // also with the files of upstream that are not offered; NULL: there are none
	const struct upstream_answer *answer; // of listed
	struct index_files *known;       // what was listed when upstream last answered; NULL: it is in files
	const char *withdrawn;           // the project is in quarantine here: the reason; NULL: it is not
	bool is_pure;                    // all wheels that are known of the project, and not yanked, are pure Python
};

// What a want comes to. It borrows from the cell and the text.
struct cell_status {
	enum wheel_status status; // never AWAITING and FAILED
	const char *version;      // NULL: none is known
	struct resolve_outcome outcome;
	const struct requirement *skip;       // that is why it is skipped; NULL: it is not
	const struct removed_wheel *removed;  // that is why it is skipped, or what was here once if it is not; NULL: none
	const struct index_file *unpromoted;  // the wheel of UNPROMOTED; NULL
	// The file of upstream that pip would take if all were offered, if neither a wheel of ours nor one of upstream
	// installs instead; NULL: there is none.
	const struct index_file *hidden;
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
bool cell_project_is_pure(const struct index_files *all);
