// SPDX-License-Identifier: Apache-2.0
// The tombstones of a store as the catalog has them, read into memory: whoever handles them writes the catalog meanwhile.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/store/store.h"
#include "lib/state/store/tombstone.h"

// One tombstone, and the file beside it.
struct tombstones_file {
	const struct platform *platform;
	const char *filename, *folder;
	const char *text; // of the tombstone
	bool has_file;    // its bytes are there, and what follows is of these
	uint64_t size;
	int64_t mtime_ns;
	bool has_sha256;
	uint8_t sha256[SHA256_SIZE];
	const char *project;                             // NULL: it is in quarantine, for the reason that follows
	const char *version, *requires_python, *refusal; // NULL: none
};

// Which are wanted.
struct tombstones_wanted {
	const char *const *glob; // names of platforms; none: all
	size_t globs;
	// NULL: all. The tombstone is read, and is the caller's only for the call.
	bool (*fits)(void *ctx, const struct tombstones_file *grave, const struct tombstone *stone);
	void *ctx;
};

struct tombstones {
	struct tombstones_file *item; // by platform, then file name
	size_t count, room;
	struct arena text;
};

// ERR_NOT_FOUND where a platform was asked for and none has such a name. To be released whatever it returned.
int tombstones_load(struct tombstones *out, const struct store *store, struct catalog *catalog,
	const struct tombstones_wanted *wanted, struct err *e) MUST_CHECK;
// Copies it, and its strings.
void tombstones_add(struct tombstones *g, const struct tombstones_file *found);
void tombstones_release(struct tombstones *g);
