// SPDX-License-Identifier: Apache-2.0
// Merges a project's files here and upstream into one list. Each name occurs once. A name that upstream has is
// upstream's, because its hash is in lock files. A release that upstream yanked completely is yanked here too. What of
// upstream is not offered (lib/state/upstream/offering.h) is as if it were not there. It reads only the catalog. One
// thread at a time per catalog connection.
#pragma once

#include "lib/domain/index/simplepage.h"
#include "lib/domain/text/requirement.h"
#include "lib/state/upstream/upstream.h"
#include "lib/view/view.h"

// A file on a page. Borrowed.
struct page_file {
	const char *place; // in its URL: the platform, or "upstream"
	const char *upstream_name; // after it in its URL: that of upstream_home(); NULL: none
	// Upstream's files: platform is 0, version and sha256 may be NULL, size and mtime_ns are unset
	struct catalog_file file;
	const struct simplepage_file *upstream; // the file on upstream's page; NULL: the file is ours
};

// The project's status (PEP 792) and its reason, if the page must show them; NULL: it need not. Borrowed.
const char *merge_upstream_status(const struct upstream_answer *upstream);
const char *merge_upstream_status_reason(const struct upstream_answer *upstream);

// Whether a view with a membership keeps upstream's files of this project (normal form) out: a platform of the view
// where its files come from lists the project, so that they come into the view by promotion alone, unless a name rule
// of the operator decides. It does not depend on what was promoted. A private platform that the view does not have
// decides nothing, because the answer would tell its names. Always false of other views. Errors of the catalog.
int merge_upstream_is_kept_out(const struct view *v, struct catalog *c, const char *project, enum name_rule rule,
	bool *is_kept_out, struct err *e) MUST_CHECK;

typedef void merge_upstream_file_fn(void *ctx, const struct page_file *listed);
typedef void merge_upstream_version_fn(void *ctx, const struct version *version);
// Calls file for each file, ordered by version, then file name; files of upstream whose names have no version come
// last. Then it calls version for each version of upstream that has no file, once. The arguments are borrowed for the
// call.
//
// If no file is ours, upstream's files keep upstream's order and only its versions follow, because parsing thousands of
// names is expensive. A wheel that the view's filter (lib/view/wheel-filter) rejects is omitted unless its name is here
// too; if the files are ordered by version, version is called in its place. A project that upstream has quarantined has
// no files. *is_known is whether upstream has the project; then it has a page even without files. *denied: the first
// line of v->denied that hides a file of ours, borrowed from it; NULL: none does.
int merge_upstream_files(const struct view *v, struct catalog *c, const char *project,
	const struct upstream_answer *upstream, merge_upstream_file_fn *file, merge_upstream_version_fn *version,
	void *ctx, bool *is_known, const struct requirement **denied, struct err *e) MUST_CHECK;
