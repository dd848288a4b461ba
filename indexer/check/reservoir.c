// SPDX-License-Identifier: Apache-2.0
#include "indexer/check/reservoir.h"

#include <stdlib.h>

#include "lib/base/mem.h"

struct reservoir_item {
	int64_t id;
	uint64_t size;
};

struct reservoir {
	struct reservoir_item *chosen;
	size_t count, room, most;
	uint64_t added;
	uint64_t random; // splitmix64's state
};

struct reservoir *reservoir_new(size_t most, uint64_t seed)
{
	struct reservoir *r = xcalloc(1, sizeof(*r));
	r->most = most;
	r->random = seed;
	return r;
}

void reservoir_free(struct reservoir *r)
{
	if (!r)
		return;
	free(r->chosen);
	free(r);
}

void reservoir_cleanup(struct reservoir **r)
{
	reservoir_free(*r);
	*r = NULL;
}

// splitmix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014.
static uint64_t next_random(struct reservoir *r)
{
	uint64_t z = r->random += 0x9e3779b97f4a7c15;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

// Vitter's algorithm R: the n-th id is chosen with the probability most / n, and replaces a random one.
void reservoir_add(struct reservoir *r, int64_t id, uint64_t size)
{
	r->added++;
	if (r->count < r->most) {
		GROW(r->chosen, r->count, r->room);
		r->chosen[r->count++] = (struct reservoir_item){id, size};
		return;
	}
	uint64_t at = next_random(r) % r->added;
	if (at < r->count)
		r->chosen[at] = (struct reservoir_item){id, size};
}

static int by_id(const void *a, const void *b)
{
	const struct reservoir_item *left = a, *right = b;
	return (left->id > right->id) - (left->id < right->id);
}

void reservoir_end(struct reservoir *r)
{
	if (r->count)
		qsort(r->chosen, r->count, sizeof(*r->chosen), by_id);
}

bool reservoir_has(const struct reservoir *r, int64_t id)
{
	struct reservoir_item wanted = {.id = id};
	return r->count && bsearch(&wanted, r->chosen, r->count, sizeof(wanted), by_id);
}

uint64_t reservoir_bytes(const struct reservoir *r)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < r->count; i++)
		sum += r->chosen[i].size;
	return sum;
}
