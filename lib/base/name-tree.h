// SPDX-License-Identifier: Apache-2.0
// Paths as a tree of names, found by name and by a number that the caller gives them. About 120 bytes a name. One
// thread at a time.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/base/str.h"

enum { NAME_NODE_NONE = -1 };

struct name_node {
	struct name_node *parent;          // NULL: at the top
	struct name_node *child;           // the first of its children
	struct name_node *previous, *next; // siblings
	struct name_node *same_name;       // the next in the bucket of names
	struct name_node *same_number;     // the next in the bucket of numbers
	int number;                        // several nodes may have the same; NAME_NODE_NONE: it has none
	uint32_t round;                    // free for the caller
	uint32_t hash;                     // of parent and name
	char name[];
};

struct name_tree {
	struct name_node *top;      // the first node without a parent
	struct name_node **by_name; // buckets
	struct name_node **by_number;
	size_t buckets; // a power of two, or 0
	size_t nodes;
	size_t numbered; // nodes with a number
};

// All zero is an empty tree. Frees all nodes;
void name_tree_release(struct name_tree *t);
// The child of this name; NULL: there is none. parent NULL: at the top.
struct name_node *name_tree_child(const struct name_tree *t, const struct name_node *parent, struct str name);
// The same; a missing one is added, without a number.
struct name_node *name_tree_add(struct name_tree *t, struct name_node *parent, struct str name);
// Any node with this number; NULL: there is none. name_tree_again: the next one after it.
struct name_node *name_tree_numbered(const struct name_tree *t, int number);
struct name_node *name_tree_again(const struct name_node *node);
// number: NAME_NODE_NONE takes it away.
void name_tree_number(struct name_tree *t, struct name_node *node, int number);
// Frees a node that has neither a number nor children.
void name_tree_remove(struct name_tree *t, struct name_node *node);
// Appends the path, with "/" between names.
void name_tree_path(const struct name_node *node, struct buf *out);
