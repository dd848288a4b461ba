// SPDX-License-Identifier: Apache-2.0
#include "cli/command.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/settings.h"
#include "indexer/scan.h"
#include "lib/base/mem.h"

struct indexing {
	struct settings settings;
	struct config config;
	struct scan_options scan;
	struct report report;
	struct progress progress;
};

static const struct option_row options[] = {
	{"config", 'c', "FILE", "read the configuration (wheelcache.conf(5)) from FILE"},
	{"catalog", '\0', "FILE", "keep the catalog in FILE"},
	{"threads", '\0', "N", "threads that read the store; one a processor"},
	{"settle", '\0', "SECONDS", "a damaged file younger than this is still being written; 60"},
	{"allow-empty", '\0', NULL,
		"a platform whose folder is empty or gone was emptied on purpose"},
	{"no-wait", '\0', NULL, "fail where another indexer is at work, instead of waiting"},
	{"json", '\0', NULL, "print the summary as JSON"},
	{"quiet", 'q', NULL, "no progress bar and no summary"},
	{"log-level", '\0', "LEVEL", "error, warn, info or debug"},
};

static const struct setting_option keys[] = {
	{"catalog", "catalog", "path"},
	{"threads", "index", "threads"},
	{"settle", "index", "settle"},
	{"log-level", "server", "log-level"},
};

static int take_option(void *ctx, const char *name, const char *value, struct err *e)
{
	struct indexing *x = ctx;
	const struct command_flag flags[] = {
		{"allow-empty", &x->scan.allow_empty},
		{"no-wait", &x->scan.no_wait},
		{"json", &x->report.is_json},
		{"quiet", &x->report.is_quiet},
	};
	if (command_take_flag(flags, ARRAY_SIZE(flags), name) ||
		settings_take(&x->settings, keys, ARRAY_SIZE(keys), name, value))
		return 0;
	return err_set(e, ERR_USAGE, "--%s", name);
}

static int scan(struct indexing *x, struct store *store, struct catalog *catalog, struct err *e)
{
	CLEANUP(summary_release) struct summary summary = {0};
	x->scan.threads = (unsigned)x->config.index_threads;
	x->scan.settle = x->config.settle;
	x->scan.compare_platforms = x->report.is_json || !x->report.is_quiet;
	x->scan.owner = "wheelcache index";
	x->scan.watch = (struct walk_watch){.progress = progress_walk, .ctx = &x->progress};
	progress_begin(&x->progress, !x->report.is_quiet);
	int result = scan_run(store, catalog, &x->scan, &summary, e);
	progress_end(&x->progress);
	struct err unwritten = ERR_INIT;
	bool has_ended = result == 0 || summary.number[SCANNED_PROBLEMS];
	if (has_ended && report_print(&x->report, &summary, &unwritten) < 0 && result == 0) {
		*e = unwritten;
		return -1;
	}
	return result;
}

static int index_store(struct indexing *x, struct err *e)
{
	CLEANUP(store_release) struct store store = {0};
	CLEANUP(catalog_cleanup) struct catalog *catalog = NULL;
	if (settings_read(&x->settings, &x->config, e) < 0 || store_open(&x->config, &store, e) < 0)
		return -1;
	CLEANUP(mem_free) char *path = settings_catalog(&x->config, e);
	if (!path || catalog_open(path, &catalog, e) < 0 || store_register(&store, catalog, e) < 0)
		return -1;
	return scan(x, &store, catalog, e);
}

static void indexing_release(struct indexing *x)
{
	config_release(&x->config);
}

static int run(const struct command *self, int argc, char **argv, struct err *e)
{
	CLEANUP(indexing_release) struct indexing x = {0};
	config_init(&x.config);
	int first = command_options(self, argc, argv, take_option, &x, e);
	if (first < 0 || settings_take_store(&x.settings, argc - first, argv + first, e) < 0)
		return err_exit_code(e->kind);
	return index_store(&x, e) < 0 ? err_exit_code(e->kind) : 0;
}

const struct command command_index = {
	.name = "index",
	.arguments = "[STORE]",
	.help = "bring the catalog up to date with a store",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.run = run,
};
