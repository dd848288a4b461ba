// SPDX-License-Identifier: Apache-2.0
// What METADATA or PKG-INFO of a file tells people about its project (core metadata; PEP 566, 621, 639). Numbers and
// lengths are bounded: what is beyond is left out. One thread reads it; any thread may read a value.
#pragma once

#include "lib/base/arena.h"
#include "lib/base/str.h"

struct project_link {
	const char *label, *url; // url: http or https
};

// NULL: it does not say. Strings may hold any bytes but NUL.
struct project_metadata {
	const char *summary, *author, *requires_python;
	const char *license; // an SPDX expression, or else words
	const char **dependency;
	size_t dependencies, dependency_room;
	struct project_link *link;
	size_t links, link_room;
	bool has_more;                // dependencies or links
	const char *description_type; // Description-Content-Type
	struct str description;       // a copy, without the folding of a field; empty: none
	struct arena text;
};

// Reads the text of a file. Never fails: what it cannot read is left out. The caller releases *out.
void project_metadata_read(struct str metadata, struct project_metadata *out);
void project_metadata_release(struct project_metadata *m); // all zero is fine; for CLEANUP
