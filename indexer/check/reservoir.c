// SPDX-License-Identifier: Apache-2.0
#include "indexer/check/reservoir.h"

#include <stdlib.h>

#include "lib/base/mem.h"

struct chosen {
	int64_t id;
	uint64_t size;
};

struct reservoir {
	struct chosen *chosen;
	size_t count, room, most;
	uint64_t offered;
	uint64_t random; // splitmix64's state
};

struct reservoir *reservoir_new(size_t most, uint64_t seed)
{
	struct reservoir *s = xcalloc(1, sizeof(*s));
	s->most = most;
	s->random = seed;
	return s;
}

void reservoir_free(struct reservoir *s)
{
	if (!s)
		return;
	free(s->chosen);
	free(s);
}

void reservoir_cleanup(struct reservoir **s)
{
	reservoir_free(*s);
	*s = NULL;
}

// splitmix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014.
static uint64_t next_random(struct reservoir *s)
{
	uint64_t z = s->random += 0x9e3779b97f4a7c15;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

// Vitter's algorithm R: the n-th one is chosen with the likelihood most / n, in the place of any
// other.
void reservoir_offer(struct reservoir *s, int64_t id, uint64_t size)
{
	s->offered++;
	if (s->count < s->most) {
		GROW(s->chosen, s->count, s->room);
		s->chosen[s->count++] = (struct chosen){id, size};
		return;
	}
	uint64_t at = next_random(s) % s->offered;
	if (at < s->count)
		s->chosen[at] = (struct chosen){id, size};
}

static int by_id(const void *a, const void *b)
{
	const struct chosen *left = a, *right = b;
	return (left->id > right->id) - (left->id < right->id);
}

void reservoir_end(struct reservoir *s)
{
	if (s->count)
		qsort(s->chosen, s->count, sizeof(*s->chosen), by_id);
}

bool reservoir_has(const struct reservoir *s, int64_t id)
{
	struct chosen wanted = {.id = id};
	return s->count && bsearch(&wanted, s->chosen, s->count, sizeof(wanted), by_id);
}

uint64_t reservoir_bytes(const struct reservoir *s)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < s->count; i++)
		sum += s->chosen[i].size;
	return sum;
}
