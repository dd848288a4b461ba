// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <string.h>

#include "cli/common/cli-config.h"
#include "cli/common/command.h"
#include "cli/common/progress.h"
#include "cli/common/report.h"
#include "indexer/scan/scan-log.h"
#include "indexer/export/export.h"
#include "indexer/scan/scan.h"
#include "lib/base/log.h"
#include "lib/base/mem.h"
#include "lib/state/views/membership.h"
#include "lib/view/site-check.h"

enum { HOOK_SECONDS = 60 }; // for the commands of [index] on-change

struct index_command {
	struct cli_config settings;
	struct config config;
	struct scan_options scan;
	struct export_options export;
	struct progress progress;
	bool checks;
};

static const struct option_row options[] = {
	{"settle", '\0', "SECONDS", "do not judge a damaged file younger than this; 60", "index", "settle"},
	{"allow-empty", '\0', NULL, "accept that the folder of a platform is empty or missing", NO_KEY},
	{"check", '\0', NULL, "exit with 1 if a file is quarantined, or for other machines than its platform's", NO_KEY},
	{"no-wait", '\0', NULL, "fail instead of waiting for another indexer", NO_KEY},
	{"static", '\0', "DIR", "then write all pages as files to DIR, for a web server", NO_KEY},
	{"base", '\0', "URL", "with --static: link to files below URL", NO_KEY},
};

static int take_index_option(void *ctx, const char *name, const char *value, struct err *e)
{
	struct index_command *x = ctx;
	const struct command_flag flags[] = {
		{"allow-empty", &x->scan.allow_empty},
		{"no-wait", &x->scan.no_wait},
		{"check", &x->checks},
	};
	const struct command_text texts[] = {
		{"static", &x->export.folder},
		{"base", &x->export.base},
	};
	if (command_take_flag(flags, ARRAY_SIZE(flags), name) ||
		command_take_text(texts, ARRAY_SIZE(texts), name, value))
		return 0;
	return err_set(e, ERR_USAGE, "--%s", name);
}

// *has_ended: the scan has a summary. This is also true of an incomplete scan, which fails.
static int scan_store(struct index_command *x, struct store *store, struct catalog *catalog, struct summary *summary,
	bool *has_ended, struct err *e)
{
	x->scan.threads = (unsigned)x->config.index_threads;
	x->scan.settle = x->config.settle;
	x->scan.takes_facts = x->config.takes_facts;
	x->scan.compare_platforms = x->settings.is_json || !x->settings.is_quiet;
	x->scan.owner = "wheelcache index";
	x->scan.watch = (struct walk_watch){.progress = progress_walk, .ctx = &x->progress};
	CLEANUP(mem_free) char *views = views_folder_or_none(&x->config);
	x->scan.views = views;
	x->scan.views_ms = STORE_PATIENT;
	x->scan.evidence_keep = x->config.evidence_keep;
	int result = scan_run(store, catalog, &x->scan, summary, e);
	x->scan.views = NULL;
	*has_ended = result == 0 || summary->number[SCAN_REPORT_PROBLEMS];
	return result;
}

// An export made from a complete catalog is not replaced from a catalog that has never seen the whole store.
static int export_all(struct index_command *x, const struct site *site, struct catalog *catalog,
	struct summary *summary, struct err *e)
{
	bool was_scanned;
	if (catalog_was_scanned(catalog, &was_scanned, e) < 0)
		return -1;
	if (!was_scanned)
		return err_set(e, ERR_IO, "no scan is complete yet, so %s is left unchanged", x->export.folder);
	return export_run(site, catalog, &x->export, summary, e);
}

static void tell_news(const struct index_command *x, const struct summary *summary)
{
	struct hook_queue *hooks = hook_queue_new("[index]");
	scan_log_tell(hooks, x->config.index_on_change, summary);
	hook_queue_free(hooks, HOOK_SECONDS);
}

