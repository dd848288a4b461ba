// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/cli-config.h"
#include "cli/common/command.h"
#include "lib/base/limits.h"
#include "lib/base/mem.h"
#include "lib/domain/text/name.h"
#include "lib/os/clock.h"
#include "lib/state/catalog/catalog-write.h"
#include "lib/view/usage.h"

static const struct option_row options[] = {
	{"by", '\0', "WHAT", "a row for each platform, project, version or age", NO_KEY},
	{"project", '\0', "NAME", "only this project", NO_KEY},
	{"format", '\0', "FORMAT", "table, csv or json", NO_KEY},
};

struct usage_command {
	struct cli_config settings;
	struct config config;
	const char *by_text, *format, *project_text; // NULL: not given
	struct buf project;                          // in normal form; empty: all
	enum usage_by by;
	struct usage_platform *platform; // with owned names
	size_t platforms, room;
};

static const struct usage_format {
	const char *name;
	void (*write)(const struct usage *u, enum usage_by by, struct buf *out);
} formats[] = {{"table", usage_write_table}, {"csv", usage_write_csv}, {"json", usage_write_json}};

static int take_usage_option(void *ctx, const char *name, const char *value, struct err *e)
{
	struct usage_command *x = ctx;
	const struct command_text texts[] = {{"by", &x->by_text}, {"format", &x->format}, {"project", &x->project_text}};
	if (command_take_text(texts, ARRAY_SIZE(texts), name, value))
		return 0;
	return err_set(e, ERR_USAGE, "--%s", name);
}

static const struct usage_format *find_format(const char *name, struct err *e)
{
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		if (!name || strcmp(name, formats[i].name) == 0)
			return &formats[i];
	err_set(e, ERR_USAGE, "--format %s: expected table, csv or json", name);
	return NULL;
}

static int take_by(struct usage_command *x, struct err *e)
{
	if (usage_by_read(x->by_text, &x->by) == 0)
		return 0;
	return err_set(e, ERR_USAGE, "--by %s: expected platform, project, version or age", x->by_text);
}

static int take_usage_project(struct usage_command *x, struct err *e)
{
	if (!x->project_text)
		return 0;
	if (!name_is_valid(str_from(x->project_text)))
		return err_set(e, ERR_USAGE, "--project %s: not a valid project name", x->project_text);
	name_normalize(str_from(x->project_text), &x->project);
	return 0;
}

static int add_platform(void *ctx, const struct catalog_platform *p, struct err *e UNUSED)
{
	struct usage_command *x = ctx;
	GROW(x->platform, x->platforms, x->room);
	x->platform[x->platforms++] = (struct usage_platform){p->id, xstrdup(p->name)};
	return 0;
}

static int print_usage(struct usage_command *x, const struct usage_format *format, struct err *e)
{
	CLEANUP(catalog_cleanup) struct catalog *catalog = NULL;
	CLEANUP(downloads_cleanup) struct downloads *downloads = NULL;
	CLEANUP(usage_release) struct usage usage = {0};
	CLEANUP(buf_release) struct buf out;
	struct err uncounted = ERR_INIT;
	CLEANUP(mem_free) char *path = cli_config_catalog(&x->config, e);
	buf_init(&out, SIZE_MAX / 2);
	if (!path || catalog_open_read(path, &catalog, e) < 0 || catalog_platforms(catalog, add_platform, x, e) < 0)
		return -1;
	if (downloads_open(path, &downloads, &uncounted) < 0 && uncounted.kind != ERR_NOT_FOUND) {
		*e = uncounted;
		return -1;
	}
	const struct usage_query q = {.by = x->by,
		.downloads = downloads,
		.platform = x->platform,
		.platforms = x->platforms,
		.project = x->project.len ? x->project.data : NULL,
		.now = clock_wall_seconds()};
	if (usage_read(catalog, &q, &usage, e) < 0)
		return -1;
	format->write(&usage, x->by, &out);
	if (fwrite(out.data, 1, out.len, stdout) != out.len || fflush(stdout) != 0)
		return err_errno(e, ERR_IO, "standard output");
	return 0;
}

static void usage_command_release(struct usage_command *x)
{
	for (size_t i = 0; i < x->platforms; i++)
		free((char *)(uintptr_t)x->platform[i].name);
	free(x->platform);
	buf_release(&x->project);
	config_release(&x->config);
}

static int run_usage(const struct command *self, int argc, char **argv, struct err *e)
{
	CLEANUP(usage_command_release) struct usage_command x = {0};
	config_init(&x.config);
	buf_init(&x.project, LIMIT_FILE_NAME);
	if (cli_config_take_line(&x.settings, self, argc, argv, take_usage_option, &x, e) < 0 || take_by(&x, e) < 0 ||
		take_usage_project(&x, e) < 0)
		return err_exit_code(e->kind);
	const struct usage_format *format = find_format(x.format, e);
	bool is_done = format && cli_config_read(&x.settings, &x.config, e) == 0 && print_usage(&x, format, e) == 0;
	return is_done ? 0 : err_exit_code(e->kind);
}

const struct command command_usage = {
	.name = "usage",
	.arguments = "[STORE]",
	.help = "say how many files and bytes there are of what",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.shared = SHARED_BASE,
	.run = run_usage,
};
