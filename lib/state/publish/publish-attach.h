// SPDX-License-Identifier: Apache-2.0
// The attachments of a file that is being published. They are checked before anything is published, and written under
// temporary names before the file has its own, so that a full disk refuses the whole. They get their names after the
// file: then nobody else can publish other bytes under the name. An attachment that is there already, and is about
// these bytes, stays. One thread at a time.
#pragma once

#include "lib/state/store/attachment-file.h"
#include "lib/state/store/store.h"

struct publish_attach_one {
	struct buf text; // data NULL: none is given
	struct attachment_facts facts;
	struct place_write *write; // NULL: none
	enum { PUBLISH_ATTACH_KEEP, PUBLISH_ATTACH_LINK, PUBLISH_ATTACH_REPLACE } step; // KEEP: it is there
};

// All zero is an empty one.
struct publish_attach {
	struct publish_attach_one one[ATTACHMENT_COUNT];
	bool yields; // to others that are about the same bytes, instead of ERR_CONFLICT
};

// Copies the text.
void publish_attach_add(struct publish_attach *a, enum attachment kind, struct str text);
void publish_attach_release(struct publish_attach *a); // removes the temporary files
// Whether they are valid, and about the file of this name with these bytes. ERR_INVALID, ERR_LIMIT.
int publish_attach_check(struct publish_attach *a, const char *filename, const uint8_t sha256[SHA256_SIZE],
	struct err *e) MUST_CHECK;
// Writes them into the open folder, under temporary names. ERR_CONFLICT: others are there, about the same bytes.
// is_replacing: these go before others.
int publish_attach_prepare(struct publish_attach *a, struct place_folder *folder, const char *filename,
	bool is_replacing, struct err *e) MUST_CHECK;
// Gives them their names. ERR_CONFLICT: another process was faster, with others.
int publish_attach_finish(struct publish_attach *a, struct place_folder *folder, const char *filename,
	struct err *e) MUST_CHECK;
// Removes those that were given their names. The caller syncs the folder.
void publish_attach_withdraw(const struct publish_attach *a, struct place_folder *folder, const char *filename);
// Records them in the catalog, or requests the release of the folder (a path below the platform).
int publish_attach_record(struct publish_attach *a, const struct platform *p, struct catalog *c, const char *folder,
	const char *filename, struct err *e) MUST_CHECK;
