// SPDX-License-Identifier: Apache-2.0
// A row of bash variables for each command, and one function that picks the row and asks compgen.
#include <stdint.h>

#include "cli/common/completion-words.h"

static void add_option_names(const struct option_row *row, struct buf *out)
{
	buf_printf(out, " --%s", row->name);
	if (row->letter)
		buf_printf(out, " -%c", row->letter);
}

// The options with a value of this kind.
static void write_options_of(const struct command *command, enum completion_kind kind, const char *name,
	struct buf *out)
{
	const struct option_row *row;
	buf_printf(out, " %s='", name);
	for (size_t i = 0; (row = command_next_option(command, &i));)
		if (row->value && completion_of_value(row->value) == kind)
			add_option_names(row, out);
	buf_puts(out, " '");
}

static void write_bash_row(const struct command *command, struct buf *out)
{
	static const char *const kind[COMPLETION_COUNT] = {"", "f", "d"};
	const struct option_row *row;
	buf_printf(out, "\t'%s')\n\t\toptions='", command->name);
	for (size_t i = 0; (row = command_next_option(command, &i));)
		buf_printf(out, "%s--%s", i > 1 ? " " : "", row->name);
	buf_puts(out, "' words='");
	completion_words(command, out);
	buf_printf(out, "' kind='%s'\n\t\t", kind[completion_of_arguments(command)]);
	write_options_of(command, COMPLETION_NOTHING, "values", out);
	write_options_of(command, COMPLETION_FILE, "files", out);
	write_options_of(command, COMPLETION_FOLDER, "folders", out);
	buf_puts(out, "\n\t\t;;\n");
}

static const char bash_head[] = "# bash completion of wheelcache, printed by wheelcache --completion bash\n"
				"\n"
				"# Sets the variables of a command; fails if there is no such command.\n"
				"_wheelcache_row() {\n"
				"\tcase $1 in\n";

// bash splits --config=FILE at the equals sign.
static const char bash_tail[] = "\t*) return 1 ;;\n"
				"\tesac\n"
				"}\n"
				"\n"
				"_wheelcache() {\n"
				"\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
				"\tlocal command='' i options words kind values files folders\n"
				"\tif [ \"$cur\" = = ]; then\n"
				"\t\tcur=''\n"
				"\telif [ \"$prev\" = = ]; then\n"
				"\t\tprev=${COMP_WORDS[COMP_CWORD - 2]}\n"
				"\tfi\n"
				"\t_wheelcache_row ''\n"
				"\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
				"\t\t[[ \" $words \" == *\" ${COMP_WORDS[i]} \"* ]] || break\n"
				"\t\t# The same words follow help.\n"
				"\t\t[ \"${COMP_WORDS[i]}\" != help ] || { options=--help && continue; }\n"
				"\t\tcommand+=${command:+ }${COMP_WORDS[i]}\n"
				"\t\t_wheelcache_row \"$command\" || words=''\n"
				"\tdone\n"
				"\tcase $prev in\n"
				"\t-*)\n"
				"\t\tcase $files in *\" $prev \"*) kind=f words='' options='' ;; esac\n"
				"\t\tcase $folders in *\" $prev \"*) kind=d words='' options='' ;; esac\n"
				"\t\tcase $values in *\" $prev \"*) kind='' words='' options='' ;; esac\n"
				"\t\t;;\n"
				"\tesac\n"
				"\tif [[ $cur == -* ]]; then\n"
				"\t\tmapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$cur\")\n"
				"\telif [ -n \"$words\" ]; then\n"
				"\t\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
				"\telif [ -n \"$kind\" ]; then\n"
				"\t\tcompopt -o filenames 2>/dev/null\n"
				"\t\tmapfile -t COMPREPLY < <(compgen \"-$kind\" -- \"$cur\")\n"
				"\telse\n"
				"\t\tCOMPREPLY=()\n"
				"\tfi\n"
				"}\n"
				"complete -F _wheelcache wheelcache\n";

void completion_bash(const struct command *root, struct buf *out)
{
	buf_puts(out, bash_head);
	completion_each(root, write_bash_row, out);
	buf_puts(out, bash_tail);
}
