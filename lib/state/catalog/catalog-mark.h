// SPDX-License-Identifier: Apache-2.0
// The catalog's marks, as sidecars beside the files carry them (lib/state/store/sidecar.h): each by its
// folder and the name of its file, whether that is there or not. A file has the yank that is beside
// it, and is unlisted while its tombstone is. Writes stand between catalog_begin and
// catalog_commit. Errors as in catalog.h.
#pragma once

#include "lib/domain/text/mark.h"
#include "lib/state/catalog/catalog-write.h"

// What the scan compares with what is on the disk.
struct catalog_known_mark {
	const char *filename;
	enum mark mark;
	const char *text; // NULL: it was taken off, and no scan has seen that yet, or nobody kept its text
	int64_t written;
};
typedef int catalog_known_mark_fn(void *ctx, const struct catalog_known_mark *mark, struct err *e);
int catalog_folder_marks(struct catalog *c, int64_t folder, catalog_known_mark_fn *fn, void *ctx,
	struct err *e) MUST_CHECK;

// A mark as it is now. Strings are borrowed for the call.
struct catalog_mark {
	// As of a catalog_entry: written is what the catalog had when somebody looked, 0 where it
	// had none.
	bool is_guarded;
	int64_t written;
	int64_t platform;
	int64_t folder;
	const char *folder_path;
	const char *filename;
	enum mark mark;
	const char *text; // of the sidecar, as far as it is a string; NULL: it is taken off
};
int catalog_mark_put(struct catalog *c, const struct catalog_mark *mark, struct catalog_effect *effect,
	struct err *e) MUST_CHECK;

// A mark that is there, and what is known of the file beside it. Strings are borrowed for the call.
struct catalog_marked {
	int64_t platform;
	const char *folder_path, *filename;
	const char *reason; // one line, "" for none
	const char *text;   // of the sidecar; NULL: no scan has seen it since catalogs keep it
	bool has_file;      // its bytes are there; what follows is of these
	enum catalog_state state;
	uint64_t size;
	int64_t mtime_ns;
	const uint8_t *sha256;                 // NULL: it was refused before it was read
	const char *project;                   // normalised; NULL: it is refused
	const char *version, *requires_python; // NULL: none
	const char *refusal;                   // NULL: it is not in quarantine
};
typedef int catalog_marked_fn(void *ctx, const struct catalog_marked *mark, struct err *e);
// All marks of the kind on a platform, by file name, then folder.
int catalog_marks(struct catalog *c, int64_t platform, enum mark mark, catalog_marked_fn *fn, void *ctx,
	struct err *e) MUST_CHECK;

// 1: somewhere on the platform there is a tombstone of this name, and its reason is added to out;
// 0: there is none.
int catalog_tombstone(struct catalog *c, int64_t platform, const char *filename, struct buf *out,
	struct err *e) MUST_CHECK;
// The same with its text (lib/state/store/tombstone.h); its reason alone where nobody kept the text.
int catalog_tombstone_text(struct catalog *c, int64_t platform, const char *filename, struct buf *out,
	struct err *e) MUST_CHECK;
