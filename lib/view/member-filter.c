// SPDX-License-Identifier: Apache-2.0
#include "lib/view/member-filter.h"

#include "lib/state/catalog/catalog-view.h"

// Passes the members on.
struct member_reading {
	const struct member_filter *filter;
	struct catalog *catalog;
	catalog_file_fn *fn;
	void *ctx;
};

static int pass_member(void *ctx, const struct catalog_file *file, struct err *e)
{
	const struct member_reading *r = ctx;
	int has = catalog_view_has(r->catalog, r->filter->view, r->filter->generation, file->platform, file->filename,
		file->sha256, e);
	return has > 0 ? r->fn(r->ctx, file, e) : has;
}

int member_filter_files(const struct member_filter *f, struct catalog *c, int64_t platform, const char *project,
	catalog_file_fn *fn, void *ctx, struct err *e)
{
	struct member_reading r = {f, c, fn, ctx};
	return f->view ? catalog_project_files(c, platform, project, pass_member, &r, e)
		       : catalog_project_files(c, platform, project, fn, ctx, e);
}

int member_filter_projects(const struct member_filter *f, struct catalog *c, int64_t platform, catalog_project_fn *fn,
	void *ctx, struct err *e)
{
	return f->view ? catalog_view_projects(c, f->view, f->generation, platform, fn, ctx, e)
		       : catalog_projects(c, platform, fn, ctx, e);
}
