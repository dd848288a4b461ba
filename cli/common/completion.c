// SPDX-License-Identifier: Apache-2.0
#include "cli/common/completion.h"

#include <stdint.h>
#include <string.h>

#include "lib/base/buf.h"
#include "lib/base/mem.h"
#include "lib/base/str.h"

enum completion_kind {      // what stands at a place of the command line
	COMPLETION_NOTHING, // what the shell cannot know: a number, a name, a time
	COMPLETION_FILE,
	COMPLETION_FOLDER,
	COMPLETION_COUNT
};

// The words of --help that stand for files and folders.
static const struct {
	const char *word;
	enum completion_kind kind;
} kinds[] = {
	{"FILE", COMPLETION_FILE},
	{"PLAN", COMPLETION_FILE},
	{"A B", COMPLETION_FILE},
	{"DIR", COMPLETION_FOLDER},
	{"ROOT", COMPLETION_FOLDER},
	{"STORE", COMPLETION_FOLDER},
};

// Of the value of an option: "FILE...".
static enum completion_kind completion_of_value(const char *text)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (strstr(text, kinds[i].word))
			return kinds[i].kind;
	return COMPLETION_NOTHING;
}

// Of the words that follow the options of a command.
static enum completion_kind completion_of_arguments(const struct command *command)
{
	return command->arguments ? completion_of_value(command->arguments) : COMPLETION_NOTHING;
}

// The words that can follow the command itself, with blanks between: of a group its rows, of the arguments
// "add|list|revoke ID" the first three.
static void completion_words(const struct command *command, struct buf *out)
{
	const char *between = "";
	for (const struct command *const *row = command->rows; row && *row; row++) {
		buf_printf(out, "%s%s", between, command_word(*row));
		between = " ";
	}
	if (command->rows || !command->arguments || *command->arguments < 'a' || *command->arguments > 'z')
		return;
	struct str rest = str_from(command->arguments);
	struct str words = str_cut(&rest, ' ');
	for (; words.len; between = " ") {
		struct str word = str_cut(&words, '|');
		buf_printf(out, "%s" STR_FMT, between, STR_ARG(word));
	}
}

// Called for the root, and for each command and each row of a group.
typedef void completion_fn(const struct command *command, struct buf *out);
static void completion_each(const struct command *root, completion_fn *fn, struct buf *out)
{
	fn(root, out);
	for (const struct command *const *row = root->rows; row && *row; row++)
		completion_each(*row, fn, out);
}

// Appends text with a backslash before each of the letters; a quote ' becomes what stands for it in '…'.
static void completion_quote(struct buf *out, const char *text, const char *letters, const char *quote)
{
	for (; *text; text++) {
		if (*text == '\'') {
			buf_puts(out, quote);
			continue;
		}
		if (strchr(letters, *text))
			buf_putc(out, '\\');
		buf_putc(out, *text);
	}
}

// --- bash: a row of variables for each command, and one function that picks the row and asks compgen ---

// The options with a value of this kind.
static void write_options_of(const struct command *command, enum completion_kind kind, const char *name,
	struct buf *out)
{
	const struct option_row *row;
	buf_printf(out, " %s='", name);
	for (size_t i = 0; (row = command_next_option(command, &i));)
		if (row->value && completion_of_value(row->value) == kind) {
			buf_printf(out, " --%s", row->name);
			if (row->letter)
				buf_printf(out, " -%c", row->letter);
		}
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

static void completion_bash(const struct command *root, struct buf *out)
{
	buf_puts(out, bash_head);
	completion_each(root, write_bash_row, out);
	buf_puts(out, bash_tail);
}

// --- zsh: a function for each command, which calls _arguments; a group's function calls that of its row ---

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

static void write_zsh_options(const struct command *command, struct buf *out)
{
	const struct option_row *row;
	for (size_t i = 0; (row = command_next_option(command, &i));) {
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
}

static void write_zsh_function(const struct command *command, struct buf *out)
{
	CLEANUP(buf_release) struct buf words = buf_up_to(SIZE_MAX / 2);
	write_function_name(command, out);
	buf_puts(out, "() {\n");
	if (command->rows) {
		buf_puts(out, "\tlocal curcontext=$curcontext state line\n\tlocal -a commands\n\tcommands=(");
		for (const struct command *const *row = command->rows; *row; row++) {
			buf_printf(out, "\n\t\t'%s:", command_word(*row));
			quote_zsh(out, (*row)->help);
			buf_putc(out, '\'');
		}
		buf_puts(out, "\n\t)\n\t_arguments -C");
		write_zsh_options(command, out);
		buf_puts(out, " \\\n\t\t'1:command:->command' '*::argument:->argument'\n"
			      "\tcase $state in\n"
			      "\tcommand) _describe command commands ;;\n"
			      "\targument) (($+functions[");
		write_function_name(command, out);
		buf_puts(out, "_$words[1]])) && ");
		write_function_name(command, out);
		buf_puts(out, "_$words[1] ;;\n\tesac\n");
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

static void completion_zsh(const struct command *root, struct buf *out)
{
	buf_puts(out,
		"#compdef wheelcache\n# zsh completion of wheelcache, printed by wheelcache --completion zsh\n\n");
	completion_each(root, write_zsh_function, out);
	buf_puts(out, zsh_tail);
}

// --- fish: one line for each word and each option, with the commands that it follows ---

static const char *const fish_value[COMPLETION_COUNT] = {
	" -x", " -r -F", " -x -a '(__fish_complete_directories (commandline -ct))'"};

static void quote_fish(struct buf *out, const char *text)
{
	completion_quote(out, text, "\\", "\\'");
}

static void write_fish_words(const struct command *command, struct buf *out)
{
	CLEANUP(buf_release) struct buf words = buf_up_to(SIZE_MAX / 2);
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
	for (size_t i = 0; (row = command_next_option(command, &i));) {
		buf_printf(out, "complete -c wheelcache -n '__wheelcache_%s %s' -l %s", command->rows ? "at" : "in",
			command->name, row->name);
		if (row->letter)
			buf_printf(out, " -s %c", row->letter);
		buf_printf(out, "%s -d '", row->value ? fish_value[completion_of_value(row->value)] : "");
		quote_fish(out, row->help);
		buf_puts(out, "'\n");
	}
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

static void completion_fish(const struct command *root, struct buf *out)
{
	buf_puts(out, fish_head);
	completion_each(root, write_fish_command, out);
}

// --- all ---

static const struct {
	const char *name;
	void (*write)(const struct command *root, struct buf *out);
} shells[] = {{"bash", completion_bash}, {"zsh", completion_zsh}, {"fish", completion_fish}};

int completion_print(const struct command *root, const char *shell, FILE *out, struct err *e)
{
	CLEANUP(buf_release) struct buf text = buf_up_to(SIZE_MAX / 2);
	for (size_t i = 0; i < ARRAY_SIZE(shells); i++)
		if (strcmp(shell, shells[i].name) == 0)
			shells[i].write(root, &text);
	if (!text.len)
		return err_set(e, ERR_USAGE, "--completion %s: expected bash, zsh or fish", shell);
	if (fwrite(text.data, 1, text.len, out) != text.len || fflush(out) < 0)
		return err_errno(e, ERR_IO, "cannot write the completion");
	return 0;
}
