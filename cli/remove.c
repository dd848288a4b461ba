// SPDX-License-Identifier: Apache-2.0
#include "cli/common/mark-common.h"
#include "lib/base/mem.h"
#include "lib/os/clock.h"
#include "lib/state/publish/sidecar-ops.h"

static const struct option_row options[] = {
	{"config", 'c', "FILE", "read the configuration (wheelcache.conf(5)) from FILE"},
	{"catalog", '\0', "FILE", "the catalog is FILE"},
	{"platform", 'p', "NAME", "on this platform alone; on all that have it"},
	{"reason", 'r', "TEXT", "why; whoever uploads it again is told"},
	{"delete", '\0', NULL, "delete its bytes too, at once: lock files that name it break"},
	{"quiet", 'q', NULL, "do not tell what was done"},
	{"log-level", '\0', "LEVEL", "error, warn, info or debug"},
};

static int remove_file(const struct mark_common *m, const struct platform *p, struct catalog *c, struct err *e)
{
	const struct tombstone t = {.reason = m->reason, .when = clock_wall_seconds(), .by = m->who, .size = -1};
	return sidecar_ops_remove(p, c, m->file, NULL, &t, m->deletes, e);
}

static int run(const struct command *self, int argc, char **argv, struct err *e)
{
	struct mark_common m = {.action = "remove", .done = "removed", .mark = remove_file, .needs_reason = true};
	return mark_common_run(&m, self, argc, argv, e);
}

const struct command command_remove = {
	.name = "remove",
	.arguments = "FILE [STORE]",
	.help = "take a file off the pages, with a tombstone in its place",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.run = run,
};
