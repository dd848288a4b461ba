// SPDX-License-Identifier: Apache-2.0
// What the catalog has in quarantine, by the project that its name says: of what is damaged nothing else can be known.
// One thread.
#pragma once

#include "lib/base/arena.h"
#include "lib/state/catalog/catalog-candidate.h"

struct quarantined_file {
	const char *project; // normalised; "": its name says none
	struct catalog_candidate held;
};

// All zero is none.
struct quarantined {
	struct quarantined_file *file; // by project, then platform and path
	size_t count, room;
	struct arena text;
};

// Adds what there is. To be released whatever it returned.
int quarantined_read(struct quarantined *r, struct catalog *c, struct err *e) MUST_CHECK;
void quarantined_release(struct quarantined *r); // it is empty after it
