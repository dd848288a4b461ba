// SPDX-License-Identifier: Apache-2.0
// The rows of one folder in the catalog, loaded at once and searched by name: its files, their marks and attachments,
// and its folders. One thread at a time.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "indexer/walk/folder.h"
#include "lib/base/buf.h"
#include "lib/base/strset.h"
#include "lib/state/catalog/catalog-attachment.h"
#include "lib/state/catalog/catalog-file.h"
#include "lib/state/catalog/catalog-mark.h"

struct dir_snapshot_file {
	struct catalog_known row; // row.filename lives as long as the struct dir_snapshot
	size_t name;              // offset in names
	bool seen;
};

struct dir_snapshot_mark {
	struct catalog_known_mark row; // its strings live as long as the struct dir_snapshot
	size_t name, text;             // offsets in names
	bool seen;
};

struct dir_snapshot_attachment {
	struct catalog_known_attachment row; // its filename and hash live as long as the struct dir_snapshot
	size_t name;                         // offset in names; the hash follows
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
	struct dir_snapshot_attachment *attachment; // by name
	size_t attachment_count, attachment_room;
	struct dir_snapshot_folder *folder; // by path
	size_t folder_count, folder_room;
	struct buf names;
};

// All zero is an empty snapshot.
void dir_snapshot_release(struct dir_snapshot *d);
// Loads the rows of f into an empty snapshot; it stays empty where the catalog does not have f. Errors of catalog.h;
// the snapshot is to be released in any case.
int dir_snapshot_load(struct dir_snapshot *d, struct folder *f, struct catalog *c, struct err *e) MUST_CHECK;
// The same of these names alone, which may be of files, sidecars and folders.
int dir_snapshot_load_names(struct dir_snapshot *d, struct folder *f, const struct strset *names, struct catalog *c,
	struct err *e) MUST_CHECK;
// NULL where there is none. The pointers live as long as the snapshot.
struct dir_snapshot_file *dir_snapshot_file(struct dir_snapshot *d, const char *filename);
struct dir_snapshot_mark *dir_snapshot_mark(struct dir_snapshot *d, const char *filename, enum mark mark);
struct dir_snapshot_attachment *dir_snapshot_attachment(struct dir_snapshot *d, const char *filename,
	enum attachment kind);
struct dir_snapshot_folder *dir_snapshot_folder(struct dir_snapshot *d, const char *path);
