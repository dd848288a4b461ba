// SPDX-License-Identifier: Apache-2.0
#include "builder/missing/our-files.h"

#include "lib/state/catalog/catalog-view.h"
#include "lib/state/upstream/rule-list.h"

struct adding_ours {
	struct catalog *catalog;
	const struct platform *platform;
	const struct rule_list *denied;
	const char *view;
	struct index_files *files;
};

static int add_one_of_ours(void *ctx, const struct catalog_file *file, struct err *e)
{
	struct adding_ours *x = ctx;
	if (rule_list_find(x->denied, x->files->project, file->filename, x->platform->name))
		return 0;
	int shows = x->view ? catalog_view_has(x->catalog, x->view, GENERATION_NEWEST, x->platform->id, file->filename,
				      file->sha256, e)
			    : 1;
	if (shows >= 0)
		index_files_add_ours(x->files, x->platform->id, file, shows);
	return shows < 0 ? -1 : 0;
}

int our_files_add(struct catalog *c, const struct platform *p, const struct rule_list *denied, const char *view,
	struct index_files *files, struct err *e)
{
	struct adding_ours x = {c, p, denied, view, files};
	return p->id ? catalog_project_files(c, p->id, files->project, add_one_of_ours, &x, e) : 0;
}
