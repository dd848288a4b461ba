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
struct setting_option {
	const char *option;
	const char *section, *key;
};

enum { SETTINGS_MOST = 32 };

struct settings {
	const char *file; // --config; NULL: none. Borrowed, as all below: the command line outlives it
	struct {
		const char *section, *key, *value;
	} given[SETTINGS_MOST];
	size_t count;
};

// Looks the option up in the table: "config" and those of the table are taken. False where it is another one.
bool settings_take(struct settings *s, const struct setting_option *table, size_t count, const char *option,
	const char *value);
// Takes the STORE of a command line.
void settings_take_store(struct settings *s, const char *store);
// Takes a command's whole line: its options by fn, then one STORE at most.
int settings_take_line(struct settings *s, const struct command *command, int argc, char **argv, option_fn *fn,
	void *ctx, struct err *e) MUST_CHECK;

// An option that is a number, and no key of the configuration.
struct settings_number {
	const char *option;
	const struct setting *setting;
	uint64_t *out;
};
// ERR_USAGE where the value is none, or the table has no such option.
int settings_take_number(const struct settings_number *table, size_t count, const char *option,
	const char *value, struct err *e) MUST_CHECK;

// Reads all of it over what c holds; c must be initialised, and is the caller's to release also where this fails.
int settings_read(const struct settings *s, struct config *c, struct err *e) MUST_CHECK;
// Opens the audit log, before a change.
int settings_audit(const struct config *c, struct audit **out, struct err *e) MUST_CHECK;
// Warns of each file whose mode lets every account of the machine read what may hold names or passwords.
void settings_warn_of_readers(const struct settings *s, const struct config *c, const char *catalog);
// Where the catalog is: as configured, or where that of the store belongs. To be freed by the caller.
char *settings_catalog(const struct config *c, struct err *e) MUST_CHECK;
