// SPDX-License-Identifier: Apache-2.0
// A fake catalog for tests of code that reads one: its functions read an array. Tests link it instead of
// lib/state/catalog/catalog. One thread at a time; the array belongs to the test.
#pragma once

#include <stddef.h>

#include "lib/state/catalog/catalog-view.h"

struct fake_file {
	int64_t platform;
	const char *project, *filename, *version, *key, *requires_python, *yanked;
	struct str version_key; // used instead of key if ptr is not NULL; may contain NUL
	uint64_t size;
	int64_t mtime_ns;
	uint8_t sha;          // the value of every byte of the hash
	uint8_t metadata_sha; // likewise; 0: no metadata
};

// The files, in the order of the catalog: project, key, file name.
extern const struct fake_file *fake_file;
extern size_t fake_file_count;
extern bool fake_fails; // every call fails with ERR_DB
// The platforms, with the ids 1, 2, ... in this order.
extern const char *const *fake_platform;
extern size_t fake_platform_count;

// A member of every view with a membership, from generation `since` on, before generation `until` (0: it is one still).
struct fake_member {
	int64_t platform;
	const char *filename;
	uint8_t sha;
	int64_t since, until;
};
extern const struct fake_member *fake_member;
extern size_t fake_member_count;
extern struct catalog_view fake_view; // what catalog_view_find() finds; its generation is the newest
