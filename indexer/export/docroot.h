// SPDX-License-Identifier: Apache-2.0
// The folder of a static export, as a web server serves it: puts files there, each whole or not at
// all, and takes away what is not wanted any more. What is right already is not touched; what
// somebody else put there is neither replaced nor removed. One thread, and one process: the folder
// is locked.
#pragma once

#include <stdint.h>

#include "indexer/export/manifest.h"
#include "lib/view/page.h"

struct docroot;

struct docroot_counts {
	uint64_t written, removed, kept; // files and links
};

// A page is a folder with these files: the forms, plain and packed.
extern const char *const docroot_page_file[PAGE_FORMAT_COUNT][PAGE_CODING_COUNT];

// Opens the folder, made where it is missing (its parent must be there). ERR_USAGE where it has
// anything in it and was not made by us, ERR_BUSY where another process is at it.
int docroot_open(const char *path, struct docroot **out, struct err *e) MUST_CHECK;
void docroot_cleanup(struct docroot **d); // for CLEANUP; NULL is fine
const struct docroot_counts *docroot_counts(const struct docroot *d);

// Takes the names of all that will be put, before any is: what a killed run leaves is known to be
// ours. ERR_CONFLICT where one is there already and not ours. Paths are below the folder; wanted is
// sorted.
int docroot_claim(struct docroot *d, const struct manifest *wanted, struct err *e) MUST_CHECK;
// Put one thing each; path was claimed. A page is put a form at a time; its path ends in "/". A
// link's target is absolute, but the link relative where both are below one top-level folder, which
// may then be mounted elsewhere.
int docroot_page(struct docroot *d, const char *path, enum page_format format, struct str page,
	struct err *e) MUST_CHECK;
int docroot_file(struct docroot *d, const char *path, struct str bytes, struct err *e) MUST_CHECK;
int docroot_link(struct docroot *d, const char *path, const char *target, struct err *e) MUST_CHECK;
// Removes all of ours that is not wanted: pages first, then what they led to.
int docroot_settle(struct docroot *d, const struct manifest *wanted, struct err *e) MUST_CHECK;
