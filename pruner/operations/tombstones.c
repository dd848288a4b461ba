// SPDX-License-Identifier: Apache-2.0
#include "pruner/operations/tombstones.h"

#include <stdlib.h>
#include <string.h>

#include "lib/state/catalog/catalog-mark.h"

struct tombstones_load_state {
	struct tombstones *tombstones;
	const struct tombstones_wanted *wanted;
	const struct platform *platform;
};

static const char *copy_to_arena(struct arena *text, const char *s)
{
	return s ? arena_copy(text, str_from(s)) : NULL;
}

void tombstones_add(struct tombstones *t, const struct tombstones_file *found)
{
	GROW(t->item, t->count, t->room);
	struct tombstones_file *one = &t->item[t->count++];
	*one = *found;
	const char **const kept[] = {&one->filename, &one->folder, &one->text, &one->project, &one->version,
		&one->requires_python, &one->refusal};
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		*kept[i] = copy_to_arena(&t->text, *kept[i]);
}

static int add_marked_file(void *ctx, const struct catalog_marked *mark, struct err *e UNUSED)
{
	const struct tombstones_load_state *l = ctx;
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
	if (!l->wanted->matches || l->wanted->matches(l->wanted->ctx, &one, &stone))
		tombstones_add(l->tombstones, &one);
	return 0;
}

int tombstones_load(struct tombstones *out, const struct store *store, struct catalog *catalog,
	const struct tombstones_wanted *wanted, struct err *e)
{
	size_t platforms = 0;
	*out = (struct tombstones){0};
	for (size_t i = 0; i < store->platform_count; i++) {
		struct tombstones_load_state l = {out, wanted, &store->platform[i]};
		if (!store_is_wanted(wanted->glob, wanted->globs, l.platform->name))
			continue;
		platforms++;
		if (l.platform->id && catalog_marks(catalog, l.platform->id, MARK_PRUNED, add_marked_file, &l, e) < 0)
			return -1;
	}
	return platforms || !wanted->globs ? 0 : store_refuse_platform(store, wanted->glob[0], ERR_NOT_FOUND, e);
}

void tombstones_release(struct tombstones *t)
{
	free(t->item);
	arena_release(&t->text);
	*t = (struct tombstones){0};
}
