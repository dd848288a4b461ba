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

struct dir_snapshot_file {
	struct catalog_known row; // row.filename lives as long as the struct dir_snapshot
	size_t name;              // where it is in names
	bool seen;
};

struct dir_snapshot_mark {
	struct catalog_known_mark row; // its strings live as long as the struct dir_snapshot
	size_t name, text;             // where they are in names
	bool seen;
};

struct dir_snapshot_folder {
	struct folder *folder; // a reference
	bool seen;
};

struct dir_snapshot {
	struct dir_snapshot_file *file; // by name
	size_t file_count, file_room;
	struct dir_snapshot_mark *mark; // by name
	size_t mark_count, mark_room;
	struct dir_snapshot_folder *folder; // by path
	size_t folder_count, folder_room;
	struct buf names;
};

// All zero is an empty one.
void dir_snapshot_release(struct dir_snapshot *k);
// Reads what is known of f; nothing where it is new.
int dir_snapshot_load(struct dir_snapshot *k, struct folder *f, struct catalog *c, struct err *e) MUST_CHECK;
// NULL where there is none.
struct dir_snapshot_file *dir_snapshot_file(struct dir_snapshot *k, const char *filename);
struct dir_snapshot_mark *dir_snapshot_mark(struct dir_snapshot *k, const char *filename, enum mark mark);
struct dir_snapshot_folder *dir_snapshot_folder(struct dir_snapshot *k, const char *path);
