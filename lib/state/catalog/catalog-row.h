// SPDX-License-Identifier: Apache-2.0
// The rows of files as single commands need them: a check, a plan, an explanation.
#pragma once

#include "lib/state/catalog/catalog-file.h"
#include "lib/state/catalog/catalog-write.h"

// --- for a check ---
// The files that a check verifies: all good files at once, and one file again. Only reads.

// A listed file, a duplicate or an unlisted file. Strings are borrowed for the call. Columns: file-columns.h.
struct catalog_good {
	int64_t id;
	int64_t platform;
	enum catalog_state state;
	uint64_t size;
	const char *folder; // below the platform; "" is its root
	const char *filename;
	const char *project; // normalised
};
// By folder.
typedef int catalog_good_fn(void *ctx, const struct catalog_good *file, struct err *e);
int catalog_good_files(struct catalog *c, catalog_good_fn *fn, void *ctx, struct err *e) MUST_CHECK;

// The state of a file's bytes when they were read.
struct catalog_sum {
	enum catalog_state state;
	uint64_t size;
	int64_t mtime_ns;
	uint8_t sha256[SHA256_SIZE];
};
// 1: found; 0: there is no such file, or its bytes were never read.
int catalog_file_sum(struct catalog *c, int64_t id, struct catalog_sum *out, struct err *e) MUST_CHECK;
// 1: *name is its file name, which the caller frees; 0: there is no such file.
int catalog_file_name(struct catalog *c, int64_t id, char **name, struct err *e) MUST_CHECK;
// 1: the folder has a file of this name, in any state; 0: it has none.
int catalog_has_file(struct catalog *c, int64_t platform, const char *folder, const char *filename,
	struct err *e) MUST_CHECK;

// --- for a prune ---
// The files that a prune decides about: listed files and duplicates, by project, and quarantined files. Only reads.

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

// --- for an explanation ---
// All files that platforms have, or had, of a project: listed, quarantined, duplicate and pruned. For `explain`.

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
