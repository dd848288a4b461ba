// SPDX-License-Identifier: Apache-2.0
#include "lib/base/nearest.h"

#include <stdbool.h>
#include <stdint.h>

enum { MAX_WORD = 40 }; // bytes; a longer word is like none

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

// The cost of each letter so far; rows of the two letters before and of this one.
struct rows {
	size_t before[MAX_WORD + 1], last[MAX_WORD + 1], now[MAX_WORD + 1];
};

static void fill_row(struct rows *r, struct str a, struct str b, size_t i)
{
	r->now[0] = i;
	for (size_t k = 1; k <= b.len; k++) {
		bool is_same = a.ptr[i - 1] == b.ptr[k - 1];
		r->now[k] = least(least(r->last[k], r->now[k - 1]) + 1, r->last[k - 1] + !is_same);
		if (i > 1 && k > 1 && a.ptr[i - 1] == b.ptr[k - 2] && a.ptr[i - 2] == b.ptr[k - 1])
			r->now[k] = least(r->now[k], r->before[k - 2] + 1);
	}
}

// The distance of Damerau and Levenshtein, where no part is changed twice.
static size_t words_distance(struct str a, struct str b)
{
	struct rows r = {.last = {0}};
	for (size_t k = 0; k <= b.len; k++)
		r.last[k] = k;
	for (size_t i = 1; i <= a.len; i++) {
		fill_row(&r, a, b, i);
		for (size_t k = 0; k <= b.len; k++) {
			r.before[k] = r.last[k];
			r.last[k] = r.now[k];
		}
	}
	return r.last[b.len];
}

void nearest_init(struct nearest *n, struct str typed)
{
	*n = (struct nearest){.typed = typed, .distance = SIZE_MAX};
}

void nearest_offer(struct nearest *n, const char *word)
{
	struct str offered = str_from(word);
	size_t longer = n->typed.len > offered.len ? n->typed.len : offered.len;
	if (longer > MAX_WORD)
		return;
	size_t distance = words_distance(n->typed, offered);
	if (distance > (longer + 1) / 3 || distance >= n->distance)
		return;
	n->word = word;
	n->distance = distance;
}
