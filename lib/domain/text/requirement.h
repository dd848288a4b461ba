// SPDX-License-Identifier: Apache-2.0
// Lists of requirements that the pruner must keep: a list of packages, and constraints files, whose pins are kept. In
// doubt a file is kept: a pin "===1.0" covers all versions equal to 1.0, and markers are ignored. Any thread may read a
// list; one thread at a time adds to it. A constraints file is read as pip reads it; its options have no effect, and -r
// and -c are errors.
//
//     numpy >=1.26,<2 platform=ubuntu-* keep what the gate needs      # in a list of packages
//     numpy===1.26.4;python_version>='3.9'                            # in a constraints file
#pragma once

#include <stddef.h>

#include "lib/base/arena.h"
#include "lib/base/err.h"
#include "lib/base/str.h"
#include "lib/domain/text/version.h"

struct requirement {
	const char *project;   // normal form
	const char *specifier; // "": all versions
	const char *platform;  // a glob of platform names; NULL: all platforms
	const char *reason;    // the rest of the line; ""
	const char *source;    // "path:line", for reports
};

struct requirements {
	struct requirement *item; // sorted by project
	size_t count, room;
	struct arena text;
};

enum requirement_form { REQUIREMENT_PACKAGES, REQUIREMENT_CONSTRAINTS };

// Adds the lines of a text to the list, which starts as zeros. ERR_USAGE with "path:line: " of the first line that is
// not a requirement. The caller releases the list whatever this returns.
int requirements_parse(struct requirements *list, struct str text, const char *path, enum requirement_form form,
	struct err *e) MUST_CHECK;
void requirements_release(struct requirements *list);
// A requirement that covers this version of the project on this platform, borrowed; NULL: none.
const struct requirement *requirements_find(const struct requirements *list, const char *project,
	const struct version *version, const char *platform);
// The requirements of a project, borrowed, and their number.
const struct requirement *requirements_of(const struct requirements *list, const char *project, size_t *count);
