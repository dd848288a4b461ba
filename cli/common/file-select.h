// SPDX-License-Identifier: Apache-2.0
// Several files on a command line: PROJECT and a specifier, such as mine==1.* or mine>=1,<2, or a glob of file names,
// such as mine-1.*. One thread.
#pragma once

#include "lib/base/strset.h"
#include "lib/state/store/store.h"

// Whether the word is such a selection, and not the name or path of one file.
bool file_select_is(const char *word);
// Adds the names of the listed files that the word selects; platform NULL: on all platforms. names becomes sorted.
// ERR_USAGE: an invalid project or specifier; ERR_NOT_FOUND: no file; errors of the catalog.
int file_select(const char *word, const struct store *store, const char *platform, struct catalog *c,
	struct strset *names, struct err *e) MUST_CHECK;
