// SPDX-License-Identifier: Apache-2.0
#include "lib/base/nearest.h"

#include <stdint.h>

#include "lib/base/word-distance.h"

enum { MAX_WORD = 40 }; // bytes; a longer word is like none

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
	size_t most = (longer + 1) / 3, distance = word_distance(n->typed, offered, most);
	if (distance > most || distance >= n->distance)
		return;
	n->word = word;
	n->distance = distance;
}
