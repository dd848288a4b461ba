// SPDX-License-Identifier: Apache-2.0
// The files that a check verifies: all good files at once, and one file again. Only reads. One thread at a time for
// each connection. Errors and callbacks as in catalog.h.
#pragma once

#include "lib/state/catalog/catalog-file.h"

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
