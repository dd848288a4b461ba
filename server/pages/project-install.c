// SPDX-License-Identifier: Apache-2.0
#include "server/pages/project-install.h"

#include <string.h>

#include "lib/state/store/retired.h"
#include "server/pages/install-index.h"

static bool has_file(const struct project_data *d, const struct platform *p)
{
	for (size_t i = 0; i < d->files.files; i++)
		if (strcmp(d->files.file[i].platform, p->name) == 0)
			return true;
	return false;
}

// The platforms with a file of the version, those in use first; of upstream's project all. The caller frees the array.
static const struct platform **list_homes(const struct project_data *d, const struct project_query *q, size_t *count)
{
	const struct platform **list = xcalloc(q->platforms + 1, sizeof(const struct platform *));
	*count = 0;
	for (int retired = 0; retired < 2; retired++)
		for (size_t i = 0; i < q->platforms; i++)
			if (retired_is(q->platform[i]) == retired &&
				(d->matrix.has_upstreams || has_file(d, q->platform[i])))
				list[(*count)++] = q->platform[i];
	return list;
}

static bool has_any(const struct view *v, const struct platform *const *homes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (view_has(v, homes[i]))
			return true;
	return false;
}

// Of a page of no view: the default one, if that has what the page shows. NULL: none has it.
static const struct view *choose_view(const struct project_data *d, const struct project_query *q,
	const struct platform *const *homes, size_t count)
{
	const struct site *s = q->site;
	if (!d->matrix.has_upstreams) {
		const struct view *first = q->view ? q->view : &s->view[0];
		if (has_any(first, homes, count) && (q->view || (!first->membership && project_query_reads(q, first))))
			return first;
		return count && !q->view ? site_view(s, str_from(homes[0]->name)) : NULL;
	}
	if (q->view)
		return q->view->merges ? q->view : NULL;
	for (size_t i = 0; i < s->view_count; i++)
		if (s->view[i].merges && project_query_reads(q, &s->view[i]))
			return &s->view[i];
	return NULL;
}

bool project_install_find(const struct project_data *d, const struct project_query *q, struct client_index *index,
	struct buf *command)
{
	size_t count;
	CLEANUP(mem_free) const struct platform **homes = list_homes(d, q, &count);
	const struct view *v = d->matrix.version ? choose_view(d, q, homes, count) : NULL;
	if (!v)
		return false;
	CLEANUP(mem_free)
	char *requirement = *q->version ? xasprintf("%s==%s", q->project, d->matrix.version) : xstrdup(q->project);
	*index = install_index_of(q->site, v, homes, count, q->base);
	install_index_command(index, requirement, command);
	return true;
}
