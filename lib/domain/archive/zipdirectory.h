// SPDX-License-Identifier: Apache-2.0
// Reads a ZIP file from its end: end records, central directory, and the members that these list. It checks nothing in
// front of the central directory; zipframe does. Any thread; a directory that was read is never changed.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"
#include "lib/base/str.h"
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
	uint16_t mode;       // Unix mode; 0 if the archive has none
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

// Reads the end records of a ZIP file, which say where its central directory is (APPNOTE 4.3.14 to 4.3.16). Any thread.

struct zipend {
	uint64_t count;        // of members
	uint64_t offset, size; // of the central directory, in bytes; it ends where the end records begin
};

// Uses the last end record of the file, as every reader does that begins at the end. ERR_INVALID if another reader
// could choose another end record, or if the records contradict each other. ERR_IO if the source cannot be read.
int zipend_read(const struct byte_source *s, struct zipend *out, struct err *e) MUST_CHECK;

// Parses the extra fields of ZIP headers (APPNOTE 4.5): the two that can change what a member is. A pure function; any
// thread.

struct zipextra {
	bool has_zip64;
	struct str zip64; // the body of field 0x0001, of a length that the format allows; borrowed
};

// Parses the chain of fields. ERR_INVALID if it is damaged, if ZIP64 or the Unicode path (0x7075) occurs twice, or if
// the Unicode path differs from the name, because readers differ in which of the two they use. *out has slices of
// extra.
int zipextra_parse(struct str extra, struct str name, struct zipextra *out, struct err *e) MUST_CHECK;
