// SPDX-License-Identifier: Apache-2.0
// The quarantined files in the catalog, by the project in their file names: nothing else is known of a damaged file.
// One thread at a time.
#pragma once

#include "lib/base/arena.h"
#include "lib/state/catalog/catalog-candidate.h"

struct quarantined_file {
	const char *project; // normalised; "": the file name gives none
	struct catalog_candidate row;
};

// All zero is empty.
struct quarantined {
	struct quarantined_file *file; // by project, then platform and path
	size_t count, room;
	struct arena text;
};

// Reads all into an empty struct. Errors of catalog.h. To be released in any case.
int quarantined_read(struct quarantined *q, struct catalog *c, struct err *e) MUST_CHECK;
void quarantined_release(struct quarantined *q); // it is empty after it
