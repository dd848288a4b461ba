// SPDX-License-Identifier: Apache-2.0
#include "cli/common/mark-common.h"
#include "lib/base/mem.h"
#include "lib/state/publish/sidecar-ops.h"

static const struct option_row options[] = {
	{"reason", 'r', "TEXT", "the reason; pages show it", NO_KEY},
};

static int yank_file(const struct mark_common *m, const struct platform *p, struct catalog *c, struct err *e)
{
	return sidecar_ops_yank(p, c, m->file, m->reason, e);
}

static int run_yank(const struct command *self, int argc, char **argv, struct err *e)
{
	struct mark_common m = {.action = "yank", .done = "yanked", .mark = yank_file, .needs_reason = true};
	return mark_common_run(&m, self, argc, argv, e);
}

const struct command command_yank = {
	.name = "yank",
	.arguments = "FILE [STORE]",
	.help = "yank a file: clients install it only if they ask for its exact version",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.shared = SHARED_BASE | SHARED(PLATFORM) | SHARED(QUIET),
	.run = run_yank,
};

static int unyank_file(const struct mark_common *m, const struct platform *p, struct catalog *c, struct err *e)
{
	return sidecar_ops_unyank(p, c, m->file, e);
}

static int run_unyank(const struct command *self, int argc, char **argv, struct err *e)
{
	struct mark_common m = {.action = "unyank", .done = "no longer yanked:", .mark = unyank_file};
	return mark_common_run(&m, self, argc, argv, e);
}

const struct command command_unyank = {
	.name = "unyank",
	.arguments = "FILE [STORE]",
	.help = "undo yank",
	.shared = SHARED_BASE | SHARED(PLATFORM) | SHARED(QUIET),
	.run = run_unyank,
};
