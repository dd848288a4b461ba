// SPDX-License-Identifier: Apache-2.0
#include "pruner/plan/plan-writer.h"

#include "lib/state/catalog/catalog-plan.h"

int plan_writer_open(struct plan_writer *l, const char *path, struct catalog *catalog, plan_writer_fn *fn, void *ctx,
	struct err *e)
{
	*l = (struct plan_writer){.fn = fn, .ctx = ctx};
	if (planfile_create(path, &l->file, e) < 0)
		return -1;
	return path ? catalog_plan_begin(catalog, &l->catalog, e) : 0;
}

static int add_to_catalog(struct plan_writer *l, int64_t platform, const struct planfile_entry *f, struct err *e)
{
	const struct catalog_planned planned = {
		.platform = platform,
		.project = f->project,
		.version = f->version,
		.filename = f->filename,
		.path = f->path,
		.size = f->size,
		.verdict = f->verdict,
		.removes = f->removes,
		.why = f->why,
		.reason = f->reason,
		.upstream = f->evidence.filename,
		.is_identical = f->evidence.is_identical,
	};
	return catalog_plan_add(l->catalog, &planned, e);
}

int plan_writer_add(struct plan_writer *l, int64_t platform, const struct planfile_entry *entry, struct err *e)
{
	if (planfile_add(l->file, entry, e) < 0 || (l->catalog && add_to_catalog(l, platform, entry, e) < 0))
		return -1;
	return l->fn ? l->fn(l->ctx, entry, e) : 0;
}

int plan_writer_finish(struct plan_writer *l, const struct planfile_head *head, struct err *e)
{
	if (planfile_finish(l->file, head, e) < 0)
		return -1;
	if (!l->catalog)
		return 0;
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, SIZE_MAX / 2);
	planfile_write_head(head, &text);
	return catalog_plan_finish(l->catalog, head->id, head->made, text.data, e);
}

void plan_writer_release(struct plan_writer *l)
{
	planfile_cleanup(&l->file);
	catalog_plan_cleanup(&l->catalog);
}
