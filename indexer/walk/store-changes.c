// SPDX-License-Identifier: Apache-2.0
#include "indexer/walk/store-changes.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/mem.h"

static void forget_folders(struct store_changes *c)
{
	for (size_t i = 0; i < c->count; i++) {
		free(c->folder[i].path);
		strset_release(&c->folder[i].names);
	}
	free(c->folder);
	name_tree_release(&c->tree);
	*c = (struct store_changes){.is_whole = c->is_whole};
}

void store_changes_release(struct store_changes *c)
{
	forget_folders(c);
	c->is_whole = false;
}

bool store_changes_is_empty(const struct store_changes *c)
{
	return !c->count && !c->is_whole;
}

void store_changes_add_whole(struct store_changes *c)
{
	c->is_whole = true;
	forget_folders(c);
}

static struct changed_folder *find_folder(struct store_changes *c, const char *path)
{
	// The path has at least one name.
	struct name_node *n = NULL;
	struct str rest = str_from(path);
	do
		n = name_tree_add(&c->tree, n, str_cut(&rest, '/'));
	while (rest.len);
	if (n->number != NAME_NODE_NONE)
		return &c->folder[n->number];
	GROW(c->folder, c->count, c->room);
	name_tree_number(&c->tree, n, (int)c->count);
	c->folder[c->count] = (struct changed_folder){.path = xstrdup(path)};
	return &c->folder[c->count++];
}

static void list_instead(struct store_changes *c, struct changed_folder *f)
{
	c->names -= f->names.count;
	strset_release(&f->names);
	f->is_listed = true;
}

// A full set is sorted, so that repeated names count once.
static void add_changed_name(struct store_changes *c, struct changed_folder *f, const char *name)
{
	if (f->names.count && strcmp(f->names.item[f->names.count - 1], name) == 0)
		return;
	strset_add(&f->names, name);
	c->names++;
	if (f->names.count < LIMIT_CHANGED_NAMES)
		return;
	c->names -= f->names.count;
	strset_sort(&f->names);
	c->names += f->names.count;
	if (f->names.count > LIMIT_CHANGED_NAMES / 2)
		list_instead(c, f);
}

void store_changes_add(struct store_changes *c, const char *folder, const char *name, bool may_be_folder)
{
	if (c->is_whole)
		return;
	struct changed_folder *f = find_folder(c, folder);
	f->is_deep |= may_be_folder;
	if (!f->is_listed && c->names >= LIMIT_CHANGED_NAMES_ALL)
		list_instead(c, f);
	if (!f->is_listed)
		add_changed_name(c, f, name);
	if (c->count > LIMIT_CHANGED_FOLDERS)
		store_changes_add_whole(c);
}

void store_changes_sort(struct store_changes *c)
{
	for (size_t i = 0; i < c->count; i++)
		strset_sort(&c->folder[i].names);
}
