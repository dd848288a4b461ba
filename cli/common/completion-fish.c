// SPDX-License-Identifier: Apache-2.0
// One line of fish for each word and each option, with the commands that it follows.
#include <stdint.h>

#include "cli/common/completion-words.h"

static const char *const fish_value[COMPLETION_COUNT] = {
	" -x", " -r -F", " -x -a '(__fish_complete_directories (commandline -ct))'"};

static void quote_fish(struct buf *out, const char *text)
{
	completion_quote(out, text, "\\", "\\'");
}

static void write_fish_option(const struct command *command, const struct option_row *row, struct buf *out)
{
	buf_printf(out, "complete -c wheelcache -n '__wheelcache_%s %s' -l %s", command->rows ? "at" : "in",
		command->name, row->name);
	if (row->letter)
		buf_printf(out, " -s %c", row->letter);
	buf_printf(out, "%s -d '", row->value ? fish_value[completion_of_value(row->value)] : "");
	quote_fish(out, row->help);
	buf_puts(out, "'\n");
}

static void write_fish_words(const struct command *command, struct buf *out)
{
	CLEANUP(buf_release) struct buf words;
	buf_init(&words, SIZE_MAX / 2);
	for (const struct command *const *row = command->rows; row && *row; row++) {
		buf_printf(out, "complete -c wheelcache -n '__wheelcache_at %s' -a %s -d '", command->name,
			command_word(*row));
		quote_fish(out, (*row)->help);
		buf_puts(out, "'\n");
	}
	if (command->rows)
		return;
	completion_words(command, &words);
	if (words.len)
		buf_printf(out, "complete -c wheelcache -n '__wheelcache_at %s' -a '%s'\n", command->name, words.data);
}

static void write_fish_command(const struct command *command, struct buf *out)
{
	static const char *const arguments[COMPLETION_COUNT] = {
		NULL, "-F", "-a '(__fish_complete_directories (commandline -ct))'"};
	const struct option_row *row;
	const char *what = arguments[completion_of_arguments(command)];
	write_fish_words(command, out);
	for (size_t i = 0; (row = command_next_option(command, &i));)
		write_fish_option(command, row, out);
	if (what)
		buf_printf(out, "complete -c wheelcache -n '__wheelcache_in %s' %s\n", command->name, what);
}

static const char fish_head[] = "# fish completion of wheelcache, printed by wheelcache --completion fish\n"
				"\n"
				"# The words before the cursor, without the program and the word \"help\".\n"
				"function __wheelcache_words\n"
				"\tset -l words (commandline -opc)\n"
				"\tset -e words[1]\n"
				"\tif test \"$words[1]\" = help\n"
				"\t\tset -e words[1]\n"
				"\tend\n"
				"\tstring join -- \\n $words\n"
				"end\n"
				"\n"
				"# Whether the line begins with these words.\n"
				"function __wheelcache_in\n"
				"\tset -l words (__wheelcache_words)\n"
				"\tset -l last (count $argv)\n"
				"\ttest (count $words) -ge $last; or return 1\n"
				"\ttest $last -eq 0; or test \"$words[1..$last]\" = \"$argv\"\n"
				"end\n"
				"\n"
				"# Whether the line has these words only.\n"
				"function __wheelcache_at\n"
				"\ttest (count (__wheelcache_words)) -eq (count $argv); and __wheelcache_in $argv\n"
				"end\n"
				"\n"
				"complete -c wheelcache -f\n";

void completion_fish(const struct command *root, struct buf *out)
{
	buf_puts(out, fish_head);
	completion_each(root, write_fish_command, out);
}
