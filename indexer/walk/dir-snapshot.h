// SPDX-License-Identifier: Apache-2.0
// What the catalog knows of one folder: its files, the marks beside them, and the folders in it, to be
// found by name.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "indexer/walk/folder.h"
#include "lib/base/buf.h"
#include "lib/state/catalog/catalog-file.h"
#include "lib/state/catalog/catalog-mark.h"

struct known_file {
	struct catalog_known row; // row.filename lives as long as the struct known
	size_t name;              // where it is in names
	bool seen;
};

struct known_mark {
	struct catalog_known_mark row; // its strings live as long as the struct known
	size_t name, text;             // where they are in names
	bool seen;
};

struct known_folder {
	struct folder *folder; // a reference
	bool seen;
};

struct known {
	struct known_file *file; // by name
	size_t file_count, file_room;
	struct known_mark *mark; // by name
	size_t mark_count, mark_room;
	struct known_folder *folder; // by path
	size_t folder_count, folder_room;
	struct buf names;
};

// All zero is an empty one.
void known_release(struct known *k);
// Reads what is known of f; nothing where it is new.
int known_load(struct known *k, struct folder *f, struct catalog *c, struct err *e) MUST_CHECK;
// NULL where there is none.
struct known_file *known_file(struct known *k, const char *filename);
struct known_mark *known_mark(struct known *k, const char *filename, enum mark mark);
struct known_folder *known_folder(struct known *k, const char *path);
