// SPDX-License-Identifier: Apache-2.0
#include "lib/install/intern.h"

#include <search.h>
#include <stdlib.h>

struct interned {
	struct str text;
	size_t number;
};

static int compare_interned(const void *a, const void *b)
{
	const struct interned *left = a, *right = b;
	return str_cmp(left->text, right->text);
}

size_t intern_add(struct intern *i, struct str text)
{
	const struct interned key = {.text = text};
	const struct interned *const *found = tfind(&key, &i->tree, compare_interned);
	if (found)
		return (*found)->number;
	struct interned *item = xmalloc(sizeof(*item));
	*item = (struct interned){{arena_copy(&i->text, text), text.len}, i->count};
	GROW(i->item, i->count, i->room);
	i->item[i->count++] = item;
	if (!tsearch(item, &i->tree, compare_interned))
		abort(); // memory has run out
	return item->number;
}

const char *intern_text(const struct intern *i, size_t number)
{
	return i->item[number]->text.ptr;
}

void intern_release(struct intern *i)
{
	tdestroy(i->tree, free);
	free(i->item);
	arena_release(&i->text);
	*i = (struct intern){0};
}
