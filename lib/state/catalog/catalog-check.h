// SPDX-License-Identifier: Apache-2.0
// What a check asks the catalog: all good files at once, and one file again. Reads only. Errors as
// in catalog.h.
#pragma once

#include "lib/state/catalog/catalog-file.h"

// A file that is listed, or would be if another one did not have its name. Strings are borrowed for
// the call.
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

// What a file's bytes were when they were read.
struct catalog_sum {
	enum catalog_state state;
	uint64_t size;
	int64_t mtime_ns;
	uint8_t sha256[SHA256_SIZE];
};
// 1: it is there, 0: it is not, or its bytes were never read.
int catalog_file_sum(struct catalog *c, int64_t id, struct catalog_sum *out, struct err *e) MUST_CHECK;
// 1: *name is its file name, to be freed by the caller; 0: there is no such file.
int catalog_file_name(struct catalog *c, int64_t id, char **name, struct err *e) MUST_CHECK;
// 1: there is a file of this name in this folder, whatever its state; 0: there is none.
int catalog_has_file(struct catalog *c, int64_t platform, const char *folder, const char *filename,
	struct err *e) MUST_CHECK;
