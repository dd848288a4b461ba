// SPDX-License-Identifier: Apache-2.0
#include "cli/common/command.h"

static const struct command *const rows[] = {
	&command_prune_plan,
	&command_prune_apply,
	&command_prune_purge,
	&command_prune_restore,
	&command_prune_follow,
	NULL,
};

const struct command command_prune = {
	.name = "prune",
	.help = "remove files that upstream also has: plan, review, apply, undo",
	.rows = rows,
	.run = command_run_row,
};
