// SPDX-License-Identifier: Apache-2.0
// The mirrors in a bundle (bundle.h): what they keep of upstreams, with the pages of its projects as they were, so that
// a server without a network gives it to clients. A file is in the cache of its upstream on both sides, which has the
// same name there. One thread. Errors of mirror.h, mirror-pages.h and file-cache.h.
#pragma once

#include "bundler/bundle.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/config/config.h"
#include "lib/state/upstream/file-cache.h"
#include "lib/state/upstream/mirror-fill.h"

struct mirror_pins;

struct bundle_mirrors {
	const struct config *config;
	struct catalog *catalog;
	const char *by; // the account
	char *folder;   // of mirrors
	struct mirror_pins *pins;
	struct file_cache *cache[LIMIT_UPSTREAMS]; // by the number of the upstream; NULL: not open
	struct file_cache_writer *writer;
	struct mirror_want *want; // what was looked at
	size_t wants, room;
	struct arena text;
};
void bundle_mirrors_init(struct bundle_mirrors *m, const struct config *config, struct catalog *c, const char *by);
void bundle_mirrors_release(struct bundle_mirrors *m); // for CLEANUP

// --- making ---

// Calls fn with each row of a mirror: its record, its files, and the pages of its projects. Strings live as long as m.
// ERR_NOT_FOUND: there is no such mirror, or it lacks files.
typedef int bundle_mirrors_fn(void *ctx, const struct bundle_row *r, struct err *e);
int bundle_mirrors_each(struct bundle_mirrors *m, const char *name, bundle_mirrors_fn *fn, void *ctx,
	struct err *e) MUST_CHECK;
// The bytes of a file. The caller closes out->fd.
int bundle_mirrors_open(struct bundle_mirrors *m, const struct bundle_row *r, struct file_cache_file *out,
	struct err *e) MUST_CHECK;
// Appends those of a record or a page.
int bundle_mirrors_text(const struct bundle_mirrors *m, const struct bundle_row *r, struct buf *out,
	struct err *e) MUST_CHECK;

// --- loading ---

// 1: the cache has the file; 0: it has not. ERR_USAGE: no upstream has this name here.
int bundle_mirrors_look(struct bundle_mirrors *m, const struct bundle_row *r, struct err *e) MUST_CHECK;
// ERR_FULL: no disk has the room for what was looked at and is not here.
int bundle_mirrors_check(struct bundle_mirrors *m, struct err *e) MUST_CHECK;
// A record or a page. stores: the mirror gets the files of the record too, and the newer page of a project is kept.
int bundle_mirrors_take(struct bundle_mirrors *m, const struct bundle_row *r, struct str text, bool stores,
	struct err *e) MUST_CHECK;
// A file, after the record of its mirror: begin, add, end.
int bundle_mirrors_begin(struct bundle_mirrors *m, const struct bundle_row *r, struct err *e) MUST_CHECK;
int bundle_mirrors_add(struct bundle_mirrors *m, struct str bytes, struct err *e) MUST_CHECK;
int bundle_mirrors_end(struct bundle_mirrors *m, const struct bundle_row *r, struct err *e) MUST_CHECK;
