// SPDX-License-Identifier: Apache-2.0
#include "indexer/scan/scan.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "indexer/scan/facts-backfill.h"
#include "indexer/scan/scan-writer.h"
#include "indexer/walk/scan-file.h"
#include "lib/base/counted.h"
#include "lib/base/log.h"
#include "lib/base/mem.h"
#include "lib/domain/machine/platform.h"
#include "lib/os/clock.h"
#include "lib/os/safefile.h"
#include "lib/state/catalog/catalog-file.h"
#include "lib/state/config/state-files.h"
#include "lib/state/store/wanted-contents.h"
#include "lib/state/views/evidence-expire.h"
#include "lib/state/views/views-file.h"
#include "lib/state/views/views-sync.h"

enum {
	RETRY_MS = 200, // between two attempts to get the lock
	// Bytes of a wheel whose facts are taken before it is listed: of small ones this costs less than to open them
	// again.
	FACTS_MOST = 32 << 10,
};
#define SECOND_NS ((int64_t)1000000000)

struct scan {
	struct store *store;
	struct catalog *catalog;
	const struct scan_options *options;
	struct summary *summary;
	struct walk walk;
	struct scan_writer *writer;
	int64_t *dropped; // ids of platforms that the store no longer has
	size_t dropped_count, dropped_room;
};

static void scan_release(struct scan *s)
{
	scan_writer_free(s->writer);
	walk_release(&s->walk);
	free(s->dropped);
}

// Returns the lock: one scan per catalog at a time. It polls, because a waiting scan must end when it is cancelled.
static int lock_catalog(struct scan *s, struct err *e)
{
	CLEANUP(mem_free) char *path = state_file(NULL, catalog_path(s->catalog), STATE_FILE_SCAN_LOCK);
	CLEANUP(mem_free)
	char *owner =
		xasprintf("%s, process %ld", s->options->owner ? s->options->owner : "wheelcache", (long)getpid());
	for (bool was_logged = false;; was_logged = true) {
		struct err busy = ERR_INIT;
		int fd = safefile_lock(path, false, owner, &busy);
		if (fd >= 0)
			return fd;
		if (busy.kind != ERR_BUSY || s->options->no_wait)
			*e = busy;
		if (busy.kind != ERR_BUSY)
			return -1;
		if (s->options->no_wait)
			return err_prefix(e, "catalog %s: another indexer is at work: ", catalog_path(s->catalog));
		if (!was_logged)
			log_info("waiting for another indexer to end: %s", busy.msg);
		if (walk_is_cancelled(&s->walk))
			return err_set(e, ERR_BUSY, "stopped before the scan began");
		walk_report(&s->walk, WALK_WAITS);
		nanosleep(&(struct timespec){.tv_nsec = RETRY_MS * 1000000L}, NULL);
	}
}

// Handles a platform that the catalog has and the store has not. Where the configuration lists the platforms, the
// operator removed it. Where folders are platforms, a missing one is more likely a volume that is not mounted, except
// the name that stands for a store without platforms, which ends with the first platform.
static int check_known_platform(void *ctx, const struct catalog_platform *p, struct err *e UNUSED)
{
	struct scan *s = ctx;
	if (store_platform(s->store, p->id) || !p->folders)
		return 0;
	if (s->store->is_detected && platform_is_slug(str_from(p->name)) && !s->options->allow_empty) {
		CLEANUP(mem_free)
		char *text = xasprintf("platform %s: %s/%s is gone, but the catalog knows %s there; is its volume "
				       "mounted? (--allow-empty forgets them)",
			p->name, s->store->path, p->name, COUNTED(p->files, "file|files"));
		summary_add(s->summary, SCAN_REPORT_LIST_PROBLEMS, text, NULL, NULL);
		scan_writer_note_unreadable(s->writer);
		return 0;
	}
	log_info("platform %s no longer exists: removing its %s from the catalog", p->name,
		COUNTED(p->files, "file|files"));
	GROW(s->dropped, s->dropped_count, s->dropped_room);
	s->dropped[s->dropped_count++] = p->id;
	return 0;
}

struct unlisted_count {
	struct scan *scan;
	enum catalog_state state;
	enum scan_report_number number;
	enum scan_report_list list; // SCAN_REPORT_LISTS: only counted, because there may be many and all are intended
};

static int count_unlisted_file(void *ctx, int64_t platform, const char *path, const char *reason, struct err *e UNUSED)
{
	const struct unlisted_count *row = ctx;
	struct scan *s = row->scan;
	const struct platform *p = store_platform(s->store, platform);
	CLEANUP(mem_free) char *whole = xasprintf("%s/%s", p ? p->name : "?", path);
	s->summary->number[row->number]++;
	if (row->list < SCAN_REPORT_LISTS)
		summary_add(s->summary, row->list, whole, reason, NULL);
	return 0;
}

