// SPDX-License-Identifier: Apache-2.0
#include "auditor/compare/diff-rows.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/mem.h"

// --- pairs ---

void pairing_add(struct pairing_list *l, const char *key, size_t at)
{
	ARENA_GROW(l->in, l->item, l->count, l->room);
	l->item[l->count++] = (struct pairing_item){key, at};
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

// --- rows ---

void diff_rows_add(struct diff_rows *r, const char *name, const char *a, const char *b, bool is_equal)
{
	if (!a && !b)
		return;
	size_t listed = is_equal ? r->listed_equal : r->count - r->listed_equal;
	*(is_equal ? &r->equal : &r->different) += 1;
	if (listed >= LIMIT_COMPARE_ROWS)
		return;
	ARENA_GROW(r->in, r->row, r->count, r->room);
	r->row[r->count++] = (struct diff_row){name, a, b, is_equal};
	r->listed_equal += is_equal;
}

void diff_rows_add_text(struct diff_rows *r, const char *name, const char *a, const char *b)
{
	diff_rows_add(r, name, a, b, a && b && strcmp(a, b) == 0);
}

void diff_values_add(struct diff_values *v, struct diff_value value)
{
	ARENA_GROW(v->in, v->value, v->count, v->room);
	v->value[v->count++] = value;
}

struct set_pairs {
	struct diff_rows *rows;
	const struct diff_values *a, *b;
};

static void add_same(void *ctx, size_t a, size_t b)
{
	const struct set_pairs *p = ctx;
	diff_rows_add(p->rows, p->a->value[a].name, p->a->value[a].text, p->b->value[b].text, true);
}

static void add_changed(void *ctx, size_t a, size_t b)
{
	const struct set_pairs *p = ctx;
	diff_rows_add(p->rows, p->a->value[a].name, p->a->value[a].text, p->b->value[b].text, false);
}

static void list_same(const struct diff_values *v, struct pairing_list *out)
{
	for (size_t i = 0; i < v->count; i++)
		pairing_add(out, v->value[i].same, i);
	pairing_unique(out);
}

static void key_by_pair(const struct diff_values *v, struct pairing_list *l)
{
	for (size_t i = 0; i < l->count; i++)
		l->item[i].key = v->value[l->item[i].at].pair;
}

void diff_rows_add_sets(struct diff_rows *r, const struct diff_values *a, const struct diff_values *b)
{
	CLEANUP(arena_release) struct arena lists = {0};
	struct pairing_list left = {.in = &lists}, right = {.in = &lists};
	struct set_pairs pairs = {r, a, b};
	list_same(a, &left);
	list_same(b, &right);
	pairing_take(&left, &right, add_same, &pairs);
	key_by_pair(a, &left);
	key_by_pair(b, &right);
	pairing_take(&left, &right, add_changed, &pairs);
	for (size_t i = 0; i < left.count; i++)
		diff_rows_add(r, a->value[left.item[i].at].name, a->value[left.item[i].at].text, NULL, false);
	for (size_t i = 0; i < right.count; i++)
		diff_rows_add(r, b->value[right.item[i].at].name, NULL, b->value[right.item[i].at].text, false);
}

static int compare_diff_rows(const void *a, const void *b)
{
	const struct diff_row *left = a, *right = b;
	int order = strcmp(left->name, right->name);
	if (!order)
		order = strcmp(left->a ? left->a : left->b, right->a ? right->a : right->b);
	return order ? order : strcmp(left->b ? left->b : "", right->b ? right->b : "");
}

void diff_rows_sort(struct diff_rows *r)
{
	if (r->count)
		qsort(r->row, r->count, sizeof(*r->row), compare_diff_rows);
}
