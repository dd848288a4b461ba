// SPDX-License-Identifier: Apache-2.0
#include "lib/base/counted.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

struct str counted_words(uint64_t n, const char *words)
{
	struct str many = str_from(words), one = str_cut(&many, '|');
	return n == 1 ? one : many;
}

const char *counted_text(char room[COUNTED_TEXT], uint64_t n, const char *words)
{
	struct str shown = counted_words(n, words);
	int len = snprintf(room, COUNTED_TEXT, "%" PRIu64 " " STR_FMT, n, STR_ARG(shown));
	assert(len < COUNTED_TEXT);
	return room;
}
