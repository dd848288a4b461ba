// SPDX-License-Identifier: Apache-2.0
#include "lib/base/search.h"

#include <string.h>

size_t lower_bound(const void *key, const void *base, size_t count, size_t size, is_before_fn *is_before)
{
	size_t low = 0, high = count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (is_before((const char *)base + middle * size, key))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int compare_strings(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool is_string_before(const void *element, const void *key)
{
	return strcmp(*(const char *const *)element, key) < 0;
}
