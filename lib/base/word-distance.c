// SPDX-License-Identifier: Apache-2.0
#include "lib/base/word-distance.h"

#include "lib/base/limits.h"

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

// One row of the table of distances (optimal string alignment), only near the diagonal. before is the row before, and
// earlier the one before that. Returns the least distance of the row.
static size_t fill_distances(struct str a, struct str b, size_t i, size_t most, const size_t *earlier,
	const size_t *before, size_t *row)
{
	size_t from = i > most ? i - most : 1, to = i + most < b.len ? i + most : b.len;
	size_t best = row[from - 1] = from > 1 ? most + 1 : i;
	for (size_t k = from; k <= to; k++) {
		size_t beside = k < i + most ? before[k] + 1 : most + 1;
		bool is_same = a.ptr[i - 1] == b.ptr[k - 1];
		row[k] = smaller(smaller(beside, row[k - 1] + 1), before[k - 1] + !is_same);
		if (i > 1 && k > 1 && a.ptr[i - 1] == b.ptr[k - 2] && a.ptr[i - 2] == b.ptr[k - 1])
			row[k] = smaller(row[k], earlier[k - 2] + 1);
		best = smaller(best, row[k]);
	}
	return best;
}

size_t word_distance(struct str a, struct str b, size_t most)
{
	size_t row[3][LIMIT_FILE_NAME + 2];
	if (a.len > LIMIT_FILE_NAME || b.len > LIMIT_FILE_NAME || a.len > b.len + most || b.len > a.len + most)
		return most + 1;
	for (size_t k = 0; k <= b.len; k++)
		row[0][k] = row[2][k] = k;
	for (size_t i = 1; i <= a.len; i++)
		if (fill_distances(a, b, i, most, row[(i + 1) % 3], row[(i - 1) % 3], row[i % 3]) > most)
			return most + 1;
	return smaller(row[a.len % 3][b.len], most + 1);
}
