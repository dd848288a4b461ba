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
struct catalog;
struct store;

enum { CLI_CONFIG_MOST = 32 };
// The file that is read where neither the command line nor the environment names one.
#define CLI_CONFIG_USUAL "/etc/wheelcache/wheelcache.conf"

// Where a command looks for its configuration without --config.
enum cli_config_search {
	CLI_CONFIG_SEARCH_ALL,      // $WHEELCACHE_CONFIG, else CLI_CONFIG_USUAL if no store and no catalog is given
	CLI_CONFIG_SEARCH_VARIABLE, // it needs no state of this machine's server: the variable only
	CLI_CONFIG_SEARCH_NONE,
};

struct cli_config {
	// --config, then what cli_config_read() found; NULL: none. All strings are borrowed from the command line and the
	// environment
	const char *file;
	enum cli_config_search search;
	bool has_searched;
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
// Whether the command line sets this key.
bool cli_config_has(const struct cli_config *s, const char *section, const char *key);
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
// A file that the command line does not name is searched at the first call, and logged. Also sets the log level, and warns
// of risky upstream settings and of a catalog that is not the one of the machine's server. ERR_USAGE if the file cannot
// be read.
int cli_config_read(struct cli_config *s, struct config *c, struct err *e) MUST_CHECK;
// Opens the audit log. A command that writes opens it before its first change. The caller closes *out.
int cli_config_audit(const struct config *c, struct audit **out, struct err *e) MUST_CHECK;
// Logs a warning for each file that may hold names or passwords and that every account of the machine can read.
void cli_config_warn_of_readers(const struct cli_config *s, const struct config *c, const char *catalog);
// store_adopt() for a command that may: not where a STORE of the command line takes the place of the configuration's.
int cli_config_adopt(const struct cli_config *s, const struct store *store, struct catalog *catalog,
	struct err *e) MUST_CHECK;
// The path of the catalog: as configured, or the default path for the store. The caller frees it.
char *cli_config_catalog(const struct config *c, struct err *e) MUST_CHECK;
