// SPDX-License-Identifier: Apache-2.0
#include "indexer/export/manifest.h"

#include <stdlib.h>
#include <string.h>

static const struct str heading = STR("wheelcache static export 1\n");

void manifest_release(struct manifest *m)
{
	for (size_t k = 0; k < m->count; k++)
		free(m->path[k]);
	free(m->path);
	*m = (struct manifest){0};
}

void manifest_add(struct manifest *m, char *path)
{
	GROW(m->path, m->count, m->room);
	m->path[m->count++] = path;
}

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void manifest_sort(struct manifest *m)
{
	if (m->count)
		qsort(m->path, m->count, sizeof(*m->path), by_bytes);
}

bool manifest_has(const struct manifest *m, const char *path)
{
	return m->count && bsearch(&path, m->path, m->count, sizeof(*m->path), by_bytes);
}

static void print_line(struct buf *out, const char *path)
{
	buf_puts(out, path);
	buf_putc(out, '\n');
}

void manifest_print(const struct manifest *a, const struct manifest *b, struct buf *out)
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

int manifest_parse(struct str text, struct manifest *out, struct err *e)
{
	if (!str_starts(text, heading))
		return err_set(e, ERR_USAGE, "was made by another program, or by a newer wheelcache");
	struct str rest = str_slice(text, heading.len, text.len);
	while (rest.len) {
		struct str line = str_cut(&rest, '\n');
		if (line.len)
			manifest_add(out, xstrndup(line.ptr, line.len));
	}
	manifest_sort(out);
	return 0;
}
