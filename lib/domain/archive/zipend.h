// SPDX-License-Identifier: Apache-2.0
// The end records of a ZIP file: where its central directory lies (APPNOTE 4.3.14 to 4.3.16).
// Thread-safe.
#pragma once

#include <stdint.h>

#include "lib/os/byte-source.h"

struct zipend {
	uint64_t count;        // of members
	uint64_t offset, size; // of the central directory, which ends where the end records begin
};

// Takes the last end record of the file, as every reader that begins at the end does, and refuses
// all that could make another reader take another one.
int zipend_read(const struct byte_source *s, struct zipend *out, struct err *e) MUST_CHECK;
