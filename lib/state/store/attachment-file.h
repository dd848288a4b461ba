// SPDX-License-Identifier: Apache-2.0
// Attachments (lib/domain/wheel/attachment.h) as files of the store, beside their wheel or sdist. Folders are
// borrowed. Any thread. Errors are ERR_IO and ERR_FULL, if not said otherwise.
#pragma once

#include <stdbool.h>

#include "lib/base/buf.h"
#include "lib/state/catalog/catalog-attachment.h"
#include "lib/place/place.h"

// The name in the folder. The caller frees it; NULL: it would be longer than a name may be.
char *attachment_file_name(const char *filename, enum attachment kind);

// What was read of one. Owns its parts.
struct attachment_facts {
	struct place_version version;
	uint8_t sha256[SHA256_SIZE];
	uint8_t subject[SHA256_SIZE]; // set without a refusal
	struct err refusal;           // why it is not valid; ERR_NONE: it is
	struct buf text;              // its bytes; cut if it is too long
	struct buf packed;            // the same as a zstd frame; empty with a refusal
};

// Reads the attachment of the file, and examines it. 1: it exists; 0: it does not; -1: an error, also ERR_DENIED: it is
// a link that leads out of the folder. The caller releases *out after 1.
int attachment_file_read(struct place_folder *folder, const char *filename, enum attachment kind, struct attachment_facts *out,
	struct err *e) MUST_CHECK;
// The same facts of a text that is not a file yet: the version is not set.
void attachment_file_examine(struct str text, const char *filename, enum attachment kind, struct attachment_facts *out);
void attachment_facts_release(struct attachment_facts *f); // for CLEANUP; all zero is fine
// The facts as a row of the catalog; the caller sets the platform, the folder, and whether the row is guarded. Borrows
// from f and filename.
struct catalog_attachment attachment_facts_row(const struct attachment_facts *f, const char *filename,
	enum attachment kind);

// Writes and syncs the bytes; the caller gives them their name (place_put_new, place_replace) and syncs the folder.
// ERR_LIMIT: the name would be too long.
struct place_write *attachment_write_begin(struct place_folder *folder, const char *filename, enum attachment kind,
	struct str text, struct err *e) MUST_CHECK;

// Removes the attachment of a file, if there is one. The caller syncs the folder.
int attachment_file_remove(struct place_folder *folder, const char *filename, enum attachment kind,
	struct err *e) MUST_CHECK;
