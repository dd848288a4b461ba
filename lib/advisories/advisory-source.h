// SPDX-License-Identifier: Apache-2.0
// Where records of the OSV database come from: a .json file with one, a .zip of such files (the database's own export),
// or a folder of both, with folders in it. The operator names it, so links are followed. Any thread.
#pragma once

#include "lib/base/err.h"
#include "lib/place/place.h"

struct advisory_limits {
	size_t files;      // of a source
	uint64_t unpacked; // bytes of its records
	size_t index;      // bytes of what is kept in memory
};
extern const struct advisory_limits advisory_limits; // LIMIT_ADVISORY_FILES, LIMIT_ADVISORIES, LIMIT_ADVISORY_INDEX

// Looks which files there are, of which size and time; nothing is read. *fingerprint is never 0; two looks that differ
// have another one. *is_settled: a change of any of them after this look is certain to change it. ERR_NOT_FOUND,
// ERR_IO, ERR_LIMIT: too many files.
int advisory_source_look(const char *path, uint64_t *fingerprint, bool *is_settled, struct err *e) MUST_CHECK;
// Reads all of it, and makes the list of this name in the folder, in place of an older one; folder NULL: it only reads.
// Nothing is made if any of it cannot be read: ERR_INVALID: a damaged .zip, or what is no JSON object; ERR_LIMIT;
// others as above. A record that breaks the schema is no error.
int advisory_source_read(const char *path, const struct advisory_limits *limits, struct place_folder *folder,
	const char *name, struct err *e) MUST_CHECK;
