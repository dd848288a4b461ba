// SPDX-License-Identifier: Apache-2.0
// The catalog's attachments (lib/domain/wheel/attachment.h), which are files of the store. One is identified by its
// folder, the name of its file, which need not exist, and its kind. A file whose bytes are the attachment's subject has
// it: triggers keep file.statement and file.provenance. Writes stand between catalog_begin and catalog_commit. One
// thread at a time for each connection. Errors and callbacks as in catalog.h.
#pragma once

#include "lib/base/limits.h"
#include "lib/domain/wheel/attachment.h"
#include "lib/state/catalog/catalog-write.h"

// An attachment as the scan compares it with the disk.
struct catalog_known_attachment {
	const char *filename;
	enum attachment kind;
	bool trusted; // unchanged size, mtime and inode mean unchanged bytes
	uint64_t size;
	int64_t mtime_ns;
	uint64_t inode;
	int64_t written; // number of the last write
	const uint8_t *sha256;
};
typedef int catalog_known_attachment_fn(void *ctx, const struct catalog_known_attachment *row, struct err *e);
int catalog_folder_attachments(struct catalog *c, int64_t folder, catalog_known_attachment_fn *fn, void *ctx,
	struct err *e) MUST_CHECK;
// The same for one attachment alone.
int catalog_folder_attachment(struct catalog *c, int64_t folder, const char *filename, enum attachment kind,
	catalog_known_attachment_fn *fn, void *ctx, struct err *e) MUST_CHECK;

// An attachment to be written. Borrowed for the call.
struct catalog_attachment {
	bool is_guarded; // written is of the row that the scan read, 0 for none; a newer row is left alone
	int64_t written;
	int64_t platform, folder;
	const char *filename;
	enum attachment kind;
	bool trusted;
	uint64_t size;
	int64_t mtime_ns;
	uint64_t inode;
	const uint8_t *sha256;  // of its bytes
	const uint8_t *subject; // NULL: it is not valid, for this reason:
	const char *refusal;
	struct str packed; // a zstd frame of its bytes
};
int catalog_attachment_put(struct catalog *c, const struct catalog_attachment *a, struct err *e) MUST_CHECK;
// Removes the row of folder, filename and kind; guarded as above.
int catalog_attachment_remove(struct catalog *c, const struct catalog_attachment *a, struct err *e) MUST_CHECK;

// An attachment of a file that is listed or unlisted, and about its bytes.
struct catalog_attached {
	uint8_t sha256[SHA256_SIZE]; // of its bytes
	char project[LIMIT_FILE_NAME + 1];
};
// Appends its bytes to out. 1: there is one; 0: there is none.
int catalog_attached(struct catalog *c, int64_t platform, const char *filename, enum attachment kind,
	struct catalog_attached *found, struct buf *out, struct err *e) MUST_CHECK;

// Calls fn with the bytes of each attachment of a kind that some file with these bytes has, on the platform or, if that
// is NULL, on any.
typedef int catalog_attached_fn(void *ctx, struct str text, struct err *e);
int catalog_attached_to(struct catalog *c, const uint8_t sha256[SHA256_SIZE], const char *platform, enum attachment kind,
	catalog_attached_fn *fn, void *ctx, struct err *e) MUST_CHECK;

// An attachment that no file has.
struct catalog_stray_attachment {
	int64_t platform;
	const char *folder_path, *filename;
	enum attachment kind;
	const char *refusal; // why it is not valid; NULL: it is about other bytes
	bool has_file;       // false: its file is not there (yet)
};
typedef int catalog_stray_attachment_fn(void *ctx, const struct catalog_stray_attachment *row, struct err *e);
// By platform, folder, file name.
int catalog_stray_attachments(struct catalog *c, catalog_stray_attachment_fn *fn, void *ctx, struct err *e) MUST_CHECK;
