// SPDX-License-Identifier: Apache-2.0
// The static export: files for a plain web server (docs/static.md). It has the pages of every view and part of one that
// is not private, byte for byte as a server answers them, with links to the wheels and their metadata.
#pragma once

#include <stdint.h>

#include "indexer/walk/summary.h"
#include "lib/base/err.h"
#include "lib/state/catalog/catalog.h"
#include "lib/view/view.h"

struct export_options {
	const char *folder;
	const char *base; // prefix of the links in pages; NULL: links are relative
	void (*progress)(void *ctx, uint64_t done, uint64_t all); // counts pages, files and links; NULL: none
	void *ctx;
};

// Checks the options before a scan; writes nothing. ERR_USAGE where the folder is in the store or holds it, or base is
// no URL.
int export_check(const struct site *site, const struct export_options *options, struct err *e) MUST_CHECK;
// Brings the folder up to date with the catalog, in an order that never has a page link to a missing file, and adds its
// counts to summary. A run that was killed is continued by the next. In the calling thread; the catalog must not be in
// use. Errors of docroot.h and catalog.h; what was done before the error stays.
int export_run(const struct site *site, struct catalog *catalog, const struct export_options *options,
	struct summary *summary, struct err *e) MUST_CHECK;
