// SPDX-License-Identifier: Apache-2.0
// Views: what a client sees under one index URL. A view is an ordered list of platforms; where two of them have
// a file of the same name, the first one's is seen.
#pragma once

#include "lib/base/err.h"
#include "lib/base/strset.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/config/config.h"
#include "lib/state/store/store.h"
#include "lib/state/upstream/name-rules.h"
#include "lib/view/wheel-filter.h"

struct view {
	char *name;                       // NULL: /simple/ itself
	const struct platform **platform; // borrowed from the store
	size_t platform_count;
	bool is_private;    // one of them is
	bool is_incomplete; // one was never scanned, and may hold anything: there is no saying what the view has
	bool merges;        // it has what upstream has, too,
	struct wheel_filter fitting; // of its wheels those that fit
	const char *base;            // what links to files begin with: an absolute URL that ends in "/", borrowed;
				     // NULL: they are relative to the page
};

// All views of a configuration over a store. Read-only after site_init, so any thread may read.
struct site {
	struct store store; // registered in the catalog
	char *base;         // of all views
	struct view *view;  // [0] is the default; then a view a platform, then those of the configuration
	size_t view_count;
	bool has_private;               // a platform is private
	struct strset hidden_platforms; // the names of those whose projects upstream is not to hear of, sorted
	uint64_t page_max_age;          // seconds
	uint64_t max_file;              // bytes: a larger one is not taken
	struct name_rules rules;        // for the names of views that merge
	bool merges;                    // one of the views does
	bool merges_publicly;           // one that is not private
	bool redirects;                 // to upstream's files, instead of getting them from there
	bool is_offline;                // upstream is not asked
	bool redirects_same,
		redirects_others; // what was pruned, to upstream's same file, or to the one that does as well
};

// Takes the store over (also where it fails). The catalog is read for the ids only.
int site_init(struct site *s, const struct config *c, struct store *store, struct catalog *catalog,
	struct err *e) MUST_CHECK;
void site_release(struct site *s);
// As if no view had what upstream has.
void site_unmerge(struct site *s);
// NULL where there is none; an empty name is the default view.
const struct view *site_view(const struct site *s, struct str name);
const struct platform *site_platform(const struct site *s, struct str name);

typedef int view_file_fn(void *ctx, const struct platform *platform, const struct catalog_file *file, struct err *e);
// The files of a project that the view shows, each name once, by version key, then file name.
// project is normalised. Calls nothing where there is none.
int view_files(const struct view *v, struct catalog *c, const char *project, view_file_fn *fn, void *ctx,
	struct err *e) MUST_CHECK;
typedef int view_name_fn(void *ctx, const char *project, struct err *e);
// The names of all projects of the view, each once, sorted by bytes.
int view_projects(const struct view *v, struct catalog *c, view_name_fn *fn, void *ctx, struct err *e) MUST_CHECK;
