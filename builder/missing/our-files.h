// SPDX-License-Identifier: Apache-2.0
// The files of a project that clients of a platform of ours get from it. One thread at a time.
#pragma once

#include "lib/install/index-files.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/store/store.h"

struct rule_list;

// Adds the listed files of files->project on a platform, but those that `denied` has; those that the view does not
// show, unless that is NULL, are not promoted. Errors of catalog.h.
int our_files_add(struct catalog *c, const struct platform *p, const struct rule_list *denied, const char *view,
	struct index_files *files, struct err *e) MUST_CHECK;
