// SPDX-License-Identifier: Apache-2.0
// The folder of a static export, which a web server serves. Each file is written whole or not at all; what is no longer
// wanted is removed. Files that are up to date are not touched; files that wheelcache did not make are neither replaced
// nor removed. One thread at a time, and one process: the folder is locked.
#pragma once

#include <stdint.h>

#include "indexer/export/manifest.h"
#include "lib/view/page.h"

struct docroot;

struct docroot_counts {
	uint64_t written, removed, kept; // files and links; kept: were up to date
};

// The file names of a page, which is a folder: each format, plain and packed.
extern const char *const docroot_page_file[PAGE_FORMAT_COUNT][PAGE_CODING_COUNT];

// Opens the folder, and creates it where it is missing (its parent must exist). Released with docroot_cleanup.
// ERR_USAGE where it is not empty and wheelcache did not make it, ERR_BUSY where another process has it open; ERR_IO.
int docroot_open(const char *path, struct docroot **out, struct err *e) MUST_CHECK;
void docroot_cleanup(struct docroot **d); // for CLEANUP; NULL is fine
// Borrowed from d.
const struct docroot_counts *docroot_counts(const struct docroot *d);

// Writes all paths that will be put to the marker, before the first put: the next run then knows what a killed run has
// made. ERR_CONFLICT where a path exists and wheelcache did not make it. Paths are below the folder; wanted is sorted.
int docroot_claim(struct docroot *d, const struct manifest *wanted, struct err *e) MUST_CHECK;
// Each puts one claimed path. The path of a page ends in "/"; it is put one format at a time. The target of a link is
// absolute. The link itself is relative where it and its target are below the same top-level folder, so that this
// folder may be mounted elsewhere. ERR_IO.
int docroot_page(struct docroot *d, const char *path, enum page_format format, struct str page,
	struct err *e) MUST_CHECK;
// Says that what is put from now on has links to what was put: it gets no older mtime.
void docroot_next(struct docroot *d);
int docroot_file(struct docroot *d, const char *path, struct str bytes, struct err *e) MUST_CHECK;
int docroot_link(struct docroot *d, const char *path, const char *target, struct err *e) MUST_CHECK;
// Removes all claimed paths that are not wanted: pages first, then the files that they link to.
int docroot_settle(struct docroot *d, const struct manifest *wanted, struct err *e) MUST_CHECK;
