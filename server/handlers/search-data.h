// SPDX-License-Identifier: Apache-2.0
// Finds projects by name, among those that a client may read, in memory. Pure apart from the directory; any thread.
#pragma once

#include "lib/base/arena.h"
#include "lib/domain/text/name-match.h"
#include "server/core/project-directory.h"
#include "server/core/readable.h"

struct search_found {
	const char *name;
	enum name_match match;
	const struct platform *
		*platform; // those that have files of it and that the client may read, in the store's order
	size_t platforms;
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

// limit: at most so many are found. The caller releases *out.
void search_data_find(struct project_directory *d, const struct readable *readable, const struct name_query *query,
	size_t limit, struct search_data *out);
void search_data_release(struct search_data *d); // all zero is fine; for CLEANUP
