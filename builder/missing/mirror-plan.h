// SPDX-License-Identifier: Apache-2.0
// What a mirror to order (lib/state/upstream/mirror.h) needs for lock files: of each platform the wheels of a lock that
// install there, and an sdist where no wheel does. What is ours needs no mirror. One thread.
#pragma once

#include "builder/missing/locked-files.h"
#include "lib/state/upstream/mirror-fill.h"

struct mirror_plan {
	struct locked_files found; // all rows of the locks; what the mirror lacks too
	struct mirror_want *want;  // by project and filename
	size_t wants;
	struct upstreams *upstreams; // of the wants
	struct arena text;
};

// path and options as of locked_files_find(), whose errors there are; ERR_NET: a page is too large to be kept. Upstream
// is asked, unless the options say otherwise. The caller releases *out if this returns 0.
int mirror_plan_make(const struct config *c, const struct store *store, struct catalog *catalog,
	const char *const *path,
	size_t paths, const struct missing_options *options, struct mirror_plan *out, struct err *e) MUST_CHECK;
void mirror_plan_release(struct mirror_plan *p); // for CLEANUP; zeros are allowed
