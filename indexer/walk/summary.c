// SPDX-License-Identifier: Apache-2.0
#include "indexer/walk/summary.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/mem.h"
#include "lib/format/escape.h"
#include "lib/format/jsondoc.h"

enum { SHOWN = 20 }; // items of a list in the text form

void summary_release(struct summary *s)
{
	for (int i = 0; i < SUMMARY_MOST_LISTS; i++) {
		for (size_t k = 0; k < s->list[i].count; k++)
			for (int f = 0; f < SUMMARY_FIELDS; f++)
				free(s->list[i].item[k].field[f]);
		free(s->list[i].item);
	}
	*s = (struct summary){0};
}

void summary_add(struct summary *s, unsigned list, const char *first, const char *second, const char *third)
{
	summary_add_private(s, list, false, first, second, third);
}

const char *summary_first_public(const struct summary *s, unsigned list)
{
	for (size_t i = 0; i < s->list[list].count; i++)
		if (!s->list[list].item[i].is_private)
			return s->list[list].item[i].field[0];
	return NULL;
}

void summary_add_private(struct summary *s, unsigned list, bool is_private, const char *first, const char *second,
	const char *third)
{
	const char *const text[SUMMARY_FIELDS] = {first, second, third};
	s->list[list].all++;
	if (s->list[list].count == SUMMARY_KEPT)
		return;
	GROW(s->list[list].item, s->list[list].count, s->list[list].room);
	struct summary_item *item = &s->list[list].item[s->list[list].count++];
	item->is_private = is_private;
	for (int f = 0; f < SUMMARY_FIELDS; f++)
		item->field[f] = text[f] ? xstrdup(text[f]) : NULL;
}

static int by_first(const void *a, const void *b)
{
	const struct summary_item *left = a, *right = b;
	return strcmp(left->field[0], right->field[0]);
}

void summary_sort(struct summary *s, unsigned list)
{
	if (s->list[list].count)
		qsort(s->list[list].item, s->list[list].count, sizeof(struct summary_item), by_first);
}

static void print_list(const struct summary *s, unsigned list, FILE *out)
{
	if (!s->list[list].all || !s->shape->list[list].heading)
		return;
	fprintf(out, "%s:\n", s->shape->list[list].heading);
	for (size_t k = 0; k < s->list[list].count && k < SHOWN; k++) {
		for (int f = 0; f < SUMMARY_FIELDS && s->list[list].item[k].field[f]; f++) {
			fputs(f == 0 ? "  " : f == 1 ? ": " : " -> ", out);
			// Replaces control characters: a file name must not move the cursor of a terminal.
			const char *text = s->list[list].item[k].field[f];
			CLEANUP(buf_release) struct buf line = buf_up_to(SIZE_MAX / 2);
			escape_terminal(&line, str_from(text));
			fputs(line.data, out);
		}
		fputc('\n', out);
	}
	if (s->list[list].all > SHOWN)
		fprintf(out, "  and %" PRIu64 " more\n", s->list[list].all - SHOWN);
}

void summary_print_problems(const struct summary *s, FILE *out)
{
	for (unsigned i = 0; i < s->shape->list_count; i++)
		if (s->shape->list[i].is_problem)
			print_list(s, i, out);
}

void summary_print(const struct summary *s, FILE *out)
{
	const struct summary_shape *shape = s->shape;
	for (unsigned i = 0; i < shape->list_count; i++)
		print_list(s, i, out);
	for (unsigned i = 0; i < shape->number_count; i++)
		if (shape->number[i].text && (s->number[i] || shape->number[i].always))
			fprintf(out, "%9" PRIu64 " %s\n", s->number[i], shape->number[i].text);
	fprintf(out, "%9.1f MB hashed in %.1f s\n", (double)s->number[shape->bytes] / 1e6, s->seconds);
}

static struct jsondoc *list_json(const struct summary *s, unsigned list)
{
	const struct summary_list *row = &s->shape->list[list];
	struct jsondoc *all = jsondoc_array();
	for (size_t k = 0; k < s->list[list].count; k++) {
		struct jsondoc *item = jsondoc_object();
		for (int f = 0; f < SUMMARY_FIELDS && row->field[f]; f++)
			jsondoc_put_str(item, row->field[f], s->list[list].item[k].field[f]);
		jsondoc_add(all, item);
	}
	return all;
}

void summary_json(const struct summary *s, struct buf *out)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
	struct jsondoc *lists = jsondoc_object();
	for (unsigned i = 0; i < s->shape->number_count; i++)
		jsondoc_put_int(doc, s->shape->number[i].key, (int64_t)s->number[i]);
	jsondoc_put_real(doc, "seconds", s->seconds);
	for (unsigned i = 0; i < s->shape->list_count; i++)
		jsondoc_put(lists, s->shape->list[i].key, list_json(s, i));
	jsondoc_put(doc, "lists", lists);
	jsondoc_write(doc, 2, out);
}
