// SPDX-License-Identifier: Apache-2.0
// Fetches what a mirror (mirror.h) is to have into the caches of upstreams' files, several files at once, each by its
// SHA-256. Beside a running server, which uses the same caches: the files are pinned before the first one is fetched.
// It may be killed at any time: the next call goes on. One thread.
#pragma once

#include "lib/state/config/config.h"
#include "lib/state/upstream/upstream.h"

// A wheel or an sdist. Strings are borrowed.
struct mirror_want {
	const char *project; // normal form
	const char *filename, *url;
	const char *home; // the URL of the index that names it, for requests only
	size_t upstream;  // its number
	int64_t size;     // bytes; -1: unknown
	uint8_t sha256[SHA256_SIZE];
	bool has_metadata, has_metadata_sha256; // by upstream's page
	uint8_t metadata_sha256[SHA256_SIZE];
	bool is_kept;         // the cache has it
	const char *failure; // why it could not be fetched; NULL: it was
};

// What is not kept yet: files, and their bytes as far as they are known.
struct mirror_rest {
	uint64_t files, bytes, unsized;
};

struct mirror_filling {
	const struct config *config;
	struct upstreams *upstreams;
	struct catalog *catalog;
	const char *name, *who; // of the mirror
	bool is_exact;          // it has nothing else then
	struct mirror_want *want;
	size_t wants; // by project
	void (*progress)(void *ctx, const struct mirror_rest *done, const struct mirror_rest *all); // NULL is fine
	void *ctx;
	struct arena *text; // for failures
};

// Sets is_kept of each, and says what is left. ERR_FULL: no disk has the room for it.
int mirror_fill_plan(const struct mirror_filling *f, struct mirror_rest *rest, struct err *e) MUST_CHECK;
// After mirror_fill_plan(). A file that cannot be fetched is no error but has its failure; then also with is_exact
// nothing leaves the mirror. done: what was fetched. Errors of mirror_change() and file_cache_open().
int mirror_fill_run(const struct mirror_filling *f, struct mirror_rest *done, struct err *e) MUST_CHECK;
