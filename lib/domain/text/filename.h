// SPDX-License-Identifier: Apache-2.0
// Parses the file names of distributions: wheels (PEP 427, binary distribution format) and sdists (PEP 625 and older).
// Pure functions; any thread.
#pragma once

#include <stdbool.h>

#include "lib/base/err.h"
#include "lib/base/str.h"
#include "lib/domain/text/version.h"

enum filename_kind {
	FILENAME_OTHER, // no distribution: ignored
	FILENAME_WHEEL, // ends in .whl
	FILENAME_SDIST, // ends in .tar.gz or .zip
};

// Decides by the ending alone.
enum filename_kind filename_kind(struct str filename);
// Checks what holds for names of any kind, because a name becomes part of paths, URLs, pages and log lines. ERR_INVALID
// if the name is longer than LIMIT_FILE_NAME, has control bytes, blanks or slashes, or is not UTF-8; the message has
// the first fault.
int filename_check(struct str filename, struct err *e) MUST_CHECK;

struct filename {
	enum filename_kind kind;
	char *project;          // normal form; owned
	struct version version; // owned
	// Of wheels; slices of the parsed text, which must outlive them.
	struct str stem;                  // "<name>-<version>" as it is spelled, which names the .dist-info folder
	struct str build;                 // "": none
	struct str python, abi, platform; // compressed tag sets
};

// Parses the name of a wheel or an sdist; an sdist's name is split at its last dash. On success the caller releases
// *out; otherwise ERR_INVALID with the part and the reason, and *out is not touched.
int filename_parse(struct str filename, struct filename *out, struct err *e) MUST_CHECK;
void filename_release(struct filename *f);
// Compares the build tags of two wheels with equal tags; "": none, which is the least. Below 0: installers prefer
// other.
int filename_compare_builds(struct str one, struct str other);
// The number of a build tag, LIMIT_BUILD_TAG - 1 at most; 0 of "".
unsigned filename_build_number(struct str build);
// Splits an sdist's name by the project and version of its PKG-INFO: "cffi-1.0.2-2.tar.gz" is version 1.0.2.post2 of
// cffi, which no rule about dashes finds. ERR_INVALID if the name cannot stand for that project and version. Ownership
// as above.
int filename_parse_sdist(struct str filename, struct str project, struct str version, struct filename *out,
	struct err *e) MUST_CHECK;
// Splits the name of a file on a project's page as pip does: an sdist's at the first dash behind a spelling of the
// project, so that "cffi-1.0.2-2.tar.gz" is version 1.0.2.post2. project is in normal form. ERR_INVALID if it is
// another project's. Ownership as above.
int filename_parse_listed(struct str filename, const char *project, struct filename *out, struct err *e) MUST_CHECK;

// Called for one compatibility tag (PEP 425), such as "cp38-cp38-manylinux1_x86_64", in lower case; borrowed for the
// call. Returns 0 to continue, or -1 with *e set, which ends the walk.
typedef int filename_tag_fn(void *ctx, struct str tag, struct err *e);

// Expands the wheel's three compressed sets: calls fn once for each tag, in the order of the sets. ERR_LIMIT, before
// the first call, if there are more than LIMIT_TAGS tags or the sets are longer than LIMIT_FILE_NAME. No tag is longer
// than the sets together.
int filename_tags(const struct filename *wheel, filename_tag_fn *fn, void *ctx, struct err *e) MUST_CHECK;
