// SPDX-License-Identifier: Apache-2.0
// What is known of the evidence that views expect ([view] expect), so that a restart forgets nothing and a change is told
// of once. One thread at a time for each connection. Errors and callbacks as in catalog.h.
#pragma once

#include "lib/state/catalog/catalog-write.h"

struct catalog_expected {
	const char *view, *kind;
	const char *platform, *python; // the cell; "": the view as a whole
	int64_t known;                 // since when it is expected, seconds since 1970
	int64_t newest;                // when the newest record came that counts; 0: none did
	bool is_silent;                // as was told last
};
// 1: the numbers of *row are set, by its texts; 0: nothing is known.
int catalog_expected_find(struct catalog *c, struct catalog_expected *row, struct err *e) MUST_CHECK;
// In a transaction.
int catalog_expected_put(struct catalog *c, const struct catalog_expected *row, struct err *e) MUST_CHECK;
