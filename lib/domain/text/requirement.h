// SPDX-License-Identifier: Apache-2.0
// Lists of requirements that an operator keeps: packages that always stay, and constraints files, whose pins stay. Both
// say what to keep, so that whatever is in doubt is kept: a pin "===1.0" is one of all that equals 1.0, and a marker
// narrows nothing. Pure; read by any number of threads.
//
//     numpy >=1.26,<2 platform=ubuntu-* keep what the gate needs      # a line of the list of packages
//     numpy===1.26.4;python_version>='3.9'                            # one of constraints
#pragma once

#include <stddef.h>

#include "lib/base/err.h"
#include "lib/base/str.h"
#include "lib/domain/text/version.h"

struct requirement {
	char *project;   // normal form
	char *specifier; // "": every version
	char *platform;  // a glob of platform names; NULL: every platform
	char *reason;    // the rest of the line; ""
	char *source;    // "path:line", for who asks why
};

struct requirements {
	struct requirement *item; // by project
	size_t count, room;
};

enum requirement_form { REQUIREMENT_PACKAGES, REQUIREMENT_CONSTRAINTS };

// Adds the lines of a text to those that are there; zeros begin an empty one. ERR_USAGE with "path:line: " of the first
// that is no requirement: an option, an URL, a line that says nothing we know. To be released whatever it returns.
int requirements_parse(struct requirements *list, struct str text, const char *path, enum requirement_form form,
	struct err *e) MUST_CHECK;
void requirements_release(struct requirements *list);
// One that this version of the project on this platform answers; NULL: none does.
const struct requirement *requirements_find(const struct requirements *list, const char *project,
	const struct version *version, const char *platform);
