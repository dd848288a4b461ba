// SPDX-License-Identifier: Apache-2.0
#include "auditor/compare/pairing.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/mem.h"

void pairing_add(struct pairing_list *l, const char *key, size_t at)
{
	GROW(l->item, l->count, l->room);
	l->item[l->count++] = (struct pairing_item){key, at};
}

void pairing_release(struct pairing_list *l)
{
	free(l->item);
	*l = (struct pairing_list){0};
}

// Items without a key are equal to each other, and come last.
static int compare_keys(const struct pairing_item *a, const struct pairing_item *b)
{
	if (!a->key || !b->key)
		return !a->key - !b->key;
	return strcmp(a->key, b->key);
}

static int compare_items(const void *a, const void *b)
{
	const struct pairing_item *left = a, *right = b;
	int order = compare_keys(left, right);
	return order ? order : (left->at > right->at) - (left->at < right->at);
}

static void sort_items(struct pairing_list *l)
{
	if (l->count)
		qsort(l->item, l->count, sizeof(*l->item), compare_items);
}

void pairing_unique(struct pairing_list *l)
{
	size_t kept = 0;
	sort_items(l);
	for (size_t i = 0; i < l->count; i++)
		if (!kept || compare_keys(&l->item[kept - 1], &l->item[i]) != 0)
			l->item[kept++] = l->item[i];
	l->count = kept;
}

void pairing_take(struct pairing_list *a, struct pairing_list *b, pairing_fn *fn, void *ctx)
{
	size_t i = 0, j = 0, left_a = 0, left_b = 0;
	sort_items(a);
	sort_items(b);
	while (i < a->count && j < b->count && a->item[i].key && b->item[j].key) {
		int order = strcmp(a->item[i].key, b->item[j].key);
		if (order < 0)
			a->item[left_a++] = a->item[i++];
		else if (order > 0)
			b->item[left_b++] = b->item[j++];
		else
			fn(ctx, a->item[i++].at, b->item[j++].at);
	}
	while (i < a->count)
		a->item[left_a++] = a->item[i++];
	while (j < b->count)
		b->item[left_b++] = b->item[j++];
	a->count = left_a;
	b->count = left_b;
}
