// SPDX-License-Identifier: Apache-2.0
#include "indexer/walk/folder.h"

#include <stdlib.h>

#include "lib/base/mem.h"

struct folder *folder_new(struct folder *parent, const char *name)
{
	struct folder *f = xcalloc(1, sizeof(*f));
	atomic_init(&f->refs, 1);
	atomic_init(&f->pending, 1);
	f->path = parent ? folder_file(parent, name) : xstrdup("");
	if (parent) {
		f->parent = folder_ref(parent);
		f->platform = parent->platform;
		f->platform_index = parent->platform_index;
		f->depth = parent->depth + 1;
	}
	return f;
}

struct folder *folder_ref(struct folder *f)
{
	atomic_fetch_add(&f->refs, 1);
	return f;
}

void folder_unref(struct folder *f)
{
	while (f && atomic_fetch_sub(&f->refs, 1) == 1) {
		struct folder *parent = f->parent;
		free(f->path);
		free(f);
		f = parent;
	}
}

char *folder_file(const struct folder *f, const char *filename)
{
	return *f->path ? xasprintf("%s/%s", f->path, filename) : xstrdup(filename);
}

bool folder_is_circle(const struct folder *f, const struct place_info *info)
{
	for (; f && info->device; f = f->parent)
		if (f->info.device == info->device && f->info.version.id == info->version.id)
			return true;
	return false;
}
