// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/command.h"
#include "lib/base/mem.h"
#include "lib/domain/text/name.h"
#include "lib/os/clock.h"
#include "lib/state/catalog/catalog-write.h"
#include "lib/state/config/state-files.h"
#include "lib/view/usage.h"

struct usage_command {
	struct session s;
	const char *by_text, *project_text; // NULL: not given
	const struct usage_format *format;
	struct usage_platform *platform;
	size_t platforms, room;
};

static const struct usage_format {
	const char *name;
	void (*write)(const struct usage *u, enum usage_by by, struct buf *out);
} formats[] = {{"table", usage_write_table}, {"csv", usage_write_csv}, {"json", usage_write_json}};

static const struct option_row options[] = {
	{"by", '\0', "WHAT", "a row for each platform, project, version or age", TEXT(usage_command, by_text)},
	{"project", '\0', "NAME", "only this project", TEXT(usage_command, project_text)},
	{"format", '\0', "FORMAT", "table, csv or json", WORD(usage_command, format, formats)},
};

static int add_platform(void *ctx, const struct catalog_platform *p, struct err *e UNUSED)
{
	struct usage_command *x = ctx;
	ARENA_GROW(&x->s.arena, x->platform, x->platforms, x->room);
	x->platform[x->platforms++] = (struct usage_platform){p->id, arena_copy(&x->s.arena, str_from(p->name))};
	return 0;
}

static int run_usage(void *self, struct err *e)
{
	struct usage_command *x = self;
	struct session *s = &x->s;
	CLEANUP(downloads_cleanup) struct downloads *downloads = NULL;
	CLEANUP(usage_release) struct usage usage = {0};
	enum usage_by by;
	struct err uncounted = ERR_INIT;
	if (usage_by_read(x->by_text, &by) < 0)
		return err_set(e, ERR_USAGE, "--by %s: expected platform, project, version or age", x->by_text);
	if (x->project_text && !name_is_valid(str_from(x->project_text)))
		return err_set(e, ERR_USAGE, "--project %s: not a valid project name", x->project_text);
	if (session_open(s, SESSION_READ | SESSION_CHECK, e) < 0 || catalog_platforms(s->catalog, add_platform, x, e) < 0)
		return -1;
	CLEANUP(mem_free) char *counts = state_file(&s->config, s->catalog_path, STATE_FILE_DOWNLOADS);
	if (downloads_open(counts, &downloads, &uncounted) < 0 && uncounted.kind != ERR_NOT_FOUND) {
		*e = uncounted;
		return -1;
	}
	const struct usage_query q = {.by = by,
		.downloads = downloads,
		.platform = x->platform,
		.platforms = x->platforms,
		.project = x->project_text ? session_project(s, str_from(x->project_text)) : NULL,
		.now = clock_wall_seconds()};
	if (usage_read(s->catalog, &q, &usage, e) < 0)
		return -1;
	(x->format ? x->format : &formats[0])->write(&usage, by, &s->out);
	return 0;
}

const struct command command_usage = {
	.name = "usage",
	.arguments = "[STORE]",
	.help = "say how many files and bytes there are of what",
	OPTIONS(options),
	.shared = SHARED_BASE,
	.follow = FOLLOW_STORE,
	.size = sizeof(struct usage_command),
	.run = run_usage,
};
