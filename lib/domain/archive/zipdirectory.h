// SPDX-License-Identifier: Apache-2.0
// A ZIP file read from its end: end records, central directory, the members they name. Of itself it
// proves nothing about the bytes before: zipframe does. Thread-safe.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/domain/text/findings.h"
#include "lib/os/byte-source.h"

struct zipmember {
	struct str name; // UTF-8 without control characters; lives as long as its directory
	uint64_t header; // where its local header begins
	uint64_t data;   // where its bytes begin: filled by zipframe_read
	uint64_t packed, size;
	uint32_t crc;
	uint16_t method; // stored or deflated
	uint16_t flags;
	uint16_t mode; // Unix mode; 0 where its maker left none
	bool is_folder;
};

struct zipdirectory {
	struct zipmember *members;
	size_t count;
	struct zipmember **by_name; // the members, sorted by name: no two are equal
	uint64_t offset, size;      // where the central directory lies
	char *bytes;                // the central directory itself
};

// ERR_INVALID with PyPI's words (warehouse's zipfiles.py) in front, ERR_LIMIT, ERR_IO. On an error
// nothing is left to release.
int zipdirectory_read(const struct byte_source *s, enum strictness strictness, struct findings *findings,
	struct zipdirectory *out, struct err *e) MUST_CHECK;
void zipdirectory_release(struct zipdirectory *zip);
// NULL where there is none.
const struct zipmember *zipdirectory_find(const struct zipdirectory *zip, struct str name);
