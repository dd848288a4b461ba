// SPDX-License-Identifier: Apache-2.0
// Which releases of a project upstream has yanked: those all of whose files it has yanked (PEP 592 yanks files, PyPI
// releases). Pure. One thread at a time.
#pragma once

#include <stdbool.h>

#include "lib/base/str.h"

struct simplepage;
struct yanked_releases;

// Borrows nothing. project: a file of another one counts for nothing. index: whose page it is, for the marks.
struct yanked_releases *yanked_releases_new(const struct simplepage *page, const char *project, const char *index);
void yanked_releases_free(struct yanked_releases *y);     // NULL is fine
void yanked_releases_cleanup(struct yanked_releases **y); // for CLEANUP
// Whether a release is yanked at all.
bool yanked_releases_has_any(const struct yanked_releases *y);
// What the mark of a file of this release says (lib/state/store/sidecar.h); NULL: the release is not yanked, or not upstream's.
// By the version's key (lib/domain/text/version.h), or by the file's name.
const char *yanked_releases_of_key(const struct yanked_releases *y, struct str version_key);
const char *yanked_releases_of_name(const struct yanked_releases *y, const char *filename);
// Whether upstream has a file of the release that is not yanked.
bool yanked_releases_offers(const struct yanked_releases *y, const char *filename);
