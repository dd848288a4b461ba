// SPDX-License-Identifier: Apache-2.0
// Finds the rows, sections and views that mistyped names were meant to be.
#include <stddef.h>

#include "lib/base/suggest.h"
#include "lib/state/config/config-option.h"
#include "lib/state/config/config.h"

const char *config_nearest_key(struct str section, const char *typed)
{
	struct suggest n;
	suggest_init(&n, str_from(typed));
	for (size_t i = 0; i < config_options; i++)
		if (!section.len || str_eq(section, str_from(config_table[i].section)))
			suggest_offer(&n, config_table[i].key);
	return n.word;
}

const char *config_nearest_section(struct str typed)
{
	struct suggest n;
	suggest_init(&n, typed);
	for (size_t i = 0; i < config_options; i++)
		suggest_offer(&n, config_table[i].section);
	return n.word;
}

int config_refuse_view(const struct config *c, const char *name, enum err_kind kind, struct err *e)
{
	CLEANUP(name_choice_release) struct name_choice names;
	name_choice_init(&names, str_from(name));
	for (size_t i = 0; i < c->view_count; i++)
		name_choice_offer(&names, c->views[i].name);
	return name_choice_refuse(&names, kind, "the configuration has no view", e);
}