static int summarize_unlisted(struct scan *s, struct err *e)
{
	struct unlisted_count row[] = {
		{s, FILE_IS_REFUSED, SCAN_REPORT_QUARANTINED, SCAN_REPORT_LIST_QUARANTINED},
		{s, FILE_IS_DUPLICATE, SCAN_REPORT_DUPLICATES, SCAN_REPORT_LIST_DUPLICATES},
		{s, FILE_IS_UNLISTED, SCAN_REPORT_PRUNED, SCAN_REPORT_LISTS},
	};
	for (size_t i = 0; i < ARRAY_SIZE(row); i++)
		if (catalog_unlisted(s->catalog, row[i].state, count_unlisted_file, &row[i], e) < 0)
			return -1;
	struct unlisted_count misfits = {s, FILE_IS_LISTED, SCAN_REPORT_MISFITS, SCAN_REPORT_LIST_MISFITS};
	return catalog_misfits(s->catalog, count_unlisted_file, &misfits, e);
}

static int count_shared_name(void *ctx, const char *filename, uint64_t platforms, uint64_t contents,
	struct err *e UNUSED)
{
	struct scan *s = ctx;
	s->summary->number[SCAN_REPORT_SHADOWED] += platforms - 1;
	if (contents == 1)
		return 0;
	CLEANUP(mem_free)
	char *text = xasprintf("%s, %s", COUNTED(platforms, "platform|platforms"),
		COUNTED(contents, "different file|different files"));
	summary_add(s->summary, SCAN_REPORT_LIST_DIFFERING, filename, text, NULL);
	return 0;
}

static int summarize_scan(struct scan *s, struct err *e)
{
	static const struct {
		enum scan_workers_count from;
		enum scan_report_number to;
	} row[] = {
		{COUNT_FILES, SCAN_REPORT_FILES},
		{COUNT_UNCHANGED, SCAN_REPORT_UNCHANGED},
		{COUNT_WAITING, SCAN_REPORT_WAITING},
		{COUNT_IGNORED, SCAN_REPORT_IGNORED},
		{COUNT_LINKS, SCAN_REPORT_LINKS},
		{COUNT_BYTES, SCAN_REPORT_BYTES},
		{COUNT_INSIDE, SCAN_REPORT_INSIDE},
	};
	for (size_t i = 0; i < ARRAY_SIZE(row); i++)
		s->summary->number[row[i].to] += scan_workers_total(s->walk.workers, row[i].from);
	walk_report(&s->walk, WALK_ENDS);
	s->summary->number[SCAN_REPORT_IGNORED] += s->store->stray_count;
	for (size_t i = 0; i < s->store->stray_count; i++)
		summary_add(s->summary, SCAN_REPORT_LIST_STRAY, s->store->stray[i], NULL, NULL);
	s->summary->number[SCAN_REPORT_PROBLEMS] = s->summary->list[SCAN_REPORT_LIST_PROBLEMS].all;
	if (summarize_unlisted(s, e) < 0)
		return -1;
	bool may_share = s->options->compare_platforms && s->store->platform_count > 1;
	return may_share ? catalog_shared(s->catalog, count_shared_name, s, e) : 0;
}

static void report_inside(void *ctx, uint64_t done, uint64_t all)
{
	struct scan *s = ctx;
	const struct walk_progress p = {.phase = WALK_LOOKS_INSIDE, .files = done, .all = all};
	if (s->options->watch.progress)
		s->options->watch.progress(s->options->watch.ctx, &p);
}

// The wheels that are in the catalog without facts: those that are not small, those of an older wheelcache, or of a
// scan that was stopped. They are listed already.
static int look_inside(struct scan *s, int64_t begun_ms, struct err *e)
{
	int64_t listing_ms = clock_ms() - begun_ms;
	bool was_long = s->options->inside_ms && listing_ms > (int64_t)s->options->inside_ms;
	const struct facts_backfill_options options = {
		.store = s->store,
		.threads = s->walk.scan_workers_options.threads,
		.most_ms = was_long ? (unsigned)listing_ms : s->options->inside_ms,
		.cancel = s->options->watch.cancel,
		.progress = report_inside,
		.ctx = s,
	};
	struct facts_backfill_counts counts = {0};
	if (wanted_contents_take(s->store, s->catalog, s->options->inside_ms, s->options->watch.cancel, e) < 0)
		return -1;
	if (!s->options->takes_facts)
		return 0;
	if (facts_backfill_run(s->catalog, &options, &counts, e) < 0)
		return -1;
	s->summary->number[SCAN_REPORT_INSIDE] += counts.taken;
	s->summary->number[SCAN_REPORT_INSIDE_UNKNOWN] = counts.unreadable;
	s->summary->number[SCAN_REPORT_INSIDE_LACKING] = counts.lacking;
	return 0;
}

// A log names nothing that is in the file.
static void report_damaged_views(void *ctx, const char *path, const char *reason)
{
	struct scan *s = ctx;
	CLEANUP(mem_free)
	char *text = xasprintf("views: %s%s%s", path, s->options->is_logged ? " is missing or damaged" : ": ",
		s->options->is_logged ? "" : reason);
	summary_add(s->summary, SCAN_REPORT_LIST_PROBLEMS, text, NULL, NULL);
}

