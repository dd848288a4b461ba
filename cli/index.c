// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "cli/common/command.h"
#include "cli/common/progress.h"
#include "cli/common/output.h"
#include "indexer/scan/scan-log.h"
#include "indexer/export/export.h"
#include "indexer/scan/scan.h"
#include "lib/base/counted.h"
#include "lib/base/log.h"
#include "lib/base/mem.h"
#include "lib/state/views/membership.h"
#include "lib/view/site-check.h"

enum { HOOK_SECONDS = 60 }; // for the commands of [index] on-change

struct index_command {
	struct session s;
	struct scan_options scan;
	struct export_options export;
	struct progress progress;
	bool checks;
};

static const struct option_row options[] = {
	{"settle", '\0', "SECONDS", "do not judge a damaged file younger than this; 60", KEY("index", "settle")},
	{"allow-empty", '\0', NULL, "accept that the folder of a platform is empty or missing",
		FLAG(index_command, scan.allow_empty)},
	{"check", '\0', NULL, "exit with 1 if a file is quarantined, or for other machines than its platform's",
		FLAG(index_command, checks)},
	{"no-wait", '\0', NULL, "fail instead of waiting for another indexer", FLAG(index_command, scan.no_wait)},
	{"static", '\0', "DIR", "then write all pages as files to DIR, for a web server",
		TEXT(index_command, export.folder)},
	{"base", '\0', "URL", "with --static: link to files below URL", TEXT(index_command, export.base)},
};

// *has_ended: the scan has a summary. This is also true of an incomplete scan, which fails.
static int scan_store(struct index_command *x, struct summary *summary, bool *has_ended, struct err *e)
{
	x->scan.threads = (unsigned)x->s.config.index_threads;
	x->scan.settle = x->s.config.settle;
	x->scan.takes_facts = x->s.config.takes_facts;
	x->scan.compare_platforms = x->s.is_json || !x->s.is_quiet;
	x->scan.owner = "wheelcache index";
	x->scan.watch = (struct walk_watch){.progress = progress_walk, .ctx = &x->progress};
	CLEANUP(mem_free) char *views = views_folder_or_none(&x->s.config);
	x->scan.views = views;
	x->scan.views_ms = STORE_PATIENT;
	x->scan.evidence_keep = x->s.config.evidence_keep;
	int result = scan_run(&x->s.store, x->s.catalog, &x->scan, summary, e);
	x->scan.views = NULL;
	*has_ended = result == 0 || summary->number[SCAN_REPORT_PROBLEMS];
	return result;
}

// An export made from a complete catalog is not replaced from a catalog that has never seen the whole store.
static int export_all(struct index_command *x, struct summary *summary, struct err *e)
{
	bool was_scanned;
	if (catalog_was_scanned(x->s.catalog, &was_scanned, e) < 0)
		return -1;
	if (!was_scanned)
		return err_set(e, ERR_IO, "no scan is complete yet, so %s is left unchanged", x->export.folder);
	return export_run(&x->s.site, x->s.catalog, &x->export, summary, e);
}

// A failed step does not stop the next one. Returns the last error; the summary lists the problems of the scan.
static int index_and_export(struct index_command *x, struct err *e)
{
	CLEANUP(summary_release) struct summary summary = {0};
	bool has_ended;
	progress_begin(&x->progress, !x->s.is_quiet);
	int result = scan_store(x, &summary, &has_ended, e);
	if (has_ended && x->export.folder && export_all(x, &summary, e) < 0)
		result = -1;
	progress_end(&x->progress);
	if (has_ended) {
		// Where /simple/ shows several platforms, a job gets the bytes of the first one that has the name.
		uint64_t names = summary.list[SCAN_REPORT_LIST_DIFFERING].all;
		if (names && config_merges_platforms(&x->s.config))
			log_warn(
				"%s other bytes on several platforms, and /simple/ shows one of each: jobs take "
				"/PLATFORM/simple/ (wheelcache client-config --platform NAME); [store] default-view = none ends "
				"/simple/",
				COUNTED(names, "file name has|file names have"));
	}
	if (has_ended && output_summary(&x->s, &summary, e) < 0)
		result = -1;
	if (has_ended) {
		struct hook_queue *hooks = hook_queue_new("[index]");
		scan_log_tell(hooks, x->s.config.index_on_change, &summary);
		hook_queue_free(hooks, HOOK_SECONDS);
	}
	if (result < 0)
		return -1;
	uint64_t count = summary.number[SCAN_REPORT_QUARANTINED] + summary.number[SCAN_REPORT_MISFITS];
	if (!x->checks || !count)
		return 0;
	return err_set(e, ERR_INVALID, "%s quarantined or for other machines", COUNTED(count, "file is|files are"));
}

static int run_index(void *self, struct err *e)
{
	struct index_command *x = self;
	struct session *s = &x->s;
	if (x->export.base && !x->export.folder)
		return err_set(e, ERR_USAGE, "--base needs --static DIR");
	if (session_open(s, SESSION_STORE | SESSION_MAKE, e) < 0 || session_adopt(s, &s->store, s->catalog, e) < 0)
		return -1;
	// The export keeps the pages of a platform whose volume is not mounted.
	if (x->export.folder && !x->scan.allow_empty && store_recall(&s->store, s->catalog, e) < 0)
		return -1;
	if (site_check_register(&s->config, &s->store, s->catalog, e) < 0)
		return -1;
	x->export.progress = progress_export;
	x->export.ctx = &x->progress;
	if (x->export.folder && (site_borrow(&s->site, &s->config, &s->store, s->catalog, e) < 0 ||
					export_check(&s->site, &x->export, e) < 0))
		return -1;
	return index_and_export(x, e);
}

const struct command command_index = {
	.name = "index",
	.arguments = "[STORE]",
	.help = "bring the catalog up to date with a store",
	OPTIONS(options),
	.shared = SHARED_BASE | SHARED(THREADS) | SHARED(JSON) | SHARED(QUIET),
	.follow = FOLLOW_STORE,
	.size = sizeof(struct index_command),
	.run = run_index,
};
