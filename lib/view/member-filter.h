// SPDX-License-Identifier: Apache-2.0
// Reads a platform from the catalog as a view with a membership (lib/state/views/membership.h) shows it: only members
// whose bytes are those that were promoted. One thread at a time per catalog connection.
#pragma once

#include "lib/base/err.h"
#include "lib/state/catalog/catalog.h"

// Borrowed.
struct member_filter {
	const char *view;   // whose membership it is; NULL: all that the platform lists
	int64_t generation; // of the membership, or GENERATION_NEWEST
	bool shows_each;    // for merge_platforms_files(): as the view's
	bool *left_out;     // likewise, by the platform's place; NULL
};

// As catalog_project_files(), without files that are no members.
int member_filter_files(const struct member_filter *f, struct catalog *c, int64_t platform, const char *project,
	catalog_file_fn *fn, void *ctx, struct err *e) MUST_CHECK;
// As catalog_projects(), without projects that have no member. Of a row only platform and project are set then.
int member_filter_projects(const struct member_filter *f, struct catalog *c, int64_t platform, catalog_project_fn *fn,
	void *ctx, struct err *e) MUST_CHECK;
