// SPDX-License-Identifier: Apache-2.0
// Where the entries of a plan go: into its file, into the catalog for people to look at, and to whoever listens. One
// thread.
#pragma once

#include "lib/state/catalog/catalog.h"
#include "pruner/plan/planfile.h"

typedef int plan_writer_fn(void *ctx, const struct planfile_entry *entry, struct err *e);

struct plan_writer {
	struct planfile_writer *file;
	struct catalog_planner *catalog; // NULL: what is in no file is not in the catalog
	plan_writer_fn *fn;              // NULL: nobody listens
	void *ctx;
};

// path NULL: no file. The catalog must be in no transaction, here and below. To be released whatever it returned.
int plan_writer_open(struct plan_writer *l, const char *path, struct catalog *catalog, plan_writer_fn *fn, void *ctx,
	struct err *e) MUST_CHECK;
// platform: its id.
int plan_writer_add(struct plan_writer *l, int64_t platform, const struct planfile_entry *entry,
	struct err *e) MUST_CHECK;
int plan_writer_finish(struct plan_writer *l, const struct planfile_head *head, struct err *e) MUST_CHECK;
void plan_writer_release(struct plan_writer *l); // what was not finished counts for nothing
