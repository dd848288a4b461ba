// SPDX-License-Identifier: Apache-2.0
// Finds projects by name, among those that a client may read: in the directory of projects, and, where a view merges
// upstream, among the names that upstream is known to have. Upstream is not asked. One thread at a time for each
// catalog.
#pragma once

#include "lib/base/arena.h"
#include "lib/domain/text/name-match.h"
#include "lib/state/catalog/catalog.h"
#include "server/core/project-directory.h"
#include "server/core/readable.h"

struct search_found {
	const char *name;
	enum name_match match;
	const struct platform *
		*platform; // those that have files of it and that the client may read, in the store's order
	size_t platforms;
	bool is_upstreams; // clients get it from upstream; no platform that the client may read has a file of it
	uint64_t files;
	int64_t newest; // seconds since 1970: when its newest file came; 0: unknown
};

struct search_data {
	struct arena text;
	struct search_found *found; // the best first
	size_t count, room;
	uint64_t total; // with those beyond the limit
	// Names like it, where the name itself is not there, of which the limit counts too
	bool is_near;
};

struct owned_names;

// Borrowed.
struct search_places {
	struct project_directory *directory;
	struct catalog *catalog;          // with upstream's names; NULL: none
	struct owned_names *owned_names; // which are ours, whatever upstream has; NULL: none
};

// limit: at most so many are found. Errors of the catalog. The caller releases *out if this returns 0.
int search_data_find(const struct search_places *in, const struct readable *readable, const struct name_query *query,
	size_t limit, struct search_data *out, struct err *e) MUST_CHECK;
void search_data_release(struct search_data *d); // all zero is fine; for CLEANUP
