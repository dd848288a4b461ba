// SPDX-License-Identifier: Apache-2.0
// Shared by the commands that run a prune operation (pruner/operations/operation.h): options, opening of store and
// catalog, a line per file and the totals. One thread at a time.
#pragma once

#include "cli/common/cli-config.h"
#include "cli/common/command.h"
#include "cli/common/progress.h"
#include "lib/state/config/config.h"
#include "pruner/operations/operation.h"

struct prune_common {
	const char *done, *would; // "restored", "would be restored"
	bool prints_each;         // also print files that succeeded
	// From the command line.
	struct cli_config settings;
	struct command_words globs; // of --platform
	// Filled by prune_common_open.
	struct config config;
	struct store store;
	struct catalog *catalog;
	struct audit *audit;
	char *who;
	struct operation operation;
	struct progress progress;
};

// Borrows done and would.
void prune_common_init(struct prune_common *x, const char *done, const char *would);
void prune_common_release(struct prune_common *x);
// A cli_config_option_fn for --platform. ERR_USAGE for any other option.
int prune_common_take(struct prune_common *x, const char *name, const char *value, struct err *e) MUST_CHECK;
// Reads the configuration, opens store, catalog and audit log, and begins the operation.
int prune_common_open(struct prune_common *x, struct err *e) MUST_CHECK;
// Prints "3 files restored (1.2 MB)" for each result. Prints nothing with --quiet.
void prune_common_sum_up(const struct prune_common *x);
