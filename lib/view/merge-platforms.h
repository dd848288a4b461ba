// SPDX-License-Identifier: Apache-2.0
// Merges the contents of several platforms: files by name, where the first platform that has the name wins, and project
// names, each once. Of members of a view that have one name and other bytes none is passed on. A filter with shows_each
// merges no files. Files that the filter omits hide no file of another platform. A project's files, or all names, are
// in memory during the call. One thread at a time per catalog connection. What a callback gets is borrowed for the
// call; an error that it returns ends the walk.
#pragma once

#include "lib/base/err.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/store/store.h"
#include "lib/view/member-filter.h"

typedef int merge_platforms_file_fn(void *ctx, const struct platform *platform, const struct catalog_file *file,
	struct err *e);
// Calls fn for the files of a project (normal form), ordered by version key, then file name.
int merge_platforms_files(const struct platform *const *platform, size_t count, const struct member_filter *filter,
	struct catalog *c, const char *project, merge_platforms_file_fn *fn, void *ctx, struct err *e) MUST_CHECK;

typedef int merge_platforms_name_fn(void *ctx, const char *project, struct err *e);
// Calls fn for all project names, sorted by bytes.
int merge_platforms_projects(const struct platform *const *platform, size_t count, const struct member_filter *filter,
	struct catalog *c, merge_platforms_name_fn *fn, void *ctx, struct err *e) MUST_CHECK;
