// SPDX-License-Identifier: Apache-2.0
// What of a store has changed and is to be looked at: names in folders. Folders are called by their path, which begins
// with the name of their platform. Its memory is bounded: where many names of a folder have changed, all of the folder
// is to be looked at; where very many, the whole store. One thread at a time.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/name-tree.h"
#include "lib/base/strset.h"

struct changed_folder {
	char *path;
	struct strset names; // sorted by store_changes_sort
	bool is_listed;      // all names of the folder, instead of these,
	bool is_deep;        // and all folders in it
};

struct store_changes {
	struct changed_folder *folder;
	size_t count, room;
	size_t names;          // of all folders, about
	struct name_tree tree; // the number of a node is an index of folder
	bool is_whole;         // the whole store; then there are no folders
};

// All zero is empty.
void store_changes_release(struct store_changes *c);
bool store_changes_is_empty(const struct store_changes *c);
// A name in a folder has changed. may_be_folder: it is, or was, that of a folder, whose content is then looked at too.
void store_changes_add(struct store_changes *c, const char *folder, const char *name, bool may_be_folder);
// Forgets all names: the whole store is to be looked at.
void store_changes_add_whole(struct store_changes *c);
// To be called before the names are read: each is then there once.
void store_changes_sort(struct store_changes *c);
