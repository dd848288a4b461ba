// SPDX-License-Identifier: Apache-2.0
#include "pruner/plan/plan-writer.h"

#include <string.h>

#include "lib/state/catalog/catalog-plan.h"

int plan_writer_open(struct plan_writer *w, const char *path, struct catalog *catalog, plan_writer_fn *fn, void *ctx,
	struct err *e)
{
	const char *slash = path ? strrchr(path, '/') : NULL;
	*w = (struct plan_writer){.fn = fn, .ctx = ctx, .file_name = slash ? slash + 1 : path};
	if (planfile_create(path, &w->file, e) < 0)
		return -1;
	return path ? catalog_plan_begin(catalog, &w->catalog, e) : 0;
}

static int add_entry_to_catalog(struct plan_writer *w, int64_t platform, const struct planfile_entry *f, struct err *e)
{
	const struct catalog_planned planned = {
		.platform = platform,
		.project = f->project,
		.version = f->version,
		.filename = f->filename,
		.path = f->path,
		.size = f->size,
		.mtime_ns = f->mtime_ns,
		.verdict = f->verdict,
		.removes = f->removes,
		.why = f->why,
		.reason = f->reason,
		.upstream = f->evidence.filename,
		.is_identical = f->evidence.is_identical,
	};
	return catalog_plan_add(w->catalog, &planned, e);
}

int plan_writer_add(struct plan_writer *w, int64_t platform, const struct planfile_entry *entry, struct err *e)
{
	if (planfile_add(w->file, entry, e) < 0 || (w->catalog && add_entry_to_catalog(w, platform, entry, e) < 0))
		return -1;
	return w->fn ? w->fn(w->ctx, entry, e) : 0;
}

int plan_writer_finish(struct plan_writer *w, const struct planfile_head *head, struct err *e)
{
	if (planfile_finish(w->file, head, e) < 0)
		return -1;
	if (!w->catalog)
		return 0;
	CLEANUP(buf_release) struct buf text;
	struct planfile_head named = *head;
	named.file = w->file_name;
	buf_init(&text, SIZE_MAX / 2);
	planfile_write_head(&named, &text);
	return catalog_plan_finish(w->catalog, head->id, head->made, text.data, e);
}

void plan_writer_release(struct plan_writer *w)
{
	planfile_cleanup(&w->file);
	catalog_plan_cleanup(&w->catalog);
}
