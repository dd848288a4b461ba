// SPDX-License-Identifier: Apache-2.0
// One command of the program as a table row: its name, its options and its function. The main thread only.
// A command's file is cli/NAME.c, its manual is a section of wheelcache(1), its tests are in tests/e2e/.
#pragma once

#include <stdio.h>

#include "cli/common/session.h"

// What becomes of an option. The macro of its kind says the field of the command's struct that it fills, and does not
// compile if that is of another type.
enum option_kind {
	OPTION_KEY,    // a configuration key: "yes" without a value
	OPTION_FLAG,   // bool
	OPTION_TEXT,   // const char *, borrowed from the command line; of several the last one
	OPTION_LIST,   // struct session_list
	OPTION_NUMBER, // uint64_t, of a type of lib/state/config/config-type.h
	OPTION_COUNT,  // uint64_t from 1 on
	OPTION_WORD,   // a pointer to a row of a table, whose first member is the word
	OPTION_CALL,   // take() does it
};

// One option: all that the parser, --help and the completion know of it.
struct option_row {
	const char *name;  // the long form, without "--"
	char letter;       // the short form; '\0': none
	const char *value; // the word for its value in the help; NULL: it takes no value
			   // "NAME...": the words that follow it are values too, up to the next option
	const char *help;  // one line
	enum option_kind kind;
	const char *section, *key;        // OPTION_KEY
	size_t at;                        // the offset of the field; of OPTION_CALL whatever take() does with it
	const struct config_type *number; // OPTION_NUMBER
	const void *table;                // OPTION_WORD
	size_t rows, row_size;
	// OPTION_CALL. x: the struct of the command. value: NULL if the option takes none.
	int (*take)(void *x, const struct option_row *row, const char *value, struct err *e);
};
// x: the tag of the struct.
#define FIELD_AT(x, field, type)                                                                                       \
	(offsetof(struct x, field) + 0 * sizeof(_Generic(&((struct x *)NULL)->field, type * : 0)))
#define KEY(section_, key_) .kind = OPTION_KEY, .section = (section_), .key = (key_)
#define FLAG(x, field) .kind = OPTION_FLAG, .at = FIELD_AT(x, field, bool)
#define TEXT(x, field) .kind = OPTION_TEXT, .at = FIELD_AT(x, field, const char *)
#define LIST(x, field) .kind = OPTION_LIST, .at = FIELD_AT(x, field, struct session_list)
#define NUMBER(x, field, of) .kind = OPTION_NUMBER, .at = FIELD_AT(x, field, uint64_t), .number = &config_type_##of
#define COUNT(x, field) .kind = OPTION_COUNT, .at = FIELD_AT(x, field, uint64_t)
#define WORD(x, field, table_)                                                                                         \
	.kind = OPTION_WORD, .at = FIELD_AT(x, field, __typeof__(&(table_)[0])), .table = (table_),                    \
	.rows = ARRAY_SIZE(table_), .row_size = sizeof((table_)[0])
#define CALL(take_) .kind = OPTION_CALL, .take = (take_)

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

// The words that may follow the options.
enum command_follow {
	FOLLOW_ANY,   // run() checks them
	FOLLOW_STORE, // at most one STORE, which the parser takes
};

#define OPTIONS(rows) .options = (rows), .option_count = ARRAY_SIZE(rows)

struct command {
	const char *name;                 // "index"; "prune plan" for a command of a group; "" for the program
	const char *arguments;            // what follows the options, for the usage line
	const char *help;                 // one line
	const struct option_row *options; // the options that this command alone has
	size_t option_count;
	unsigned shared;                   // the others: SHARED(JSON) | SHARED(QUIET)
	const struct command *const *rows; // the commands of a group; NULL at the end. NULL: it is no group
	enum command_follow follow;
	// The command's struct, in which the options are put: it begins with a struct session (session.h), and is all
	// zero before begin(). 0: the session alone.
	size_t size;
	void (*begin)(void *x); // NULL: nothing is to be set
	// After the command line is read. Returns the exit code, or -1: that of the error. main() prints an error in
	// *e.
	int (*run)(void *x, struct err *e);
	void (*release)(void *x); // whatever was run; before the session is released. NULL: there is nothing
};

// All commands, each in its file, in the order of the help.
// clang-format off
#define ALL_COMMANDS(X)                                                                                                \
	X(audit) X(build) X(builds) X(bundle) X(check) X(client_config) X(compare) X(demote) X(doctor) X(evidence) X(explain)    \
	X(exposed) X(find) X(freeze) X(health) X(help) X(hold) X(holds) X(index) X(lock) X(log) X(mirror) X(missing)   \
	X(platform) X(promote) X(provenance) X(prune) X(provides) X(push) X(rebuilds) X(remove) X(retain) X(serve)     \
	X(status) X(thaw) X(token) X(unyank) X(usage) X(view) X(waive) X(yank)
// clang-format on
#define DECLARE_COMMAND(name) extern const struct command command_##name;
ALL_COMMANDS(DECLARE_COMMAND)
extern const struct command command_prune_plan; // of the group "prune"

// Reads the command line, whose argv[0] is the command's name, and runs the command; of a group, such as "prune", the
// row whose second word is argv[1]. Returns the exit code. "--help" prints the usage, and ends the process with 0.
int command_run(const struct command *self, int argc, char **argv, struct err *e);
// Prints what --help prints for a command, or for a group.
void command_print_help(const struct command *self, FILE *out);
// "plan" of "prune plan".
const char *command_word(const struct command *self);
// Returns the row of a group whose last word is this; NULL if there is none.
const struct command *command_find_row(const struct command *group, const char *word);
// Returns the row of a group that a mistyped word was meant to be; NULL if none is like it.
const struct command *command_suggest_row(const struct command *group, const char *word);
// Returns the option at *i, and moves *i, which is 0 at first, past it; NULL at the end. "--help" is the last one.
const struct option_row *command_next_option(const struct command *self, size_t *i);
