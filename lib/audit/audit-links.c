// SPDX-License-Identifier: Apache-2.0
#include "lib/audit/audit-links.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/search.h"

// A walk from a file up to all files that load it.
struct link_walk {
	uint32_t *queue;
	bool *is_seen;
	size_t count;
};

bool audit_links_step(struct audit_links *l, uint64_t steps)
{
	if (l->steps < steps)
		l->is_cut = true;
	l->steps -= l->is_cut ? l->steps : steps;
	return !l->is_cut;
}

uint32_t audit_links_target(const struct audit_links *l, uint32_t file, size_t n)
{
	return l->target[l->start[file] + n];
}

static bool is_same_machine(const struct layout_file *one, const struct layout_file *other)
{
	const struct elf_facts *a = &one->elf->elf, *b = &other->elf->elf;
	if (one->elf->damage)
		return true; // for all that is known
	return a->machine == b->machine && a->is_64 == b->is_64 && a->is_big_endian == b->is_big_endian;
}

// The file of that name in the folders of `searcher`, for a file that needs it.
static uint32_t find_by_path(struct audit_links *l, const struct layout_file *user, const struct layout_file *searcher,
	const char *name)
{
	size_t first, end;
	if (!audit_links_step(l, 1))
		return LINK_NONE;
	end = layout_equal(l->layout->by_base, l->layout->count, name, &first);
	if (first == end || !audit_links_step(l, (end - first) * searcher->paths + 1))
		return LINK_NONE;
	for (unsigned i = 0; i < searcher->paths; i++)
		for (size_t k = first; k < end; k++) {
			uint32_t number = l->layout->by_base[k].file;
			const struct layout_file *f = &l->layout->file[number];
			if (f->dir_number == searcher->path[i] && is_same_machine(f, user))
				return number;
		}
	return LINK_NONE;
}

static void add_use(struct audit_links *l, uint32_t user, uint32_t used)
{
	GROW(l->use, l->uses, l->use_room);
	l->use[l->uses++] = (struct audit_link_use){used, user};
}

static void link_by_own_path(struct audit_links *l, uint32_t number)
{
	const struct layout_file *f = &l->layout->file[number];
	for (size_t n = 0; n < f->elf->elf.needed.count; n++) {
		uint32_t target = l->is_cut ? (uint32_t)LINK_NONE : find_by_path(l, f, f, f->elf->elf.needed.item[n]);
		l->target[l->start[number] + n] = target;
		if (target != LINK_NONE)
			add_use(l, number, target);
	}
}

static int compare_uses(const void *a, const void *b)
{
	const struct audit_link_use *one = a, *other = b;
	if (one->used != other->used)
		return one->used < other->used ? -1 : 1;
	return one->user < other->user ? -1 : one->user > other->user;
}

static bool is_use_before(const void *element, const void *key)
{
	return ((const struct audit_link_use *)element)->used < *(const uint32_t *)key;
}

static void sort_uses(struct audit_links *l)
{
	if (l->uses)
		qsort(l->use, l->uses, sizeof(*l->use), compare_uses);
	l->sorted_uses = l->uses;
}

static void walk_release(struct link_walk *w)
{
	free(w->queue);
	free(w->is_seen);
}

// Fills the queue with the file and all that load it, nearest first.
static void walk_up(struct audit_links *l, struct link_walk *w, uint32_t file)
{
	w->queue = xcalloc(l->layout->count, sizeof(*w->queue));
	w->is_seen = xcalloc(l->layout->count, sizeof(*w->is_seen));
	w->queue[w->count++] = file;
	w->is_seen[file] = true;
	for (size_t at = 0; at < w->count; at++) {
		uint32_t used = w->queue[at];
		size_t i = lower_bound(&used, l->use, l->sorted_uses, sizeof(*l->use), is_use_before);
		for (; i < l->sorted_uses && l->use[i].used == used && audit_links_step(l, 1); i++)
			if (!w->is_seen[l->use[i].user]) {
				w->is_seen[l->use[i].user] = true;
				w->queue[w->count++] = l->use[i].user;
			}
	}
}

