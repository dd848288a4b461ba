// SPDX-License-Identifier: Apache-2.0
// A catalog for tests of what reads one: its functions, over an array, linked in place of lib/state/catalog/catalog.
#pragma once

#include <stddef.h>

#include "lib/state/catalog/catalog.h"

struct fake_file {
	int64_t platform;
	const char *project, *filename, *version, *key, *requires_python, *yanked;
	struct str version_key; // in place of key, where it may hold NUL
	uint64_t size;
	int64_t mtime_ns;
	uint8_t sha;          // each byte of the hash
	uint8_t metadata_sha; // 0: no metadata
};

// In the catalog's order: project, key, file name.
extern const struct fake_file *fake_file;
extern size_t fake_file_count;
extern bool fake_fails; // every call is ERR_DB
// Platforms have the ids 1, 2, ... in this order.
extern const char *const *fake_platform;
extern size_t fake_platform_count;
