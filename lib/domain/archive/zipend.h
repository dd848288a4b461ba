// SPDX-License-Identifier: Apache-2.0
// Reads the end records of a ZIP file, which say where its central directory is (APPNOTE 4.3.14 to 4.3.16). Any thread.
#pragma once

#include <stdint.h>

#include "lib/os/byte-source.h"

struct zipend {
	uint64_t count;        // of members
	uint64_t offset, size; // of the central directory, in bytes; it ends where the end records begin
};

// Uses the last end record of the file, as every reader does that begins at the end. ERR_INVALID if another reader
// could choose another end record, or if the records contradict each other. ERR_IO if the source cannot be read.
int zipend_read(const struct byte_source *s, struct zipend *out, struct err *e) MUST_CHECK;
