// SPDX-License-Identifier: Apache-2.0
// Reads a ZIP file from its end: end records, central directory, and the members that these list. It checks nothing in
// front of the central directory; zipframe does. Any thread; a directory that was read is never changed.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/domain/text/findings.h"
#include "lib/os/byte-source.h"

struct zipmember {
	struct str name;       // UTF-8 without control characters; borrowed from the directory
	uint64_t header;       // offset of its local header
	uint64_t data;         // offset of its bytes; zipframe_read() fills it in
	uint64_t packed, size; // in bytes: compressed, uncompressed
	uint32_t crc;
	uint16_t method; // stored or deflated
	uint16_t flags;
	uint16_t mode; // Unix mode; 0 if the archive has none
	uint16_t attributes; // where the mode would be, whatever system made the archive: Python takes it for one
	bool is_folder;
};

struct zipdirectory {
	struct zipmember *members;
	size_t count;
	struct zipmember **by_name; // the members, sorted by name; no two names are equal
	uint64_t offset, size;      // of the central directory, in bytes
	char *bytes;                // the central directory itself, which the names point into
};

// ERR_INVALID with a message that begins as PyPI's does (warehouse's zipfiles.py), ERR_LIMIT if there are too many
// members, ERR_IO if the source cannot be read. On success the caller releases *out; on an error nothing is to be
// released.
int zipdirectory_read(const struct byte_source *s, enum strictness strictness, struct findings *findings,
	struct zipdirectory *out, struct err *e) MUST_CHECK;
void zipdirectory_release(struct zipdirectory *zip);
// The member of this name, borrowed; NULL if there is none.
const struct zipmember *zipdirectory_find(const struct zipdirectory *zip, struct str name);
