// SPDX-License-Identifier: Apache-2.0
// All files that platforms have, or had, of a project: listed, quarantined, duplicate and pruned. For `explain`. One
// thread at a time for each connection. Errors and callbacks as in catalog.h.
#pragma once

#include "lib/state/catalog/catalog-write.h"

// Strings and bytes are borrowed for the call. Columns: file-columns.h.
struct catalog_history {
	int64_t platform;
	const char *filename;
	const char *path; // below the platform
	enum catalog_state state;
	bool has_file; // the file exists; false: only the tombstone is left
	uint64_t size;
	const uint8_t *sha256;       // NULL: it was never read
	const char *requires_python; // NULL: none
	const char *yanked;          // the reason, "" for none; NULL: it is not yanked
	const char *reason;          // why it is not listed; NULL: it is
	const uint8_t *statement;    // hash of its statement of provenance; NULL: none
	const uint8_t *provenance;   // hash of its provenance object of PEP 740; NULL: none
	const char *tombstone;       // its text (lib/state/store/tombstone.h); NULL: none, or not stored
};
typedef int catalog_history_fn(void *ctx, const struct catalog_history *file, struct err *e);
// By file name, on all platforms. project is normalised. Unlisted files are found by their names, so some may be
// another project's ("foo-bar" for "foo").
int catalog_histories(struct catalog *c, const char *project, catalog_history_fn *fn, void *ctx,
	struct err *e) MUST_CHECK;
// The same without the listed ones.
int catalog_unlisted_histories(struct catalog *c, const char *project, catalog_history_fn *fn, void *ctx,
	struct err *e) MUST_CHECK;
