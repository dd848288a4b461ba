// SPDX-License-Identifier: Apache-2.0
#include "cli/common/mark-common.h"
#include "lib/base/mem.h"
#include "lib/os/clock.h"
#include "lib/state/publish/sidecar-ops.h"

static const struct option_row options[] = {
	{"reason", 'r', "TEXT", "the reason; a later upload of the file is refused with it", NO_KEY},
	{"delete", '\0', NULL, "also delete the bytes now; lock files that name the file break", NO_KEY},
};

static int remove_file(const struct mark_common *m, const struct platform *p, struct catalog *c, struct err *e)
{
	const struct tombstone t = {.reason = m->reason, .when = clock_wall_seconds(), .by = m->who, .size = -1};
	return sidecar_ops_remove(p, c, m->file, NULL, &t, m->deletes, e);
}

static int run_remove(const struct command *self, int argc, char **argv, struct err *e)
{
	struct mark_common m = {.action = "remove", .done = "removed", .mark = remove_file, .needs_reason = true};
	return mark_common_run(&m, self, argc, argv, e);
}

const struct command command_remove = {
	.name = "remove",
	.arguments = "FILE [STORE]",
	.help = "unlist a file and put a tombstone beside it",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.shared = SHARED_BASE | SHARED(PLATFORM) | SHARED(QUIET),
	.run = run_remove,
};
