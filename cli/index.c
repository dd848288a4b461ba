// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "cli/common/cli-config.h"
#include "cli/common/command.h"
#include "cli/common/progress.h"
#include "cli/common/report.h"
#include "indexer/export/export.h"
#include "indexer/scan/scan.h"
#include "lib/base/mem.h"

struct indexing {
	struct cli_config settings;
	struct config config;
	struct scan_options scan;
	struct report report;
	struct export_options export;
	struct progress progress;
};

static const struct option_row options[] = {
	{"config", 'c', "FILE", "read the configuration (wheelcache.conf(5)) from FILE"},
	{"catalog", '\0', "FILE", "keep the catalog in FILE"},
	{"threads", '\0', "N", "threads that read the store; one a processor"},
	{"settle", '\0', "SECONDS", "a damaged file younger than this is still being written; 60"},
	{"allow-empty", '\0', NULL, "a platform whose folder is empty or gone was emptied on purpose"},
	{"no-wait", '\0', NULL, "fail where another indexer is at work, instead of waiting"},
	{"static", '\0', "DIR", "then write all pages as files into DIR, for a web server"},
	{"base", '\0', "URL", "with --static: pages link to files below URL"},
	{"json", '\0', NULL, "print the summary as JSON"},
	{"quiet", 'q', NULL, "no progress bar and no summary"},
	{"log-level", '\0', "LEVEL", "error, warn, info or debug"},
};

static const struct cli_config_option keys[] = {
	{"catalog", "catalog", "path"},
	{"threads", "index", "threads"},
	{"settle", "index", "settle"},
	{"log-level", "server", "log-level"},
};

static bool take_flag(struct indexing *x, const char *name)
{
	const struct command_flag flags[] = {
		{"allow-empty", &x->scan.allow_empty},
		{"no-wait", &x->scan.no_wait},
		{"json", &x->report.is_json},
		{"quiet", &x->report.is_quiet},
	};
	return command_take_flag(flags, ARRAY_SIZE(flags), name);
}

static bool take_text(struct indexing *x, const char *name, const char *value)
{
	const struct {
		const char *name;
		const char **text;
	} texts[] = {
		{"static", &x->export.folder},
		{"base", &x->export.base},
	};
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (strcmp(name, texts[i].name) == 0) {
			*texts[i].text = value;
			return true;
		}
	return false;
}

static int take_option(void *ctx, const char *name, const char *value, struct err *e)
{
	struct indexing *x = ctx;
	if (take_flag(x, name) || take_text(x, name, value) ||
		cli_config_take(&x->settings, keys, ARRAY_SIZE(keys), name, value))
		return 0;
	return err_set(e, ERR_USAGE, "--%s", name);
}

// Runs a scan; *has_ended: also one that is not whole, and said so, has a summary.
static int scan(struct indexing *x, struct store *store, struct catalog *catalog, struct summary *summary,
	bool *has_ended, struct err *e)
{
	x->scan.threads = (unsigned)x->config.index_threads;
	x->scan.settle = x->config.settle;
	x->scan.compare_platforms = x->report.is_json || !x->report.is_quiet;
	x->scan.owner = "wheelcache index";
	x->scan.watch = (struct walk_watch){.progress = progress_walk, .ctx = &x->progress};
	int result = scan_run(store, catalog, &x->scan, summary, e);
	*has_ended = result == 0 || summary->number[SCAN_REPORT_PROBLEMS];
	return result;
}

// A catalog that never saw all of the store must not empty an export that was made from a whole
// one.
static int export_all(struct indexing *x, const struct site *site, struct catalog *catalog, struct summary *summary,
	struct err *e)
{
	bool was_scanned;
	if (catalog_was_scanned(catalog, &was_scanned, e) < 0)
		return -1;
	if (!was_scanned)
		return err_set(e, ERR_IO, "no scan was whole yet, so %s stays as it was", x->export.folder);
	return export_run(site, catalog, &x->export, summary, e);
}

// Each step is done where it can be; the last error is the one that is told, since what a scan
// could not look at is in its summary.
static int index_site(struct indexing *x, struct site *site, struct catalog *catalog, struct err *e)
{
	CLEANUP(summary_release) struct summary summary = {0};
	bool has_ended;
	progress_begin(&x->progress, !x->report.is_quiet);
	int result = scan(x, &site->store, catalog, &summary, &has_ended, e);
	if (has_ended && x->export.folder && export_all(x, site, catalog, &summary, e) < 0)
		result = -1;
	progress_end(&x->progress);
	if (has_ended && report_print(&x->report, &summary, e) < 0)
		result = -1;
	return result;
}

static int make_views(struct indexing *x, struct site *site, struct catalog *catalog, struct err *e)
{
	struct store store = site->store;
	x->export.progress = progress_export;
	x->export.ctx = &x->progress;
	return site_init(site, &x->config, &store, catalog, e);
}

// Views are made where they are exported: a scan alone does not mind what is wrong with them.
static int index_store(struct indexing *x, struct err *e)
{
	CLEANUP(site_release) struct site site = {0};
	CLEANUP(catalog_cleanup) struct catalog *catalog = NULL;
	if (cli_config_read(&x->settings, &x->config, e) < 0 ||
		store_open(&x->config, STORE_PATIENT, &site.store, e) < 0)
		return -1;
	CLEANUP(mem_free) char *path = cli_config_catalog(&x->config, e);
	if (!path || catalog_open(path, &catalog, e) < 0)
		return -1;
	// A platform whose volume is not mounted keeps its pages in the export, too.
	if (x->export.folder && !x->scan.allow_empty && store_recall(&site.store, catalog, e) < 0)
		return -1;
	if (store_register(&site.store, catalog, e) < 0)
		return -1;
	if (x->export.folder && (make_views(x, &site, catalog, e) < 0 || export_check(&site, &x->export, e) < 0))
		return -1;
	return index_site(x, &site, catalog, e);
}

static void indexing_release(struct indexing *x)
{
	config_release(&x->config);
}

static int run(const struct command *self, int argc, char **argv, struct err *e)
{
	CLEANUP(indexing_release) struct indexing x = {0};
	config_init(&x.config);
	if (cli_config_take_line(&x.settings, self, argc, argv, take_option, &x, e) < 0)
		return err_exit_code(e->kind);
	if (x.export.base && !x.export.folder) {
		err_set(e, ERR_USAGE, "--base is for --static DIR");
		return err_exit_code(e->kind);
	}
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
