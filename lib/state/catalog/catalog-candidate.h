// SPDX-License-Identifier: Apache-2.0
// What a prune asks the catalog: every file that is on a page, or would be if a copy in another folder had not its
// name, by its project; and every file in quarantine. Reads only. Errors as in catalog.h.
#pragma once

#include "lib/state/catalog/catalog-file.h"

// Strings and bytes are borrowed for the call.
struct catalog_candidate {
	int64_t platform;
	const char *filename;
	const char *path;    // below the platform
	const char *version; // normal form; NULL: it is in quarantine
	uint64_t size;
	int64_t mtime_ns;
	const uint8_t *sha256;       // NULL: refused before it was read
	const char *requires_python; // NULL: none
	const char *refusal;         // why it is in quarantine; NULL: it is not
};
// Has *file own its strings and bytes: they are copied into the arena, with which they go.
void catalog_candidate_copy(struct arena *a, struct catalog_candidate *file);
typedef int catalog_candidate_fn(void *ctx, const struct catalog_candidate *file, struct err *e);
// Of a project on a platform, by version, then name, then path.
int catalog_candidates(struct catalog *c, int64_t platform, const char *project, catalog_candidate_fn *fn, void *ctx,
	struct err *e) MUST_CHECK;
// In quarantine and without a tombstone, by platform and path.
int catalog_quarantined_files(struct catalog *c, catalog_candidate_fn *fn, void *ctx, struct err *e) MUST_CHECK;

// Which projects have such files, and on which platforms: by name.
typedef int catalog_name_owner_fn(void *ctx, const char *project, int64_t platform, struct err *e);
int catalog_name_owners(struct catalog *c, catalog_name_owner_fn *fn, void *ctx, struct err *e) MUST_CHECK;

// The number of the newest change.
int catalog_newest_change(struct catalog *c, int64_t *change, struct err *e) MUST_CHECK;
