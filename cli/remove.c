// SPDX-License-Identifier: Apache-2.0
#include "cli/common/mark-common.h"
#include "lib/base/mem.h"
#include "lib/os/clock.h"
#include "lib/state/publish/sidecar-ops.h"
#include "pruner/plan/pins.h"

static const struct option_row options[] = {
	{"reason", 'r', "TEXT", "the reason; a later upload of the file is refused with it", NO_KEY},
	{"delete", '\0', NULL, "also delete the bytes now; lock files that name the file break", NO_KEY},
	{"force", '\0', NULL, "remove it although views with a membership have it", NO_KEY},
};

static int remove_file(const struct mark_common *m, const struct platform *p, struct catalog *c, struct err *e)
{
	const struct tombstone t = {.reason = m->reason, .when = clock_wall_seconds(), .by = m->who, .size = -1};
	return sidecar_ops_remove(p, c, m->file, NULL, &t, m->deletes, e);
}

// What a view has was released: its clients and its rollbacks need the file.
static int check_views_of_file(const struct mark_common *m, const struct config *config, const struct platform *p,
	struct catalog *c, struct err *e)
{
	struct err unknown = ERR_INIT;
	CLEANUP(catalog_place_release) struct catalog_place place = {0};
	CLEANUP(buf_release) struct buf views;
	buf_init(&views, ERR_MSG_SIZE / 2);
	if (m->forces || catalog_find_file(c, p->id, m->file, &place, &unknown) < 0)
		return 0;
	if (pins_sync(config, c, e) < 0)
		return err_advise(e, "--force removes the file nevertheless");
	if (pins_views(config, c, p->id, m->file, place.sha256, &views, e) < 0)
		return -1;
	if (!views.len)
		return 0;
	return err_set(e, ERR_CONFLICT,
		"%s: %s is released, in the views %s%s, whose clients would lose it. Nothing was done: wheelcache demote "
		"first, or use --force",
		p->name, m->file, views.data, views.failed ? " …" : "");
}

static int run_remove(const struct command *self, int argc, char **argv, struct err *e)
{
	struct mark_common m = {.action = "remove",
		.done = "removed",
		.mark = remove_file,
		.needs_reason = true,
		.check = check_views_of_file};
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
