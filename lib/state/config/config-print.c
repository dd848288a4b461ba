// SPDX-License-Identifier: Apache-2.0
// Prints the keys of the configuration as a file.
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "lib/state/config/config-option.h"
#include "lib/state/config/config.h"

// Prints the rows of the configuration.
static bool begins_section(size_t i)
{
	return !i || strcmp(config_table[i - 1].section, config_table[i].section) != 0;
}

// A comment sign stands before what has no default, and before sections with names.
static void print_heading(const struct config_option *row, FILE *out)
{
	bool is_named = config_section_is_named(row->section);
	fprintf(out, "%s[%s%s]\n", is_named ? "#" : "", row->section, is_named ? " NAME" : "");
	if (row->holder == CONFIG_HOLDER_UPSTREAM)
		fputs("# Of several, each is an [upstream NAME]: what it does not say, it has of here.\n", out);
}

static void print_key(const struct config_option *row, FILE *out)
{
	fprintf(out, "# %s%s\n%s%s = %s\n", row->help,
		row->effect == CONFIG_RESTART ? " Takes effect after a restart." : "",
		config_section_is_named(row->section) || !row->fallback ? "#" : "", row->key,
		row->fallback ? row->fallback : "");
}

void config_print(FILE *out)
{
	for (size_t i = 0; i < config_options; i++) {
		if (begins_section(i)) {
			fputs(i ? "\n" : "", out);
			print_heading(&config_table[i], out);
		}
		print_key(&config_table[i], out);
	}
}

void config_print_sections(FILE *out)
{
	for (size_t i = 0; i < config_options; i++)
		if (begins_section(i))
			fprintf(out, "  [%s%s]\n", config_table[i].section,
				config_section_is_named(config_table[i].section) ? " NAME" : "");
}

// Whether a topic is the row's key, or "[SECTION]", its section.
static bool row_is_topic(const struct config_option *row, const char *topic)
{
	struct str name = str_from(topic);
	if (*topic != '[')
		return strcmp(row->key, topic) == 0;
	name = str_slice(name, 1, name.len - (name.ptr[name.len - 1] == ']'));
	return str_eq(config_name_now(str_cut(&name, ' '), NULL), str_from(row->section));
}

size_t config_print_topic(const char *topic, FILE *out)
{
	const char *section = "";
	size_t count = 0;
	for (size_t i = 0; i < config_options; i++) {
		const struct config_option *row = &config_table[i];
		if (!row_is_topic(row, topic))
			continue;
		if (strcmp(section, row->section) != 0) {
			fputs(count ? "\n" : "", out);
			print_heading(row, out);
		}
		section = row->section;
		print_key(row, out);
		count++;
	}
	return count;
}
