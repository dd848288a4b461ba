// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/elf/stable-abi.h"

#include <stddef.h>

#include "lib/base/mem.h"
#include "lib/base/search.h"

// The rows of stable-abi.txt, sorted by bytes.
static const struct stable_symbol {
	const char *symbol;
	int minor;
} rows[] = {
#include "lib/domain/elf/stable-abi.inc"
};

bool stable_abi_is_python(struct str symbol)
{
	return str_starts(symbol, STR("Py")) || str_starts(symbol, STR("_Py"));
}

static bool is_before_symbol_name(const void *element, const void *key)
{
	return str_cmp(str_from(((const struct stable_symbol *)element)->symbol), *(const struct str *)key) < 0;
}

// The index of the first symbol that is not before the name.
static size_t find_symbol(struct str name)
{
	return lower_bound(&name, rows, ARRAY_SIZE(rows), sizeof(*rows), is_before_symbol_name);
}

int stable_abi_since(struct str symbol)
{
	size_t at = find_symbol(symbol);
	return at < ARRAY_SIZE(rows) && str_eq(str_from(rows[at].symbol), symbol) ? rows[at].minor : -1;
}

bool stable_abi_has_kin(struct str symbol)
{
	bool is_private = str_starts(symbol, STR("_"));
	struct str name = str_slice(symbol, is_private, symbol.len);
	long end = str_find(name, '_');
	struct str head = str_slice(name, 0, end < 0 ? name.len : (size_t)end + 1);
	size_t at = find_symbol(head);
	return at < ARRAY_SIZE(rows) && str_starts(str_from(rows[at].symbol), head);
}