static int check_problems(const struct index_command *x, const struct summary *summary, struct err *e)
{
	uint64_t count = summary->number[SCAN_REPORT_QUARANTINED] + summary->number[SCAN_REPORT_MISFITS];
	if (!x->checks || !count)
		return 0;
	return err_set(e, ERR_INVALID, "%" PRIu64 " file%s quarantined or for other machines", count,
		count == 1 ? " is" : "s are");
}

// Where /simple/ shows several platforms, a job gets the bytes of the first one that has the name.
static void warn_of_names(const struct config *c, const struct summary *summary)
{
	uint64_t names = summary->list[SCAN_REPORT_LIST_DIFFERING].all;
	if (names && config_merges_platforms(c))
		log_warn("%" PRIu64 " file name%s other bytes on several platforms, and /simple/ shows one of each: jobs take "
			 "/PLATFORM/simple/ (wheelcache client-config --platform NAME); [store] default-view = none ends "
			 "/simple/",
			names, names == 1 ? " has" : "s have");
}

// A failed step does not stop the next one. Returns the last error; the summary lists the problems of the scan.
static int index_site(struct index_command *x, struct site *site, struct catalog *catalog, struct err *e)
{
	CLEANUP(summary_release) struct summary summary = {0};
	bool has_ended;
	progress_begin(&x->progress, !x->settings.is_quiet);
	int result = scan_store(x, &site->store, catalog, &summary, &has_ended, e);
	if (has_ended && x->export.folder && export_all(x, site, catalog, &summary, e) < 0)
		result = -1;
	progress_end(&x->progress);
	if (has_ended)
		warn_of_names(&x->config, &summary);
	if (has_ended && report_print(&x->settings, &summary, e) < 0)
		result = -1;
	if (has_ended)
		tell_news(x, &summary);
	return result < 0 ? -1 : check_problems(x, &summary, e);
}

static int make_views(struct index_command *x, struct site *site, struct catalog *catalog, struct err *e)
{
	struct store store = site->store;
	x->export.progress = progress_export;
	x->export.ctx = &x->progress;
	return site_init(site, &x->config, &store, catalog, e);
}

static int index_store(struct index_command *x, struct err *e)
{
	CLEANUP(site_release) struct site site = {0};
	CLEANUP(catalog_cleanup) struct catalog *catalog = NULL;
	if (cli_config_read(&x->settings, &x->config, e) < 0 ||
		store_open(&x->config, STORE_PATIENT, &site.store, e) < 0)
		return -1;
	CLEANUP(mem_free) char *path = cli_config_catalog(&x->config, e);
	if (!path || catalog_open(path, &catalog, e) < 0 ||
		cli_config_adopt(&x->settings, &site.store, catalog, e) < 0)
		return -1;
	// The export keeps the pages of a platform whose volume is not mounted.
	if (x->export.folder && !x->scan.allow_empty && store_recall(&site.store, catalog, e) < 0)
		return -1;
	if (site_check_register(&x->config, &site.store, catalog, e) < 0)
		return -1;
	if (x->export.folder && (make_views(x, &site, catalog, e) < 0 || export_check(&site, &x->export, e) < 0))
		return -1;
	return index_site(x, &site, catalog, e);
}

static void index_command_release(struct index_command *x)
{
	config_release(&x->config);
}

static int run_index(const struct command *self, int argc, char **argv, struct err *e)
{
	CLEANUP(index_command_release) struct index_command x = {0};
	config_init(&x.config);
	if (cli_config_take_line(&x.settings, self, argc, argv, take_index_option, &x, e) < 0)
		return err_exit_code(e->kind);
	if (x.export.base && !x.export.folder) {
		err_set(e, ERR_USAGE, "--base needs --static DIR");
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
	.shared = SHARED_BASE | SHARED(THREADS) | SHARED(JSON) | SHARED(QUIET),
	.run = run_index,
};
