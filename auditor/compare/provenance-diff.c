// SPDX-License-Identifier: Apache-2.0
#include "auditor/compare/provenance-diff.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "auditor/compare/diff-rows.h"

const char *const provenance_column_name[COLUMN_COUNT] = {"version", "source", "digest", "how", "path", "options"};

const char *provenance_column(const struct provenance_row *row, enum provenance_column column)
{
	if (!row)
		return NULL;
	const char *const value[COLUMN_COUNT] = {
		row->version, row->source, row->digest, row->how, row->path, row->options};
	return value[column];
}

static bool has_same(const struct provenance_pair *p, enum provenance_column column)
{
	const char *a = provenance_column(p->a, column), *b = provenance_column(p->b, column);
	return a && b ? strcmp(a, b) == 0 : a == b;
}

struct row_pairs {
	const struct provenance *a, *b;
	struct provenance_diff *out;
};

static void keep_row_pair(void *ctx, size_t a, size_t b)
{
	struct row_pairs *p = ctx;
	struct provenance_pair pair = {.a = &p->a->row[a], .b = &p->b->row[b], .is_equal = true};
	for (int i = 0; i < COLUMN_COUNT; i++)
		pair.is_equal = pair.is_equal && has_same(&pair, (enum provenance_column)i);
	pair.has_other_path = !has_same(&pair, COLUMN_PATH);
	p->out->row[p->out->listed++] = pair;
}

static const struct provenance_row *row_of_pair(const struct provenance_pair *p)
{
	return p->a ? p->a : p->b;
}

static int compare_row_pairs(const void *a, const void *b)
{
	const struct provenance_pair *left = a, *right = b;
	const struct provenance_row *one = row_of_pair(left), *other = row_of_pair(right);
	if (left->is_equal != right->is_equal)
		return left->is_equal - right->is_equal;
	if (one->kind != other->kind)
		return (int)one->kind - (int)other->kind;
	int order = strcmp(one->component, other->component);
	return order ? order : !left->a - !right->a;
}

// The key of a row is its kind and component.
static void list_keys(const struct provenance *p, struct arena *text, struct pairing_list *out)
{
	for (size_t i = 0; p && i < p->rows; i++)
		pairing_add(out, arena_printf(text, "%c%s", 'a' + (int)p->row[i].kind, p->row[i].component), i);
}

void provenance_diff_make(const struct provenance *a, const struct provenance *b, struct arena *text,
	struct provenance_diff *out)
{
	struct pairing_list left = {.in = text}, right = {.in = text};
	size_t most = (a ? a->rows : 0) + (b ? b->rows : 0);
	struct row_pairs pairs = {a, b, out};
	*out = (struct provenance_diff){.row = ARENA_NEW(text, struct provenance_pair, most)};
	list_keys(a, text, &left);
	list_keys(b, text, &right);
	pairing_take(&left, &right, keep_row_pair, &pairs);
	for (size_t i = 0; i < left.count; i++)
		out->row[out->listed++] = (struct provenance_pair){.a = &a->row[left.item[i].at]};
	for (size_t i = 0; i < right.count; i++)
		out->row[out->listed++] = (struct provenance_pair){.b = &b->row[right.item[i].at]};
	if (out->listed)
		qsort(out->row, out->listed, sizeof(*out->row), compare_row_pairs);
	for (size_t i = 0; i < out->listed; i++)
		*(out->row[i].is_equal ? &out->equal : &out->different) += 1;
	out->listed = out->listed < LIMIT_COMPARE_ROWS ? out->listed : LIMIT_COMPARE_ROWS;
}
