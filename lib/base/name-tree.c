// SPDX-License-Identifier: Apache-2.0
#include "lib/base/name-tree.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hash.h"
#include "lib/base/mem.h"

enum { FEWEST_BUCKETS = 64 };

static uint32_t hash_name(const struct name_node *parent, struct str name)
{
	return (uint32_t)(hash_of(name, (uint64_t)(uintptr_t)parent) >> 16);
}

static struct name_node **name_bucket(const struct name_tree *t, uint32_t hash)
{
	return &t->by_name[hash & (t->buckets - 1)];
}

static struct name_node **number_bucket(const struct name_tree *t, int number)
{
	return &t->by_number[(uint32_t)number & (t->buckets - 1)];
}

static void link_name(struct name_tree *t, struct name_node *n)
{
	struct name_node **at = name_bucket(t, n->hash);
	n->same_name = *at;
	*at = n;
}

static void link_number(struct name_tree *t, struct name_node *n)
{
	struct name_node **at = number_bucket(t, n->number);
	n->same_number = *at;
	*at = n;
}

// Doubles the buckets while there are as many nodes.
static void grow_buckets(struct name_tree *t)
{
	if (t->nodes < t->buckets)
		return;
	size_t old = t->buckets;
	struct name_node **names = t->by_name;
	free(t->by_number);
	t->buckets = old ? 2 * old : FEWEST_BUCKETS;
	t->by_name = xcalloc(t->buckets, sizeof(struct name_node *));
	t->by_number = xcalloc(t->buckets, sizeof(struct name_node *));
	for (size_t i = 0; i < old; i++)
		for (struct name_node *n = names[i], *next; n; n = next) {
			next = n->same_name;
			link_name(t, n);
			if (n->number != NAME_NODE_NONE)
				link_number(t, n);
		}
	free(names);
}

void name_tree_release(struct name_tree *t)
{
	for (size_t i = 0; i < t->buckets; i++)
		for (struct name_node *n = t->by_name[i], *next; n; n = next) {
			next = n->same_name;
			free(n);
		}
	free(t->by_name);
	free(t->by_number);
	*t = (struct name_tree){0};
}

struct name_node *name_tree_child(const struct name_tree *t, const struct name_node *parent, struct str name)
{
	if (!t->buckets)
		return NULL;
	uint32_t hash = hash_name(parent, name);
	struct name_node *n = *name_bucket(t, hash);
	while (n && !(n->hash == hash && n->parent == parent && str_eq(str_from(n->name), name)))
		n = n->same_name;
	return n;
}

static struct name_node **first_child(struct name_tree *t, struct name_node *parent)
{
	return parent ? &parent->child : &t->top;
}

struct name_node *name_tree_add(struct name_tree *t, struct name_node *parent, struct str name)
{
	struct name_node *n = name_tree_child(t, parent, name);
	if (n)
		return n;
	grow_buckets(t);
	n = xcalloc(1, sizeof(*n) + name.len + 1);
	memcpy(n->name, name.ptr, name.len);
	n->parent = parent;
	n->number = NAME_NODE_NONE;
	n->hash = hash_name(parent, name);
	link_name(t, n);
	struct name_node **first = first_child(t, n->parent);
	n->next = *first;
	if (n->next)
		n->next->previous = n;
	*first = n;
	t->nodes++;
	return n;
}

static struct name_node *find_number(struct name_node *n, int number)
{
	while (n && n->number != number)
		n = n->same_number;
	return n;
}

struct name_node *name_tree_numbered(const struct name_tree *t, int number)
{
	return t->buckets && number != NAME_NODE_NONE ? find_number(*number_bucket(t, number), number) : NULL;
}

struct name_node *name_tree_again(const struct name_node *node)
{
	return find_number(node->same_number, node->number);
}

void name_tree_number(struct name_tree *t, struct name_node *node, int number)
{
	if (node->number == number)
		return;
	if (node->number != NAME_NODE_NONE) {
		struct name_node **at = number_bucket(t, node->number);
		while (*at != node)
			at = &(*at)->same_number;
		*at = node->same_number;
		t->numbered--;
	}
	node->number = number;
	if (number != NAME_NODE_NONE) {
		link_number(t, node);
		t->numbered++;
	}
}

void name_tree_remove(struct name_tree *t, struct name_node *node)
{
	assert(!node->child && node->number == NAME_NODE_NONE);
	struct name_node **at = name_bucket(t, node->hash);
	while (*at != node)
		at = &(*at)->same_name;
	*at = node->same_name;
	if (node->previous)
		node->previous->next = node->next;
	else
		*first_child(t, node->parent) = node->next;
	if (node->next)
		node->next->previous = node->previous;
	t->nodes--;
	free(node);
}

void name_tree_path(const struct name_node *node, struct buf *out)
{
	if (node->parent) {
		name_tree_path(node->parent, out);
		buf_putc(out, '/');
	}
	buf_add(out, node->name, strlen(node->name));
}
