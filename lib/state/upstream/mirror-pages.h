// SPDX-License-Identifier: Apache-2.0
// What the catalog knew of a mirror's projects (mirror.h) when it was filled: a record for each, in a folder beside
// those of the mirrors, so that a catalog that is made again without a network still has their pages. Any thread; any
// number of processes. Errors are ERR_IO and ERR_FULL, if not said otherwise.
#pragma once

#include "lib/state/catalog/catalog-upstream.h"

struct mirror_pins;

// Keeps the rows of a project, in place of those that were kept before, unless only their times differ. Errors of the
// catalog; ERR_LIMIT: LIMIT_MIRROR.
int mirror_pages_keep(const char *folder, struct catalog *c, const char *project, struct err *e) MUST_CHECK;
// Calls fn with each kept row, borrowed for the call; `changed` is 0. A damaged record, which is logged, has none.
// Errors of fn.
int mirror_pages_read(const char *folder, const char *project, catalog_upstream_fn *fn, void *ctx,
	struct err *e) MUST_CHECK;
// Appends the text of a record. 1; 0: there is none.
int mirror_pages_text(const char *folder, const char *project, struct buf *out, struct err *e) MUST_CHECK;
// Keeps such a text, of another index, unless a newer one is kept; and its rows in the catalog, which are newer than
// those there: not inside a transaction. c NULL: only looks. ERR_INVALID: it is no such text.
int mirror_pages_take(const char *folder, struct catalog *c, const char *project, struct str text,
	struct err *e) MUST_CHECK;
// Removes those of projects that no mirror pins any more.
int mirror_pages_sweep(const char *folder, struct mirror_pins *pins, struct err *e) MUST_CHECK;
