// SPDX-License-Identifier: Apache-2.0
// The files that a prune decides about: listed files and duplicates, by project, and quarantined files. Only reads. One
// thread at a time for each connection. Errors and callbacks as in catalog.h.
#pragma once

#include "lib/state/catalog/catalog-file.h"

// Strings and bytes are borrowed for the call. Columns: file-columns.h.
struct catalog_candidate {
	int64_t platform;
	const char *filename;
	const char *path;    // below the platform
	const char *version; // normal form; NULL: it is quarantined
	uint64_t size;
	int64_t mtime_ns;
	const uint8_t *sha256;       // NULL: refused unread
	const char *requires_python; // NULL: none
	const char *refusal;         // why it is quarantined; NULL: it is not
};
// Copies the strings and bytes that *file borrows into the arena; they live as long as the arena.
void catalog_candidate_copy(struct arena *a, struct catalog_candidate *file);
typedef int catalog_candidate_fn(void *ctx, const struct catalog_candidate *file, struct err *e);
// The listed files and duplicates of a project on a platform, by version, then name, then path.
int catalog_candidates(struct catalog *c, int64_t platform, const char *project, catalog_candidate_fn *fn, void *ctx,
	struct err *e) MUST_CHECK;
// The quarantined files without a tombstone, by platform and path.
int catalog_quarantined_files(struct catalog *c, catalog_candidate_fn *fn, void *ctx, struct err *e) MUST_CHECK;

// The projects that have listed files or duplicates, and their platforms, by name.
typedef int catalog_name_owner_fn(void *ctx, const char *project, int64_t platform, struct err *e);
int catalog_name_owners(struct catalog *c, catalog_name_owner_fn *fn, void *ctx, struct err *e) MUST_CHECK;

// The number of the newest change.
int catalog_newest_change(struct catalog *c, int64_t *change, struct err *e) MUST_CHECK;
