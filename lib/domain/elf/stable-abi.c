// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/elf/stable-abi.h"

#include <stddef.h>

#include "lib/base/mem.h"

// The rows of stable-abi.txt, sorted by bytes.
static const struct {
	const char *symbol;
	int minor;
} rows[] = {
#include "lib/domain/elf/stable-abi.inc"
};

bool stable_abi_is_python(struct str symbol)
{
	return str_starts(symbol, STR("Py")) || str_starts(symbol, STR("_Py"));
}

int stable_abi_since(struct str symbol)
{
	size_t low = 0, high = ARRAY_SIZE(rows);
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = str_cmp(symbol, str_from(rows[middle].symbol));
		if (order == 0)
			return rows[middle].minor;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return -1;
}
