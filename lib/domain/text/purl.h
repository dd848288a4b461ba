// SPDX-License-Identifier: Apache-2.0
// Package URLs (purl-spec): "pkg:pypi/six@1.16.0". Pure; any thread.
#pragma once

#include <stdbool.h>

#include "lib/base/arena.h"

struct purl {
	struct str type;    // as it is written: "pypi"
	struct str name;    // decoded, with its namespace
	struct str version; // decoded; ptr NULL: it has none
};
// Borrows from the text and from the arena. Qualifiers and subpath are left out. False: it is no purl.
bool purl_read(struct str text, struct arena *a, struct purl *out);
