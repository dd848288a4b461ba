// SPDX-License-Identifier: Apache-2.0
#include "cli/common/mark-common.h"
#include "lib/base/mem.h"
#include "lib/state/publish/sidecar-ops.h"

static const struct option_row options[] = {
	{"config", 'c', "FILE", "read the configuration (wheelcache.conf(5)) from FILE"},
	{"catalog", '\0', "FILE", "the catalog is FILE"},
	{"platform", 'p', "NAME", "on this platform alone; on all that have it"},
	{"quiet", 'q', NULL, "do not tell what was done"}, {"log-level", '\0', "LEVEL", "error, warn, info or debug"},
	{"reason", 'r', "TEXT", "why; pages show it"}, // not of unyank
};

static int yank(const struct mark_common *m, const struct platform *p, struct catalog *c, struct err *e)
{
	return sidecar_ops_yank(p, c, m->file, m->reason, e);
}

static int run_yank(const struct command *self, int argc, char **argv, struct err *e)
{
	struct mark_common m = {.action = "yank", .done = "yanked", .mark = yank, .needs_reason = true};
	return mark_common_run(&m, self, argc, argv, e);
}

const struct command command_yank = {
	.name = "yank",
	.arguments = "FILE [STORE]",
	.help = "mark a file as yanked, so that nobody installs it by chance",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.run = run_yank,
};

static int unyank(const struct mark_common *m, const struct platform *p, struct catalog *c, struct err *e)
{
	return sidecar_ops_unyank(p, c, m->file, e);
}

static int run_unyank(const struct command *self, int argc, char **argv, struct err *e)
{
	struct mark_common m = {.action = "unyank", .done = "no longer yanked:", .mark = unyank};
	return mark_common_run(&m, self, argc, argv, e);
}

const struct command command_unyank = {
	.name = "unyank",
	.arguments = "FILE [STORE]",
	.help = "take the yank off a file",
	.options = options,
	.option_count = ARRAY_SIZE(options) - 1,
	.run = run_unyank,
};
