// SPDX-License-Identifier: Apache-2.0
// A command line's effect on the configuration, and the options that many commands share. Values of the command line
// override those of the file; they are kept, so that the file can be read again. One thread at a time.
#pragma once

#include <stddef.h>

#include "cli/common/command.h"
#include "lib/base/err.h"
#include "lib/state/config/config.h"
#include "lib/state/config/config-type.h"

struct audit;

enum { CLI_CONFIG_MOST = 32 };

struct cli_config {
	const char *file; // --config; NULL: none. All strings are borrowed from the command line
	struct {
		const char *section, *key, *value;
	} given[CLI_CONFIG_MOST];
	size_t count;
	bool is_json, is_quiet, is_dry_run; // --json, --quiet, --dry-run
};

// Called for each option that is neither a configuration key nor one of the flags above. value is NULL if the option
// takes none.
typedef int cli_config_option_fn(void *ctx, const char *name, const char *value, struct err *e);

// Parses the options of a command. Returns the index of the first argument that is not an option, or -1.
// fn is NULL if the command has no options for it.
int cli_config_options(struct cli_config *s, const struct command *command, int argc, char **argv,
	cli_config_option_fn *fn, void *ctx, struct err *e) MUST_CHECK;
// Sets [store] path to the STORE of a command line.
void cli_config_take_store(struct cli_config *s, const char *store);
// Parses a whole command line: options, then at most one STORE.
int cli_config_take_line(struct cli_config *s, const struct command *command, int argc, char **argv,
	cli_config_option_fn *fn, void *ctx, struct err *e) MUST_CHECK;

// An option whose value is a number, but which is not a configuration key.
struct cli_config_number {
	const char *option;
	const struct config_type *setting;
	uint64_t *out;
};
// Fails with ERR_USAGE if the value is invalid, or the table has no such option.
int cli_config_take_number(const struct cli_config_number *table, size_t count, const char *option, const char *value,
	struct err *e) MUST_CHECK;

// Reads the file, then the command line's values, into c. The caller initialises c, and releases it even on failure.
// Also sets the log level and warns of risky upstream settings. ERR_USAGE if the file cannot be read.
int cli_config_read(const struct cli_config *s, struct config *c, struct err *e) MUST_CHECK;
// Opens the audit log. A command that writes opens it before its first change. The caller closes *out.
int cli_config_audit(const struct config *c, struct audit **out, struct err *e) MUST_CHECK;
// Logs a warning for each file that may hold names or passwords and that every account of the machine can read.
void cli_config_warn_of_readers(const struct cli_config *s, const struct config *c, const char *catalog);
// The path of the catalog: as configured, or the default path for the store. The caller frees it.
char *cli_config_catalog(const struct config *c, struct err *e) MUST_CHECK;