uint32_t audit_links_find(struct audit_links *l, uint32_t file, const char *name)
{
	const struct elf_list *needed = &l->layout->file[file].elf->elf.needed;
	for (size_t n = 0; n < needed->count && audit_links_step(l, 1); n++)
		if (strcmp(needed->item[n], name) == 0)
			return audit_links_target(l, file, n);
	return LINK_NONE;
}

// The loader takes the libraries of a file before those of its libraries, so what a loading file needs too is there.
static uint32_t find_by_loaders(struct audit_links *l, const struct link_walk *w, const char *name)
{
	const struct layout_file *user = &l->layout->file[w->queue[0]];
	for (size_t i = 1; i < w->count; i++) {
		const struct layout_file *loader = &l->layout->file[w->queue[i]];
		uint32_t found = audit_links_find(l, w->queue[i], name);
		if (found == LINK_NONE && loader->is_inherited && !user->has_runpath)
			found = find_by_path(l, user, loader, name);
		if (found != LINK_NONE)
			return found;
	}
	return LINK_NONE;
}

static bool has_name(const struct audit_links *l, const char *name)
{
	size_t first;
	return layout_equal(l->layout->by_base, l->layout->count, name, &first) > first;
}

static bool link_by_loaders(struct audit_links *l, uint32_t number)
{
	CLEANUP(walk_release) struct link_walk walk = {0};
	const struct layout_file *f = &l->layout->file[number];
	bool is_changed = false;
	for (size_t n = 0; n < f->elf->elf.needed.count; n++) {
		uint32_t *target = &l->target[l->start[number] + n];
		if (*target != LINK_NONE || !has_name(l, f->elf->elf.needed.item[n]))
			continue;
		if (!walk.count && audit_links_step(l, l->layout->count))
			walk_up(l, &walk, number);
		if (l->is_cut)
			return false;
		*target = find_by_loaders(l, &walk, f->elf->elf.needed.item[n]);
		if (*target != LINK_NONE)
			add_use(l, number, *target);
		is_changed |= *target != LINK_NONE;
	}
	return is_changed;
}

void audit_links_init(struct audit_links *l, const struct layout *layout)
{
	size_t libraries = 0;
	*l = (struct audit_links){.layout = layout, .steps = LIMIT_AUDIT_STEPS};
	l->start = xcalloc(layout->count + 1, sizeof(*l->start));
	for (size_t i = 0; i < layout->count; i++) {
		l->start[i] = libraries;
		libraries += layout->file[i].elf->elf.needed.count;
	}
	l->target = xcalloc(libraries + 1, sizeof(*l->target));
	for (uint32_t i = 0; i < layout->count; i++)
		link_by_own_path(l, i);
	// Each library that is found so may lead to others.
	for (bool is_changed = true; is_changed && audit_links_step(l, l->uses + layout->count);) {
		sort_uses(l);
		is_changed = false;
		for (uint32_t i = 0; i < layout->count; i++)
			is_changed |= link_by_loaders(l, i);
	}
	sort_uses(l);
}

void audit_links_release(struct audit_links *l)
{
	free(l->start);
	free(l->target);
	free(l->use);
	*l = (struct audit_links){0};
}

enum layout_place audit_links_farthest(struct audit_links *l, uint32_t file)
{
	CLEANUP(walk_release) struct link_walk walk = {0};
	const struct layout_file *f = &l->layout->file[file];
	enum layout_place farthest = f->is_cut ? LAYOUT_UNKNOWN : f->farthest;
	if (farthest > LAYOUT_ABSENT || f->has_runpath || !audit_links_step(l, l->layout->count))
		return farthest;
	walk_up(l, &walk, file);
	for (size_t i = 1; i < walk.count; i++) {
		const struct layout_file *loader = &l->layout->file[walk.queue[i]];
		if (loader->is_inherited && loader->farthest > farthest)
			farthest = loader->farthest;
	}
	return farthest;
}
