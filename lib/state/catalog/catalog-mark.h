// SPDX-License-Identifier: Apache-2.0
// The catalog's marks, which are sidecars in the store (lib/state/store/sidecar.h). A mark is identified by its folder
// and the name of its file, which need not exist; of a status, the name of its project. A file is yanked or unlisted
// while it has such a mark. Writes stand between catalog_begin and catalog_commit. One thread at a time for each
// connection. Errors and callbacks as in catalog.h.
#pragma once

#include "lib/domain/text/mark.h"
#include "lib/state/catalog/catalog-write.h"

// A mark as the scan compares it with the disk.
struct catalog_known_mark {
	const char *filename;
	enum mark mark;
	const char *text; // NULL: it was removed and no scan has seen that yet, or an older version did not store it
	int64_t written;
};
typedef int catalog_known_mark_fn(void *ctx, const struct catalog_known_mark *mark, struct err *e);
int catalog_folder_marks(struct catalog *c, int64_t folder, catalog_known_mark_fn *fn, void *ctx,
	struct err *e) MUST_CHECK;
// The same for one mark alone.
int catalog_folder_mark(struct catalog *c, int64_t folder, const char *filename, enum mark mark,
	catalog_known_mark_fn *fn, void *ctx, struct err *e) MUST_CHECK;

// A mark to be written. Strings are borrowed for the call.
struct catalog_mark {
	// As in catalog_entry: written is of the row that the scan read, 0 for none.
	bool is_guarded;
	int64_t written;
	int64_t platform;
	int64_t folder;
	const char *folder_path;
	const char *filename;
	enum mark mark;
	const char *text; // of the sidecar, up to the first NUL; NULL: the mark is removed
};
int catalog_mark_put(struct catalog *c, const struct catalog_mark *mark, struct catalog_effect *effect,
	struct err *e) MUST_CHECK;

// A mark, and the file beside it. Strings are borrowed for the call. The file's columns: file-columns.h.
struct catalog_marked {
	int64_t platform;
	const char *folder_path, *filename;
	const char *reason; // one line, "" for none
	const char *text;   // of the sidecar; NULL: an older version did not store it
	bool has_file;      // the file exists, and all that follows is set
	enum catalog_state state;
	uint64_t size;
	int64_t mtime_ns;
	const uint8_t *sha256;                 // NULL: the file was refused unread
	const char *project;                   // normalised; NULL: it is refused
	const char *version, *requires_python; // NULL: none
	const char *refusal;                   // NULL: it is not in quarantine
};
typedef int catalog_marked_fn(void *ctx, const struct catalog_marked *mark, struct err *e);
// All marks of the kind on a platform, by file name, then folder.
int catalog_marks(struct catalog *c, int64_t platform, enum mark mark, catalog_marked_fn *fn, void *ctx,
	struct err *e) MUST_CHECK;

// The marks of the kind on a platform that were written last, at most so many, the newest first.
int catalog_newest_marks(struct catalog *c, int64_t platform, enum mark mark, int64_t limit, catalog_marked_fn *fn,
	void *ctx, struct err *e) MUST_CHECK;

// A run of a prune.
struct catalog_run {
	const char *id;
	int64_t since; // the change of the catalog before it
};
// How many tombstones of a platform are of the run, and the text of one that was written last, appended to text.
int catalog_run_marks(struct catalog *c, int64_t platform, const struct catalog_run *run, uint64_t *count,
	struct buf *text, struct err *e) MUST_CHECK;

// A status of a project: its text (lib/state/store/project-status.h).
typedef int catalog_status_fn(void *ctx, int64_t platform, const char *folder_path, struct str text, struct err *e);
// All statuses of the project (normal form), on every platform.
int catalog_statuses(struct catalog *c, const char *project, catalog_status_fn *fn, void *ctx, struct err *e) MUST_CHECK;

// 1: the platform has a tombstone of this name, and its reason is appended to out; 0: it has none.
int catalog_tombstone(struct catalog *c, int64_t platform, const char *filename, struct buf *out,
	struct err *e) MUST_CHECK;
// The same with the text (lib/state/store/tombstone.h), or the reason if the text is not stored.
int catalog_tombstone_text(struct catalog *c, int64_t platform, const char *filename, struct buf *out,
	struct err *e) MUST_CHECK;
