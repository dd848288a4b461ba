// SPDX-License-Identifier: Apache-2.0
// What requirements without a lock bring along on our platforms (lib/install/closure.h), as rows of files beside those
// of locks: of each version that is taken the wheels that install there, and an sdist where no wheel does. One thread.
#pragma once

#include "builder/missing/known-projects.h"
#include "builder/missing/locked-files.h"

struct required_files;
// Borrows all of it. The places are those of the fits; out gets the rows.
struct required_files *required_files_new(const struct known_order *order, struct known_projects *known,
	struct locked_files *out);
void required_files_free(struct required_files *r); // NULL is fine

// Add what is to be found: of a requirements file with those that it includes, and of each project of a list of
// packages the newest versions that its line permits, each by itself. The errors of branches_read_file(), of
// requirements_parse() and of known_projects_get().
int required_files_add(struct required_files *r, const char *path, struct err *e) MUST_CHECK;
int required_files_add_top(struct required_files *r, const char *path, uint64_t versions, struct err *e) MUST_CHECK;
// What the builds of the sdists of the rows require, and what builds of sdists of that do.
int required_files_add_builds(struct required_files *r, struct err *e) MUST_CHECK;
// Finds it, and adds the rows. ERR_LIMIT: LIMIT_MISSING_ROWS; the errors of known_projects_get() and catalog.h.
int required_files_find(struct required_files *r, struct err *e) MUST_CHECK;
