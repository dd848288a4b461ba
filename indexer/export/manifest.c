// SPDX-License-Identifier: Apache-2.0
#include "indexer/export/manifest.h"

#include <stdlib.h>
#include <string.h>

static const struct str heading = STR("wheelcache static export 1\n");

void inventory_release(struct inventory *i)
{
	for (size_t k = 0; k < i->count; k++)
		free(i->path[k]);
	free(i->path);
	*i = (struct inventory){0};
}

void inventory_add(struct inventory *i, char *path)
{
	GROW(i->path, i->count, i->room);
	i->path[i->count++] = path;
}

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void inventory_sort(struct inventory *i)
{
	if (i->count)
		qsort(i->path, i->count, sizeof(*i->path), by_bytes);
}

bool inventory_has(const struct inventory *i, const char *path)
{
	return i->count && bsearch(&path, i->path, i->count, sizeof(*i->path), by_bytes);
}

static void print_line(struct buf *out, const char *path)
{
	buf_puts(out, path);
	buf_putc(out, '\n');
}

void inventory_print(const struct inventory *a, const struct inventory *b, struct buf *out)
{
	size_t i = 0, k = 0;
	buf_str(out, heading);
	while (i < a->count || k < b->count) {
		int order = i == a->count ? 1 : k == b->count ? -1 : strcmp(a->path[i], b->path[k]);
		print_line(out, order <= 0 ? a->path[i] : b->path[k]);
		i += order <= 0;
		k += order >= 0;
	}
}

int inventory_parse(struct str text, struct inventory *out, struct err *e)
{
	if (!str_starts(text, heading))
		return err_set(
			e, ERR_USAGE, "was made by another program, or by a newer wheelcache");
	struct str rest = str_slice(text, heading.len, text.len);
	while (rest.len) {
		struct str line = str_cut(&rest, '\n');
		if (line.len)
			inventory_add(out, xstrndup(line.ptr, line.len));
	}
	inventory_sort(out);
	return 0;
}
