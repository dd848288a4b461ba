// SPDX-License-Identifier: Apache-2.0
// The configuration as a command sees it: the file of --config, with the options and the STORE of the command line
// above it. The command line is kept, so that the file can be read again.
#pragma once

#include <stddef.h>

#include "cli/common/command.h"
#include "lib/base/err.h"
#include "lib/state/config/config.h"
#include "lib/state/config/config-type.h"

struct audit;

// An option that stands for a key of the configuration.
struct cli_config_option {
	const char *option;
	const char *section, *key;
};

enum { CLI_CONFIG_MOST = 32 };

struct cli_config {
	const char *file; // --config; NULL: none. Borrowed, as all below: the command line outlives it
	struct {
		const char *section, *key, *value;
	} given[CLI_CONFIG_MOST];
	size_t count;
};

// Looks the option up in the table: "config" and those of the table are taken. False where it is another one.
bool cli_config_take(struct cli_config *s, const struct cli_config_option *table, size_t count, const char *option,
	const char *value);
// Takes the STORE of a command line.
void cli_config_take_store(struct cli_config *s, const char *store);
// Takes a command's whole line: its options by fn, then one STORE at most.
int cli_config_take_line(struct cli_config *s, const struct command *command, int argc, char **argv, option_fn *fn,
	void *ctx, struct err *e) MUST_CHECK;

// An option that is a number, and no key of the configuration.
struct cli_config_number {
	const char *option;
	const struct config_type *setting;
	uint64_t *out;
};
// ERR_USAGE where the value is none, or the table has no such option.
int cli_config_take_number(const struct cli_config_number *table, size_t count, const char *option, const char *value,
	struct err *e) MUST_CHECK;

// Reads all of it over what c holds; c must be initialised, and is the caller's to release also where this fails.
int cli_config_read(const struct cli_config *s, struct config *c, struct err *e) MUST_CHECK;
// Opens the audit log, before a change.
int cli_config_audit(const struct config *c, struct audit **out, struct err *e) MUST_CHECK;
// Warns of each file whose mode lets every account of the machine read what may hold names or passwords.
void cli_config_warn_of_readers(const struct cli_config *s, const struct config *c, const char *catalog);
// Where the catalog is: as configured, or where that of the store belongs. To be freed by the caller.
char *cli_config_catalog(const struct config *c, struct err *e) MUST_CHECK;
