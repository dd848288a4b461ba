// SPDX-License-Identifier: Apache-2.0
// A function for each command, which calls zsh's _arguments; a group's function calls that of its row.
#include <stdint.h>

#include "cli/common/completion-words.h"

static const char *const zsh_action[COMPLETION_COUNT] = {" ", "_files", "_files -/"};

// _wheelcache_prune_plan
static void write_function_name(const struct command *command, struct buf *out)
{
	buf_puts(out, "_wheelcache");
	if (*command->name)
		buf_putc(out, '_');
	for (const char *c = command->name; *c; c++)
		buf_putc(out, *c == ' ' ? '_' : *c);
}

static void quote_zsh(struct buf *out, const char *text)
{
	completion_quote(out, text, "[]:\\", "'\\''");
}

static void write_zsh_option(const struct option_row *row, struct buf *out)
{
	const char *value = row->value ? "=" : "";
	if (row->letter)
		buf_printf(out, " \\\n\t\t'(-%c --%s)'{-%c%s,--%s%s}'[", row->letter, row->name, row->letter,
			row->value ? "+" : "", row->name, value);
	else
		buf_printf(out, " \\\n\t\t'--%s%s[", row->name, value);
	quote_zsh(out, row->help);
	buf_putc(out, ']');
	if (row->value) {
		buf_putc(out, ':');
		quote_zsh(out, row->value);
		buf_printf(out, ":%s", zsh_action[completion_of_value(row->value)]);
	}
	buf_putc(out, '\'');
}

static void write_zsh_options(const struct command *command, struct buf *out)
{
	const struct option_row *row;
	for (size_t i = 0; (row = command_next_option(command, &i));)
		write_zsh_option(row, out);
}

static void write_group_function(const struct command *group, struct buf *out)
{
	buf_puts(out, "\tlocal curcontext=$curcontext state line\n\tlocal -a commands\n\tcommands=(");
	for (const struct command *const *row = group->rows; *row; row++) {
		buf_printf(out, "\n\t\t'%s:", command_word(*row));
		quote_zsh(out, (*row)->help);
		buf_putc(out, '\'');
	}
	buf_puts(out, "\n\t)\n\t_arguments -C");
	write_zsh_options(group, out);
	buf_puts(out, " \\\n\t\t'1:command:->command' '*::argument:->argument'\n"
		      "\tcase $state in\n"
		      "\tcommand) _describe command commands ;;\n"
		      "\targument) (($+functions[");
	write_function_name(group, out);
	buf_puts(out, "_$words[1]])) && ");
	write_function_name(group, out);
	buf_puts(out, "_$words[1] ;;\n\tesac\n");
}

static void write_zsh_function(const struct command *command, struct buf *out)
{
	CLEANUP(buf_release) struct buf words;
	buf_init(&words, SIZE_MAX / 2);
	write_function_name(command, out);
	buf_puts(out, "() {\n");
	if (command->rows) {
		write_group_function(command, out);
	} else {
		buf_puts(out, "\t_arguments -s -S");
		write_zsh_options(command, out);
		completion_words(command, &words);
		if (words.len)
			buf_printf(out, " \\\n\t\t'1:command:(%s)'", words.data);
		buf_printf(out, " \\\n\t\t'*:argument:%s'\n", zsh_action[completion_of_arguments(command)]);
	}
	buf_puts(out, "}\n\n");
}

// "help" takes the words of the program. The last line runs the function when zsh loads the file at its first use.
static const char zsh_tail[] = "_wheelcache_help() {\n\t_wheelcache\n}\n\n_wheelcache \"$@\"\n";

void completion_zsh(const struct command *root, struct buf *out)
{
	buf_puts(out,
		"#compdef wheelcache\n# zsh completion of wheelcache, printed by wheelcache --completion zsh\n\n");
	completion_each(root, write_zsh_function, out);
	buf_puts(out, zsh_tail);
}
