// SPDX-License-Identifier: Apache-2.0
// The releases of a project that upstream has yanked: those of which it has yanked all files (PEP 592 yanks files, PyPI
// yanks releases). Pure. One thread at a time.
#pragma once

#include <stdbool.h>

#include "lib/base/str.h"

struct simplepage;
struct yanked_releases;

// project: files of other projects are skipped. index: of the page, for the marks. The arguments are copied.
struct yanked_releases *yanked_releases_new(const struct simplepage *page, const char *project, const char *index);
void yanked_releases_free(struct yanked_releases *y);     // NULL is fine
void yanked_releases_cleanup(struct yanked_releases **y); // for CLEANUP
// Whether any release is yanked.
bool yanked_releases_has_any(const struct yanked_releases *y);
// The text for the yank mark of a file of this release (lib/state/store/sidecar.h); NULL: the release is not yanked, or
// upstream does not have it. By the version's key (lib/domain/text/version.h), or by the file's name. Borrowed from y.
const char *yanked_releases_of_key(const struct yanked_releases *y, struct str version_key);
const char *yanked_releases_of_name(const struct yanked_releases *y, const char *filename);
// Whether upstream has a file of the release that is not yanked.
bool yanked_releases_offers(const struct yanked_releases *y, const char *filename);
