// SPDX-License-Identifier: Apache-2.0
// A command of the program: its file is cli/<name>.c, its manual is wheelcache(1), its test tests/e2e/.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/err.h"

// A long option; .value is the word that stands for its argument in the help, NULL where it takes none.
struct option_row {
	const char *name;
	char letter; // its short form, '\0' where it has none
	const char *value;
	const char *help;
};

// Called for each option as it comes; value is NULL where the option takes none.
typedef int option_fn(void *ctx, const char *name, const char *value, struct err *e);

struct command {
	const char *name;
	const char *arguments; // what follows the options, for the usage line
	const char *help;      // one line
	const struct option_row *options;
	size_t option_count;
	// Runs with what follows the command's name (argv[0] is the name). Returns the exit code; an
	// error is in *e and is printed by main.
	int (*run)(const struct command *self, int argc, char **argv, struct err *e);
};

extern const struct command command_check;
extern const struct command command_explain;
extern const struct command command_freeze;
extern const struct command command_index;
extern const struct command command_platform;
extern const struct command command_prune;
extern const struct command command_prune_apply;
extern const struct command command_prune_follow;
extern const struct command command_prune_plan;
extern const struct command command_prune_purge;
extern const struct command command_prune_restore;
extern const struct command command_push;
extern const struct command command_remove;
extern const struct command command_serve;
extern const struct command command_thaw;
extern const struct command command_token;
extern const struct command command_unyank;
extern const struct command command_yank;

// Walks the options by the command's table (getopt_long); returns the index of the first argument that is
// none, or -1 with *e set. "--help" prints the usage from the table and ends the process with 0.
int command_options(const struct command *self, int argc, char **argv, option_fn *fn, void *ctx,
	struct err *e) MUST_CHECK;

// Runs the row that the first word names, of a command that is several: "prune" has "prune plan", a command of its own
// whose name is both words. rows ends with NULL. "--help" prints them.
int command_run_row(const struct command *self, const struct command *const *rows, int argc, char **argv,
	struct err *e) MUST_CHECK;

// An option without a value.
struct command_flag {
	const char *name;
	bool *flag;
};
// Sets the flag of this name; false where there is none.
bool command_take_flag(const struct command_flag *flags, size_t count, const char *name);
