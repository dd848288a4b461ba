// SPDX-License-Identifier: Apache-2.0
// Files that the newest generation of a view's membership has ([view NAME] from): nothing unlists or deletes them. The
// operator demotes them first. A prune that writes a tombstone looks again afterwards, and takes the tombstone back if
// a view has taken the file in the meantime; a promotion writes its generation, and then looks for tombstones. So no
// lock is needed between machines. One thread at a time for each catalog connection.
#pragma once

#include "lib/state/catalog/catalog.h"
#include "lib/state/config/config.h"

// The reason why a file stays, with the name of the view.
#define PINS_WORDS "pinned by view %s: wheelcache demote first"

// Brings the catalog's memberships up to date with the store's. ERR_INVALID: a view's membership is damaged, so that
// its pins are not known, and nothing may be removed.
int pins_sync(const struct config *config, struct catalog *c, struct err *e) MUST_CHECK;
// The name of a view that has the file; the caller frees it. NULL: none.
int pins_find(struct catalog *c, int64_t platform, const char *filename, const uint8_t sha256[SHA256_SIZE], char **view,
	struct err *e) MUST_CHECK;
// Appends the names of all views that have the file, with ", " between.
int pins_views(const struct config *config, struct catalog *c, int64_t platform, const char *filename,
	const uint8_t sha256[SHA256_SIZE], struct buf *names, struct err *e) MUST_CHECK;
