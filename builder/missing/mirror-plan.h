// SPDX-License-Identifier: Apache-2.0
// What a mirror to order (lib/state/upstream/mirror.h) needs for lock files, requirements and lists of projects: of
// each platform the wheels that install there, and an sdist where no wheel does. What is ours needs no mirror. One
// thread.
#pragma once

#include "builder/missing/locked-files.h"
#include "lib/state/upstream/mirror-fill.h"

struct mirror_paths {
	const char *const *path;
	size_t count;
};

// What a mirror is for.
struct mirror_sources {
	struct mirror_paths locks, requirements, top;
	uint64_t versions; // of each project of `top`
	bool wants_builds; // what sdists require to be built, too
};

struct mirror_plan {
	struct locked_files found; // all rows; what the mirror lacks too
	struct mirror_want *want;  // by project and filename
	const char **licence;      // of each; NULL: its METADATA names none, or is not known before it is fetched
	size_t wants;
	struct upstreams *upstreams; // of the wants
	struct arena text;
};

// Errors of locked_files_find() and required-files.h; ERR_NET: a page is too large to be kept. Upstream is asked,
// unless the options say otherwise. The caller releases *out if this returns 0.
int mirror_plan_make(const struct config *c, const struct store *store, struct catalog *catalog,
	const struct mirror_sources *sources, const struct missing_options *options, struct mirror_plan *out,
	struct err *e) MUST_CHECK;
void mirror_plan_release(struct mirror_plan *p); // for CLEANUP; zeros are allowed
