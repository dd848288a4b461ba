// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/lock/lock-wants.h"

#include <stdlib.h>
#include <string.h>

#include "lib/domain/text/specifier.h"

struct spreading {
	const struct lock *lock;
	uint64_t *slot, *marker; // the micro versions of each
	size_t *waiting;         // slots whose dependencies have not seen their micro versions
	bool *is_waiting;
	size_t count;
};

static bool has_name(const char *const *list, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(list[i], name) == 0)
			return true;
	return false;
}

static bool is_chosen_root(const struct lock_slot *s, const struct marker_choice *c)
{
	bool has_group = s->group && (c->all_groups || has_name(c->group, c->groups, s->group));
	bool has_extra = s->extra && (c->all_extras || has_name(c->extra, c->extras, s->extra));
	return s->is_root && ((!s->group && !s->extra) || has_group || has_extra);
}

static void add_micros(struct spreading *x, size_t slot, uint64_t micros)
{
	if (!(micros & ~x->slot[slot]))
		return;
	x->slot[slot] |= micros;
	if (!x->is_waiting[slot])
		x->waiting[x->count++] = slot;
	x->is_waiting[slot] = true;
}

// Each slot gets micro versions 64 times at most.
static void spread_micros(struct spreading *x)
{
	while (x->count) {
		size_t at = x->waiting[--x->count];
		const struct lock_slot *s = &x->lock->slot[at];
		x->is_waiting[at] = false;
		for (size_t i = s->edge; i < s->edge + s->edges; i++) {
			const struct lock_edge *edge = &x->lock->edge[i];
			add_micros(x, edge->to, x->slot[at] & x->marker[edge->marker]);
		}
	}
}

int lock_wants(const struct lock *l, const struct machine *machine, const struct python *python,
	const struct marker_choice *choice, uint64_t *micros, struct err *e)
{
	CLEANUP(mem_free) uint64_t *slot = xcalloc(l->slots + 1, sizeof(*slot));
	CLEANUP(mem_free) uint64_t *marker = xcalloc(l->markers + 1, sizeof(*marker));
	CLEANUP(mem_free) size_t *waiting = xcalloc(l->slots + 1, sizeof(*waiting));
	CLEANUP(mem_free) bool *is_waiting = xcalloc(l->slots + 1, sizeof(*is_waiting));
	struct spreading x = {l, slot, marker, waiting, is_waiting, 0};
	uint64_t all = UINT64_MAX;
	marker[0] = UINT64_MAX;
	for (size_t i = 1; i < l->markers; i++)
		if (marker_micros_chosen(str_from(l->marker[i]), machine, python, choice, &marker[i], e) < 0)
			return -1;
	if (l->requires_python)
		specifier_micros(str_from(l->requires_python), python->major, python->minor, &all);
	for (size_t i = 0; i < l->slots; i++)
		if (is_chosen_root(&l->slot[i], choice))
			add_micros(&x, i, all);
	spread_micros(&x);
	for (size_t i = 0; i < l->packages; i++) {
		uint64_t own = UINT64_MAX;
		const char *requires_python = l->package[i].requires_python;
		if (requires_python)
			specifier_micros(str_from(requires_python), python->major, python->minor, &own);
		micros[i] = slot[l->package[i].slot] & own;
	}
	return 0;
}
