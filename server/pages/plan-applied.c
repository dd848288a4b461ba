// SPDX-License-Identifier: Apache-2.0
#include "server/pages/plan-applied.h"

#include <stdlib.h>

#include "lib/state/catalog/catalog-mark.h"
#include "lib/state/store/tombstone.h"

static int read_platform(struct catalog *c, const struct platform *p, bool is_named, const struct catalog_run *run,
	struct plan_applied *out, struct err *e)
{
	uint64_t files = 0;
	CLEANUP(buf_release) struct buf text;
	CLEANUP(tombstone_release) struct tombstone stone = {0};
	buf_init(&text, LIMIT_PAGE);
	if (catalog_run_marks(c, p->id, run, &files, &text, e) < 0)
		return -1;
	if (!files)
		return 0;
	tombstone_read(buf_view(&text), &stone);
	out->files += files;
	if (stone.when >= out->when) {
		out->when = stone.when;
		free(out->by);
		out->by = is_named && stone.by ? xstrdup(stone.by) : NULL;
	}
	return 0;
}

int plan_applied_read(struct catalog *c, const struct platform *const *platform, size_t platforms,
	const struct page_query *asker, const char *id, const struct jsondoc *head, struct plan_applied *out, struct err *e)
{
	struct catalog_run run = {.id = id};
	*out = (struct plan_applied){0};
	if (!head || !jsondoc_get_int(head, "catalog-change", &run.since))
		run.since = 0;
	for (size_t i = 0; i < platforms; i++)
		if (platform[i]->id && read_platform(c, platform[i], asker && page_names(asker, platform[i]), &run, out, e) < 0) {
			plan_applied_release(out);
			return -1;
		}
	return 0;
}

void plan_applied_release(struct plan_applied *a)
{
	free(a->by);
	*a = (struct plan_applied){0};
}

struct jsondoc *plan_applied_json(const struct plan_applied *a)
{
	struct jsondoc *one = jsondoc_object();
	jsondoc_put_time(one, "at", a->when);
	jsondoc_put_str(one, "by", a->by);
	jsondoc_put_str(one, "command", "wheelcache prune apply");
	jsondoc_put_int(one, "files", (int64_t)a->files);
	return one;
}
