// SPDX-License-Identifier: Apache-2.0
// One command of the program as a table row: its name, its options and its function. The main thread only.
// A command's file is cli/NAME.c, its manual is a section of wheelcache(1), its tests are in tests/e2e/.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "lib/base/err.h"

// One option. An option that is a configuration key names it, and needs no code of its command.
struct option_row {
	const char *name;          // the long form, without "--"
	char letter;               // the short form; '\0': none
	const char *value;         // the word for its value in the help; NULL: it takes no value
				   // "NAME...": the words that follow it are values too, up to the next option
	const char *help;          // one line
	const char *section, *key; // the configuration key that it sets ("yes" without a value); NO_KEY: none
};
#define NO_KEY NULL, NULL

// The options that several commands have. Their rows are in command.c, once for all commands.
enum shared_option {
	SHARED_CONFIG,
	SHARED_CATALOG,
	SHARED_STORE,
	SHARED_THREADS,
	SHARED_UPSTREAM,
	SHARED_UPSTREAM_URL,
	SHARED_PLATFORM,  // one name
	SHARED_PLATFORMS, // patterns
	SHARED_PYTHON,    // one
	SHARED_CA_FILE,
	SHARED_GRACE,
	SHARED_NAME_TAKEN_OVER,
	SHARED_OFFLINE,
	SHARED_OUTPUT,
	SHARED_RETRIES,
	SHARED_TIMEOUT,
	SHARED_TOKEN_FILE,
	SHARED_REASON, // of a change of a view's membership
	SHARED_DRY_RUN,
	SHARED_JSON,
	SHARED_QUIET,
	SHARED_LOG_LEVEL,
	SHARED_COUNT
};
#define SHARED(option) (1u << SHARED_##option)
// What a command has that reads the configuration.
#define SHARED_BASE (SHARED(CONFIG) | SHARED(CATALOG) | SHARED(LOG_LEVEL))

struct command {
	const char *name;                 // "index"; "prune plan" for a command of a group; "" for the program
	const char *arguments;            // what follows the options, for the usage line
	const char *help;                 // one line
	const struct option_row *options; // the options that this command alone has
	size_t option_count;
	unsigned shared;                   // the others: SHARED(JSON) | SHARED(QUIET)
	const struct command *const *rows; // the commands of a group; NULL at the end. NULL: it is no group
	// argv[0] is the command's name. Returns the exit code; main prints the error in *e.
	int (*run)(const struct command *self, int argc, char **argv, struct err *e);
};

extern const struct command command_audit;
extern const struct command command_build;
extern const struct command command_builds;
extern const struct command command_check;
extern const struct command command_client_config;
extern const struct command command_compare;
extern const struct command command_demote;
extern const struct command command_doctor;
extern const struct command command_evidence;
extern const struct command command_evidence_list;
extern const struct command command_evidence_make;
extern const struct command command_evidence_send;
extern const struct command command_evidence_show;
extern const struct command command_explain;
extern const struct command command_find;
extern const struct command command_freeze;
extern const struct command command_health;
extern const struct command command_help;
extern const struct command command_index;
extern const struct command command_log;
extern const struct command command_usage;
extern const struct command command_missing;
extern const struct command command_platform;
extern const struct command command_promote;
extern const struct command command_provenance;
extern const struct command command_prune;
extern const struct command command_prune_apply;
extern const struct command command_prune_follow;
extern const struct command command_prune_plan;
extern const struct command command_prune_purge;
extern const struct command command_prune_restore;
extern const struct command command_provides;
extern const struct command command_push;
extern const struct command command_rebuilds;
extern const struct command command_remove;
extern const struct command command_retain;
extern const struct command command_root; // the program itself: its rows are all commands (cli/root.c)
extern const struct command command_serve;
extern const struct command command_thaw;
extern const struct command command_token;
extern const struct command command_unyank;
extern const struct command command_view;
extern const struct command command_view_diff;
extern const struct command command_view_log;
extern const struct command command_view_repair;
extern const struct command command_view_rollback;
extern const struct command command_view_show;
extern const struct command command_yank;

// Called once per given option, in the order of the command line. value is NULL if the option takes none.
typedef int command_option_fn(void *ctx, const struct option_row *row, const char *value, struct err *e);

// Parses the options with getopt_long. Returns the index of the first argument that is not an option, or -1 with
// ERR_USAGE or an error of fn. "--help" prints the usage and ends the process with 0.
int command_options(const struct command *self, int argc, char **argv, command_option_fn *fn, void *ctx,
	struct err *e) MUST_CHECK;

// For a group of commands, such as "prune": runs the row whose second word is argv[1]. "--help" prints the rows. Returns
// the exit code. It is the run of such a command.
int command_run_row(const struct command *self, int argc, char **argv, struct err *e) MUST_CHECK;

// Prints what --help prints for a command, or for a group.
void command_print_help(const struct command *self, FILE *out);
// "plan" of "prune plan".
const char *command_word(const struct command *self);
// Returns the row of a group whose last word is this; NULL if there is none.
const struct command *command_find_row(const struct command *group, const char *word);
// Returns the row of a group that a mistyped word was meant to be; NULL if none is like it.
const struct command *command_nearest_row(const struct command *group, const char *word);
// Returns the option at *i, and moves *i, which is 0 at first, past it; NULL at the end. "--help" is the last one.
const struct option_row *command_next_option(const struct command *self, size_t *i);

// An option without a value.
struct command_flag {
	const char *name;
	bool *flag;
};
// Sets the flag of this name. Returns false if the table has no such name.
bool command_take_flag(const struct command_flag *flags, size_t count, const char *name);

// An option whose value is text. The text is borrowed from the command line.
struct command_text {
	const char *name;
	const char **text;
};
// Sets the text of this name. Returns false if the table has no such name.
bool command_take_text(const struct command_text *texts, size_t count, const char *name, const char *value);

// The values of an option that may be repeated. All zero at first. The texts are borrowed from the command line.
struct command_words {
	const char **item; // owned
	size_t count, room;
};
void command_words_add(struct command_words *words, const char *text);
void command_words_release(struct command_words *words);
// Adds the pattern of --platform, of SHARED(PLATFORMS). For the end of an option function: any other option is ERR_USAGE.
int command_take_platforms(struct command_words *globs, const char *name, const char *value, struct err *e) MUST_CHECK;
