// SPDX-License-Identifier: Apache-2.0
// The static export: the pages of every view that is not private as files, byte for byte what a server answers, beside
// links to the wheels and their metadata, for a web server that knows nothing of wheelcache
// (docs/static.md).
#pragma once

#include <stdint.h>

#include "indexer/walk/summary.h"
#include "lib/base/err.h"
#include "lib/state/catalog/catalog.h"
#include "lib/view/view.h"

struct export_options {
	const char *folder;
	const char *base; // the pages link to files below this URL; NULL: relative to themselves
	void (*progress)(void *ctx, uint64_t done, uint64_t all); // pages, files and links; NULL: none
	void *ctx;
};

// Checks what can be checked before a scan; nothing is written. ERR_USAGE where the folder is in
// the store or holds it, or the URL is none.
int export_check(const struct site *site, const struct export_options *options, struct err *e) MUST_CHECK;
// Brings the folder up to date with the catalog, in an order in which no page ever leads to what is
// not there, and adds to summary what was done. Killed at any moment, the next run goes on. In the
// calling thread; the catalog must not be in use. Errors of docroot.h and catalog.h; what was done
// until then stays.
int export_run(const struct site *site, struct catalog *catalog, const struct export_options *options,
	struct summary *summary, struct err *e) MUST_CHECK;
