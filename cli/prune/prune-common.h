// SPDX-License-Identifier: Apache-2.0
// What the commands share that change a store for pruning (pruner/operations/operation.h): their options, what they open, and what they
// tell of each file and at the end.
#pragma once

#include "cli/common/cli-config.h"
#include "cli/common/command.h"
#include "cli/common/progress.h"
#include "lib/state/config/config.h"
#include "pruner/operations/operation.h"

struct prune_common {
	const char *done, *would; // the words for what it does: "restored", "would be restored"
	bool tells_each;          // also of what went well
	// From the command line.
	struct cli_config settings;
	const char **glob;
	size_t globs, glob_room;
	bool is_quiet, is_dry;
	// What is open.
	struct config config;
	struct store store;
	struct catalog *catalog;
	struct audit *audit;
	char *who;
	struct operation operation;
	struct progress progress;
};

void prune_common_init(struct prune_common *x, const char *done, const char *would);
void prune_common_release(struct prune_common *x);
// --platform, --dry-run, --quiet, and those of the configuration. ERR_USAGE where it is another one.
int prune_common_take(struct prune_common *x, const char *name, const char *value, struct err *e) MUST_CHECK;
// Reads the configuration, opens store, catalog and audit log, and begins the operation.
int prune_common_open(struct prune_common *x, struct err *e) MUST_CHECK;
// "foo: restored 3 files (1.2 MB)": how many of each fate; nothing where it is quiet.
void prune_common_sum_up(const struct prune_common *x);
