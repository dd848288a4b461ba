// SPDX-License-Identifier: Apache-2.0
// Writes the entries of a plan to its file, to the catalog (for the web page), and to a callback. One thread at a time.
// Errors of planfile.h, catalog.h and the callback.
#pragma once

#include "lib/state/catalog/catalog.h"
#include "pruner/plan/planfile.h"

typedef int plan_writer_fn(void *ctx, const struct planfile_entry *entry, struct err *e);

struct plan_writer {
	struct planfile_writer *file;
	struct catalog_planner *catalog; // NULL: there is no file, so nothing is written to the catalog
	plan_writer_fn *fn;              // NULL: none
	void *ctx;
	const char *file_name; // without its folder; borrowed; NULL: none
};

// path NULL: no file; it is borrowed. The catalog must not be in a transaction, here and below. To be released in any case.
int plan_writer_open(struct plan_writer *w, const char *path, struct catalog *catalog, plan_writer_fn *fn, void *ctx,
	struct err *e) MUST_CHECK;
// platform: its id.
int plan_writer_add(struct plan_writer *w, int64_t platform, const struct planfile_entry *entry,
	struct err *e) MUST_CHECK;
int plan_writer_finish(struct plan_writer *w, const struct planfile_head *head, struct err *e) MUST_CHECK;
void plan_writer_release(struct plan_writer *w); // discards a plan that was not finished
