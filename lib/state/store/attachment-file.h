// SPDX-License-Identifier: Apache-2.0
// Attachments (lib/domain/wheel/attachment.h) as files of the store, beside their wheel or sdist. A folder is an open
// descriptor, which is borrowed. Any thread. Errors are ERR_IO and ERR_FULL, if not said otherwise.
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

#include "lib/base/buf.h"
#include "lib/os/fs.h"
#include "lib/state/catalog/catalog-attachment.h"
#include "lib/state/store/tempname.h"

// The name in the folder. The caller frees it; NULL: it would be longer than a name may be.
char *attachment_file_name(const char *filename, enum attachment kind);

// What was read of one. Owns its parts.
struct attachment_facts {
	struct stat st;
	uint8_t sha256[SHA256_SIZE];
	uint8_t subject[SHA256_SIZE]; // set without a refusal
	struct err refusal;           // why it is not valid; ERR_NONE: it is
	struct buf text;              // its bytes; cut if it is too long
	struct buf packed;            // the same as a zstd frame; empty with a refusal
};

// Reads the attachment of the file, and examines it. 1: it exists; 0: it does not; -1: an error, also ERR_DENIED: it is a
// link that leads out of the folder. The caller releases *out after 1.
int attachment_file_read(int folder, const char *filename, enum attachment kind, struct attachment_facts *out,
	struct err *e) MUST_CHECK;
// The same facts of a text that is not a file yet: st is not set.
void attachment_file_examine(struct str text, const char *filename, enum attachment kind, struct attachment_facts *out);
void attachment_facts_release(struct attachment_facts *f); // for CLEANUP; all zero is fine
// The facts as a row of the catalog; the caller sets the platform, the folder, and whether the row is guarded. Borrows
// from f and filename.
struct catalog_attachment attachment_facts_row(const struct attachment_facts *f, const char *filename,
	enum attachment kind);

// One that is being written. The caller's storage; all zero: none.
struct attachment_write {
	struct fs_tmp tmp;
	char tmp_name[TEMPNAME_NAME];
	char *name;
};
// Writes and syncs the bytes under a temporary name.
int attachment_write_begin(struct attachment_write *w, int folder, const char *filename, enum attachment kind,
	struct str text, struct err *e) MUST_CHECK;
// Gives it its name, in place of what has it. The caller syncs the folder.
int attachment_write_end(struct attachment_write *w, struct err *e) MUST_CHECK;
// The same, but never replaces anything: ERR_CONFLICT if the name is taken.
int attachment_write_link(struct attachment_write *w, struct err *e) MUST_CHECK;
void attachment_write_release(struct attachment_write *w); // removes the temporary file; for CLEANUP

// Removes the attachment of a file, if there is one. The caller syncs the folder.
int attachment_file_remove(int folder, const char *filename, enum attachment kind, struct err *e) MUST_CHECK;
