// SPDX-License-Identifier: Apache-2.0
// Which releases of a project upstream has yanked: those all of whose files it has yanked (PEP 592 yanks files, PyPI
// releases). Pure. One thread at a time.
#pragma once

#include <stdbool.h>

#include "lib/base/str.h"

struct simplepage;
struct yanks;

// Borrows nothing. project: a file of another one counts for nothing. index: whose page it is, for the marks.
struct yanks *yanks_new(const struct simplepage *page, const char *project, const char *index);
void yanks_free(struct yanks *y);     // NULL is fine
void yanks_cleanup(struct yanks **y); // for CLEANUP
// Whether a release is yanked at all.
bool yanks_has_any(const struct yanks *y);
// What the mark of a file of this release says (lib/state/store/sidecar.h); NULL: the release is not yanked, or not upstream's.
// By the version's key (lib/domain/text/version.h), or by the file's name.
const char *yanks_of_key(const struct yanks *y, struct str version_key);
const char *yanks_of_name(const struct yanks *y, const char *filename);
// Whether upstream has a file of the release that is not yanked.
bool yanks_offers(const struct yanks *y, const char *filename);
