// SPDX-License-Identifier: Apache-2.0
// A project's files here and upstream as one list: each name once, and a name that upstream serves is upstream's, for its
// hash is in people's lock files. What upstream yanked, a whole release, is yanked here too. Pure but for the catalog.
#pragma once

#include "lib/state/upstream/upstream.h"
#include "lib/view/render.h"
#include "lib/view/view.h"

// How it stands (PEP 792), as far as a page has to say so; NULL: it need not.
const char *merge_upstream_status(const struct upstream_answer *upstream);
const char *merge_upstream_status_reason(const struct upstream_answer *upstream);

typedef void merge_upstream_file_fn(void *ctx, const struct listed *listed);
typedef void merge_upstream_version_fn(void *ctx, const struct version *version);
// By version, then file name; upstream's whose names have no version come last. Then upstream's versions that have no
// file there, each once. Where there is no file of ours, upstream's as they stand there, and its versions, which spares looking into
// thousands of names. In place of a wheel of upstream that does not fit the view (lib/view/wheel-filter) there is its version, where
// the files come by version; one whose name is ours too is listed. Nothing of a project that upstream has in quarantine.
// *is_known: whether upstream has the project, so that there is a page also without files.
int merge_upstream_files(const struct view *v, struct catalog *c, const char *project,
	const struct upstream_answer *upstream, merge_upstream_file_fn *file, merge_upstream_version_fn *version,
	void *ctx, bool *is_known, struct err *e) MUST_CHECK;
