// SPDX-License-Identifier: Apache-2.0
// The components that an SBOM names (PEP 770): CycloneDX 1.x and SPDX 2.x, as JSON. Other formats, also SPDX 3, have no
// component here, and are no error: the PEP lets a wheel carry any. Pure functions; any thread.
#pragma once

#include "lib/base/arena.h"
#include "lib/base/err.h"
#include "lib/base/str.h"

struct sbom_component {
	const char *name;
	const char *version; // NULL: none
	const char *purl;    // NULL: none
};

struct sbom {
	struct sbom_component *component; // in the order of the document; one that contains others comes before them
	size_t count, room;
};

// Reads a whole document. All is in text, which the caller owns. Components without a name are left out, and so
// are those nested more than three deep, and strings longer than LIMIT_SBOM_STRING. ERR_INVALID: it claims to be JSON
// and is not; ERR_LIMIT: more than LIMIT_SBOM_COMPONENTS.
int sbom_read(struct str document, struct arena *text, struct sbom *out, struct err *e) MUST_CHECK;
