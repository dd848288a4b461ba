// SPDX-License-Identifier: Apache-2.0
// What the scripts of cli/common/completion.h are made of, for the writers of the scripts. The main thread only.
#pragma once

#include "cli/common/command.h"
#include "lib/base/buf.h"

enum completion_kind {      // what stands at a place of the command line
	COMPLETION_NOTHING, // what the shell cannot know: a number, a name, a time
	COMPLETION_FILE,
	COMPLETION_FOLDER,
	COMPLETION_COUNT
};
// Of the value of an option that has one: "FILE...".
enum completion_kind completion_of_value(const char *value);
// Of the words that follow the options of a command.
enum completion_kind completion_of_arguments(const struct command *command);
// Appends the words that can follow the command itself, with blanks between: of a group its rows, of the arguments
// "add|list|revoke ID" the first three.
void completion_words(const struct command *command, struct buf *out);

// Called for the root, and for each command and each row of a group.
typedef void completion_fn(const struct command *command, struct buf *out);
void completion_each(const struct command *root, completion_fn *fn, struct buf *out);
// Appends text with a backslash before each of the letters; a quote ' becomes what stands for it in '…'.
void completion_quote(struct buf *out, const char *text, const char *letters, const char *quote);

// The writers, each in a file of its own. They append the script for the program.
void completion_bash(const struct command *root, struct buf *out);
void completion_zsh(const struct command *root, struct buf *out);
void completion_fish(const struct command *root, struct buf *out);