// Once a day in a process. Nothing ends while the folder is frozen.
static int end_old_evidence(struct scan *s, struct err *e)
{
	enum { EXPIRY_DAY = 86400 };
	static _Atomic int64_t last;
	uint64_t ended = 0;
	struct err why = ERR_INIT;
	int64_t now = clock_wall_seconds();
	if (atomic_load(&last) && now < atomic_load(&last) + EXPIRY_DAY)
		return 0;
	atomic_store(&last, now);
	if (evidence_expire(s->options->views, s->catalog, s->options->evidence_keep, now, &ended, &why) < 0 &&
		why.kind != ERR_BUSY) {
		*e = why;
		return -1;
	}
	return 0;
}

// Before the files, so that no page shows what a view does not have. What is wrong with the folder does not stop the
// scan.
static int read_views(struct scan *s, struct err *e)
{
	struct err why = ERR_INIT;
	struct views_sync_counts counts = {0};
	if (!s->options->views)
		return 0;
	if (!views_file_answers(s->options->views, s->options->views_ms, &why)) {
		report_damaged_views(s, s->options->views, why.msg);
		return 0;
	}
	int result = views_sync(s->options->views, s->catalog, report_damaged_views, s, &counts, &why);
	s->summary->number[SCAN_REPORT_GENERATIONS] = counts.generations;
	s->summary->number[SCAN_REPORT_EVIDENCE] = counts.evidence;
	if (result == 0 && !counts.damaged)
		result = end_old_evidence(s, &why);
	if (result == 0)
		return 0;
	if (why.kind == ERR_IO || why.kind == ERR_LIMIT) {
		report_damaged_views(s, s->options->views, why.msg);
		return 0;
	}
	*e = why;
	return -1;
}

static int handle_event(void *ctx, const struct scan_event *ev, struct err *e)
{
	struct scan *s = ctx;
	if (ev && scan_writer_handle(s->writer, ev, e) < 0)
		return -1;
	return scan_writer_tick(s->writer, e);
}

static int run_scan_locked(struct scan *s, struct err *e)
{
	int64_t begun_ms = clock_ms();
	s->writer = scan_writer_new(s->catalog, s->store, s->summary);
	if (catalog_enlarge_cache(s->catalog, e) < 0 || read_views(s, e) < 0 ||
		catalog_platforms(s->catalog, check_known_platform, s, e) < 0 || walk_run(&s->walk, e) < 0)
		return -1;
	// A platform that lost all of its files is more likely a volume that is not mounted than an empty platform.
	for (size_t i = 0; i < s->store->platform_count && !s->options->allow_empty; i++) {
		const struct platform *p = &s->store->platform[i];
		uint64_t gone = scan_writer_gone(s->writer, i);
		if (!gone || scan_workers_files_of(s->walk.workers, i))
			continue;
		scan_writer_keep_platform(s->writer, i);
		CLEANUP(mem_free)
		char *text = xasprintf("platform %s: %s holds no wheel, but the catalog knows %s there; is its "
				       "volume mounted? (--allow-empty forgets them)",
			p->name, place_path(p->place), COUNTED(gone, "file|files"));
		summary_add(s->summary, SCAN_REPORT_LIST_PROBLEMS, text, NULL, NULL);
	}
	if (scan_writer_finish(s->writer, s->dropped, s->dropped_count, e) < 0 || look_inside(s, begun_ms, e) < 0 ||
		summarize_scan(s, e) < 0)
		return -1;
	if (!s->summary->number[SCAN_REPORT_PROBLEMS])
		return 0;
	const char *first = s->options->is_logged ? summary_first_public(s->summary, SCAN_REPORT_LIST_PROBLEMS)
						  : s->summary->list[SCAN_REPORT_LIST_PROBLEMS].item[0].field[0];
	return err_set(e, ERR_IO, "the scan is not whole: %s%s",
		first ? first
		      : "something of a private platform could not be looked at (\"wheelcache index\" says what)",
		s->summary->number[SCAN_REPORT_PROBLEMS] > 1 ? ", and more" : "");
}

int scan_run(struct store *store, struct catalog *catalog, const struct scan_options *options, struct summary *summary,
	struct err *e)
{
	int64_t begin = clock_wall_ns();
	*summary = (struct summary){.shape = &scan_report_shape};
	CLEANUP(mem_close) int held = -1; // the lock; released last
	CLEANUP(scan_release)
	struct scan s = {.store = store, .catalog = catalog, .options = options, .summary = summary};
	s.walk = (struct walk){
		.watch = options->watch,
		.catalog = catalog,
		.scan_workers_options = {.store = store,
			.threads = options->threads,
			.settle_ns = (int64_t)options->settle * SECOND_NS,
			.allow_empty = options->allow_empty,
			.sweeps = true,
			.takes_facts = options->takes_facts,
			.facts_most = FACTS_MOST,
			.on_folder = options->on_folder,
			.folder_ctx = options->folder_ctx,
			.is_wanted = scan_file_is_wanted,
			.read_known = scan_file_run},
		.handle = handle_event,
		.ctx = &s,
	};
	held = lock_catalog(&s, e);
	int result = held < 0 ? -1 : run_scan_locked(&s, e);
	summary->seconds = (double)(clock_wall_ns() - begin) / (double)SECOND_NS;
	return result;
}
