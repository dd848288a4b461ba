// SPDX-License-Identifier: Apache-2.0
// Finds the rows of the configuration that mistyped names were meant to be.
#include <stddef.h>

#include "lib/base/nearest.h"
#include "lib/state/config/config-option.h"
#include "lib/state/config/config.h"

const char *config_nearest_key(struct str section, const char *typed)
{
	struct nearest n;
	nearest_init(&n, str_from(typed));
	for (size_t i = 0; i < config_options; i++)
		if (!section.len || str_eq(section, str_from(config_table[i].section)))
			nearest_offer(&n, config_table[i].key);
	return n.word;
}

const char *config_nearest_section(struct str typed)
{
	struct nearest n;
	nearest_init(&n, typed);
	for (size_t i = 0; i < config_options; i++)
		nearest_offer(&n, config_table[i].section);
	return n.word;
}
