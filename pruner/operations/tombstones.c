// SPDX-License-Identifier: Apache-2.0
#include "pruner/operations/tombstones.h"

#include <stdlib.h>
#include <string.h>

#include "lib/state/catalog/catalog-mark.h"

struct loading {
	struct tombstones *tombstones;
	const struct tombstones_wanted *wanted;
	const struct platform *platform;
};

static const char *keep(struct arena *text, const char *s)
{
	return s ? arena_copy(text, str_from(s)) : NULL;
}

void tombstones_add(struct tombstones *g, const struct tombstones_file *found)
{
	GROW(g->item, g->count, g->room);
	struct tombstones_file *one = &g->item[g->count++];
	*one = *found;
	const char **const kept[] = {&one->filename, &one->folder, &one->text, &one->project, &one->version,
		&one->requires_python, &one->refusal};
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		*kept[i] = keep(&g->text, *kept[i]);
}

static int take(void *ctx, const struct catalog_marked *mark, struct err *e UNUSED)
{
	const struct loading *l = ctx;
	struct tombstones_file one = {
		.platform = l->platform,
		.filename = mark->filename,
		.folder = mark->folder_path,
		.text = mark->text ? mark->text : mark->reason,
		.has_file = mark->has_file,
		.size = mark->size,
		.mtime_ns = mark->mtime_ns,
		.has_sha256 = mark->sha256 != NULL,
		.project = mark->project,
		.version = mark->version,
		.requires_python = mark->requires_python,
		.refusal = mark->refusal,
	};
	if (mark->sha256)
		memcpy(one.sha256, mark->sha256, SHA256_SIZE);
	CLEANUP(tombstone_release) struct tombstone stone;
	tombstone_read(str_from(one.text), &stone);
	if (!l->wanted->fits || l->wanted->fits(l->wanted->ctx, &one, &stone))
		tombstones_add(l->tombstones, &one);
	return 0;
}

int tombstones_load(struct tombstones *out, const struct store *store, struct catalog *catalog,
	const struct tombstones_wanted *wanted, struct err *e)
{
	size_t platforms = 0;
	*out = (struct tombstones){0};
	for (size_t i = 0; i < store->platform_count; i++) {
		struct loading l = {out, wanted, &store->platform[i]};
		if (!store_is_wanted(wanted->glob, wanted->globs, l.platform->name))
			continue;
		platforms++;
		if (l.platform->id && catalog_marks(catalog, l.platform->id, MARK_PRUNED, take, &l, e) < 0)
			return -1;
	}
	return platforms || !wanted->globs ? 0 : err_set(e, ERR_NOT_FOUND, "no platform of the store has such a name");
}

void tombstones_release(struct tombstones *g)
{
	free(g->item);
	arena_release(&g->text);
	*g = (struct tombstones){0};
}
