// SPDX-License-Identifier: Apache-2.0
#include "cli/common/completion-words.h"

#include <string.h>

#include "lib/base/mem.h"
#include "lib/base/str.h"

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

static enum completion_kind kind_of_text(const char *text)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (strstr(text, kinds[i].word))
			return kinds[i].kind;
	return COMPLETION_NOTHING;
}

enum completion_kind completion_of_value(const char *value)
{
	return kind_of_text(value);
}

enum completion_kind completion_of_arguments(const struct command *command)
{
	return command->arguments ? kind_of_text(command->arguments) : COMPLETION_NOTHING;
}

void completion_words(const struct command *command, struct buf *out)
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

void completion_each(const struct command *root, completion_fn *fn, struct buf *out)
{
	fn(root, out);
	for (const struct command *const *row = root->rows; row && *row; row++)
		completion_each(*row, fn, out);
}

void completion_quote(struct buf *out, const char *text, const char *letters, const char *quote)
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
