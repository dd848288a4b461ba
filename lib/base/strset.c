// SPDX-License-Identifier: Apache-2.0
#include "lib/base/strset.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/mem.h"

void strset_add(struct strset *n, const char *name)
{
	GROW(n->item, n->count, n->room);
	n->item[n->count++] = xstrdup(name);
}

static int compare_items(const void *a, const void *b)
{
	char *const *left = a, *const *right = b;
	return strcmp(*left, *right);
}

void strset_sort(struct strset *n)
{
	size_t kept = 0;
	if (n->count)
		qsort(n->item, n->count, sizeof(*n->item), compare_items);
	for (size_t i = 0; i < n->count; i++)
		if (kept && strcmp(n->item[kept - 1], n->item[i]) == 0)
			free(n->item[i]);
		else
			n->item[kept++] = n->item[i];
	n->count = kept;
}

static int compare_name(const void *name, const void *item)
{
	return strcmp(name, *(char *const *)item);
}

bool strset_has(const struct strset *n, const char *name)
{
	return n->count && bsearch(name, n->item, n->count, sizeof(*n->item), compare_name);
}

void strset_release(struct strset *n)
{
	for (size_t i = 0; i < n->count; i++)
		free(n->item[i]);
	free(n->item);
	*n = (struct strset){0};
}
