// SPDX-License-Identifier: Apache-2.0
// File names of distributions: wheels (PEP 427, binary distribution format) and sdists (PEP 625 and
// older). Pure; thread-safe.
#pragma once

#include <stdbool.h>

#include "lib/base/err.h"
#include "lib/base/str.h"
#include "lib/domain/text/version.h"

enum filename_kind {
	FILENAME_OTHER, // not ours: ignored
	FILENAME_WHEEL, // ends in .whl
	FILENAME_SDIST, // ends in .tar.gz or .zip
};

// By its ending alone.
enum filename_kind filename_kind(struct str filename);
// What no name may hold whatever its kind, for it becomes part of paths, URLs, pages and log lines: control bytes,
// blanks, slashes, bytes that are not UTF-8. ERR_INVALID, with the first.
int filename_check(struct str filename, struct err *e) MUST_CHECK;

struct filename {
	enum filename_kind kind;
	char *project;          // normalised; owned
	struct version version; // owned
	// Of wheels; slices of the text that was parsed, which must outlive them.
	struct str stem;                  // "<name>-<version>" as spelled: what the .dist-info folder is called
	struct str build;                 // "" where there is none
	struct str python, abi, platform; // compressed sets
};

// ERR_INVALID with the reason (which part, and why); no name has control bytes, blanks, slashes or
// bytes that are not UTF-8. An sdist is split at its last dash.
int filename_parse(struct str filename, struct filename *out, struct err *e) MUST_CHECK;
void filename_release(struct filename *f);
// By their build tags: below 0 where other is preferred among wheels of one tag. None is the least.
int filename_compare_builds(const struct filename *one, const struct filename *other);
// Splits an sdist's name by the project and version that its PKG-INFO names: "cffi-1.0.2-2.tar.gz"
// is version 1.0.2.post2 of cffi, which no rule finds. ERR_INVALID where the name cannot be meant.
int filename_parse_sdist(struct str filename, struct str project, struct str version, struct filename *out,
	struct err *e) MUST_CHECK;
