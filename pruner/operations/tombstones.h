// SPDX-License-Identifier: Apache-2.0
// The tombstones of a store that the catalog has, read into memory, because the caller writes the catalog while it
// handles them. One thread at a time.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/store/store.h"
#include "lib/state/store/tombstone.h"

// One tombstone and its file. The strings belong to struct tombstones.
struct tombstones_file {
	const struct platform *platform;
	const char *filename, *folder;
	const char *text; // of the tombstone
	bool has_file;    // its bytes are there, and the fields below describe them
	uint64_t size;
	int64_t mtime_ns;
	bool has_sha256;
	uint8_t sha256[SHA256_SIZE];
	const char *project;                             // NULL: the file is quarantined, and refusal says why
	const char *version, *requires_python, *refusal; // NULL: none
};

// Which tombstones to load.
struct tombstones_wanted {
	const char *const *glob; // of platform names; none: all
	size_t globs;
	// NULL: all. file and stone are valid during the call.
	bool (*matches)(void *ctx, const struct tombstones_file *file, const struct tombstone *stone);
	void *ctx;
};

struct tombstones {
	struct tombstones_file *item; // by platform, then file name
	size_t count, room;
	struct arena text;
};

// ERR_NOT_FOUND where no platform matches glob; errors of catalog.h. To be released in any case.
int tombstones_load(struct tombstones *out, const struct store *store, struct catalog *catalog,
	const struct tombstones_wanted *wanted, struct err *e) MUST_CHECK;
// Adds a copy, with its strings.
void tombstones_add(struct tombstones *t, const struct tombstones_file *found);
void tombstones_release(struct tombstones *t);
