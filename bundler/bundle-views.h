// SPDX-License-Identifier: Apache-2.0
// The memberships of views in a bundle (bundle.h), and the evidence that they stand on, as files of this store. A
// membership that is here already must be the beginning of that in the bundle, or continue it: it has the same bytes
// as far as both go. Where platforms have other names here, each generation is written with these, so that it is the
// same each time. One thread.
#pragma once

#include "bundler/bundle.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/config/config.h"

// The names of platforms in a bundle, and those here.
struct bundle_renames {
	const struct bundle_rename {
		const char *from, *to;
	} * item;
	size_t count;
};
// The name here; the same where no other is given.
const char *bundle_rename(const struct bundle_renames *all, const char *platform);

struct bundle_views {
	const struct config *config;
	const struct bundle_renames *renames;
	char *folder;                                       // of memberships; NULL: not known yet
	char *view;                                         // of the last generation
	int64_t generation;                                 // its number
	uint8_t previous[SHA256_SIZE], sha256[SHA256_SIZE]; // of its file in the bundle, and here
	bool has_new;
};
void bundle_views_release(struct bundle_views *v); // for CLEANUP; all zero but config and renames is a new one

// Takes the text of a row. stores: it is written, if it is not there; else only looked at. ERR_CONFLICT: another
// membership is here; ERR_INVALID: it is none; ERR_USAGE: the configuration has no such view with `from`; ERR_BUSY:
// the folder is frozen.
int bundle_views_generation(struct bundle_views *v, const struct bundle_row *r, struct str text, bool stores,
	struct err *e) MUST_CHECK;
int bundle_views_evidence(struct bundle_views *v, const struct bundle_row *r, struct str text, bool stores,
	struct err *e) MUST_CHECK;
// Brings the catalog up to date with what was written: all pages of a view change at one moment.
int bundle_views_end(struct bundle_views *v, struct catalog *c, struct err *e) MUST_CHECK;
