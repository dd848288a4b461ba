// SPDX-License-Identifier: Apache-2.0
#include "indexer/scan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <unistd.h>

#include "indexer/reading.h"
#include "indexer/recorder.h"
#include "indexer/visit.h"
#include "lib/base/fs.h"
#include "lib/base/log.h"
#include "lib/base/mem.h"
#include "lib/domain/platform.h"
#include "lib/state/catalog-file.h"

enum {
	TICK_MS = 100,  // between two looks at the clock, and two reports of progress
	RETRY_MS = 200, // between two tries to get the lock
	MOST_THREADS = 64,
};
#define SECOND_NS ((int64_t)1000000000)

struct scan {
	struct store *store;
	struct catalog *catalog;
	const struct scan_options *options;
	struct summary *summary;
	struct crew_options crew_options;
	_Atomic bool stop; // cancelled, or something failed that ends the scan
	struct crew *crew;
	struct recorder *recorder;
	int64_t reported_ns;
	int64_t *dropped; // platforms that the store has no more
	size_t dropped_count, dropped_room;
};

static void scan_release(struct scan *s)
{
	recorder_free(s->recorder);
	crew_free(s->crew);
	free(s->dropped);
}

static bool is_cancelled(const struct scan *s)
{
	return s->options->cancel && atomic_load(s->options->cancel);
}

static int cancelled(struct err *e)
{
	return err_set(e, ERR_BUSY, "the scan was stopped");
}

static void report(struct scan *s, enum scan_phase phase)
{
	int64_t now = now_ns();
	if (!s->options->progress ||
		(phase == SCAN_READS && now - s->reported_ns < TICK_MS * SECOND_NS / 1000))
		return;
	struct scan_progress p = {.phase = phase};
	if (s->crew) {
		p.files = crew_counted(s->crew, COUNT_FILES);
		p.bytes = crew_counted(s->crew, COUNT_BYTES);
		p.done = (double)crew_counted(s->crew, COUNT_DONE) / (double)SHARE_ALL;
	}
	s->reported_ns = now;
	s->options->progress(s->options->ctx, &p);
}

// One indexer a catalog. A waiting one asks again and again, since it must end when it is
// cancelled.
static int lock(struct scan *s, struct err *e)
{
	CLEANUP(mem_free) char *path = xasprintf("%s.lock", catalog_path(s->catalog));
	CLEANUP(mem_free)
	char *owner = xasprintf("%s, process %ld",
		s->options->owner ? s->options->owner : "wheelcache", (long)getpid());
	for (bool is_told = false;; is_told = true) {
		struct err busy = ERR_INIT;
		int fd = fs_lock(path, false, owner, &busy);
		if (fd >= 0)
			return fd;
		if (busy.kind != ERR_BUSY || s->options->no_wait)
			*e = busy;
		if (busy.kind != ERR_BUSY)
			return -1;
		if (s->options->no_wait)
			return err_prefix(e, "catalog %s: another indexer is at work: ",
				catalog_path(s->catalog));
		if (!is_told)
			log_info("waiting for another indexer to end: %s", busy.msg);
		if (is_cancelled(s))
			return cancelled(e);
		report(s, SCAN_WAITS);
		nanosleep(&(struct timespec){.tv_nsec = RETRY_MS * 1000000L}, NULL);
	}
}

static bool has_platform(const struct store *store, int64_t id)
{
	for (size_t i = 0; i < store->platform_count; i++)
		if (store->platform[i].id == id)
			return true;
	return false;
}

// A platform that the catalog has and the store has not. Where the configuration names the
// platforms, it was taken out of it. Where folders are platforms, a missing one is more likely a
// volume that is not mounted; only the name for a store without platforms goes when the first
// platform comes.
static int see_platform(void *ctx, const struct catalog_platform *p, struct err *e UNUSED)
{
	struct scan *s = ctx;
	if (has_platform(s->store, p->id) || !p->folders)
		return 0;
	if (s->store->is_detected && platform_is_slug(str_from(p->name)) &&
		!s->options->allow_empty) {
		CLEANUP(mem_free)
		char *text = xasprintf(
			"platform %s: %s/%s is gone, but the catalog knows %" PRIu64
			" files there; is its volume mounted? (--allow-empty forgets them)",
			p->name, s->store->path, p->name, p->files);
		summary_add(s->summary, LIST_PROBLEMS, text, NULL, NULL);
		recorder_miss(s->recorder);
		return 0;
	}
	log_info("platform %s is no more: its %" PRIu64 " files leave the catalog", p->name,
		p->files);
	GROW(s->dropped, s->dropped_count, s->dropped_room);
	s->dropped[s->dropped_count++] = p->id;
	return 0;
}

static int submit_platform(struct scan *s, size_t index, struct err *e)
{
	struct err missing = ERR_INIT;
	struct folder *root = folder_new(NULL, "");
	root->platform = &s->store->platform[index];
	root->platform_index = index;
	root->share = SHARE_ALL / s->store->platform_count;
	if (catalog_folder_find(s->catalog, root->platform->id, "", &root->known, &missing) < 0 &&
		missing.kind != ERR_NOT_FOUND) {
		folder_unref(root);
		*e = missing;
		return -1;
	}
	root->known.path = root->path;
	root->row = root->known.id;
	crew_submit(s->crew, &(struct job){.run = visit_run, .folder = root});
	return 0;
}

// Takes all that the crew finds. After an error the rest is thrown away, until the crew has
// noticed.
static int take_all(struct scan *s, struct err *e)
{
	int result = 0;
	for (bool ended = false; !ended;) {
		CLEANUP(outcome_cleanup) struct outcome *o = crew_take(s->crew, TICK_MS, &ended);
		report(s, SCAN_READS);
		if (is_cancelled(s))
			atomic_store(&s->stop, true);
		if (result == 0 && ((o && recorder_outcome(s->recorder, o, e) < 0) ||
					   recorder_tick(s->recorder, e) < 0)) {
			result = -1;
			atomic_store(&s->stop, true);
		}
	}
	return result;
}

static int walk(struct scan *s, struct err *e)
{
	int result = 0;
	s->crew = crew_new(&s->crew_options, e);
	if (!s->crew)
		return -1;
	for (size_t i = 0; i < s->store->platform_count && result == 0; i++)
		result = submit_platform(s, i, e);
	crew_started(s->crew);
	if (result < 0)
		atomic_store(&s->stop, true);
	struct err later = ERR_INIT;
	if (take_all(s, result < 0 ? &later : e) < 0)
		result = -1;
	return result;
}

// A platform that has lost all it had is more likely a volume that is not mounted than an empty
// one.
static void keep_emptied(struct scan *s)
{
	for (size_t i = 0; i < s->store->platform_count && !s->options->allow_empty; i++) {
		const struct platform *p = &s->store->platform[i];
		uint64_t gone = recorder_gone(s->recorder, i);
		if (!gone || crew_seen(s->crew, i))
			continue;
		recorder_keep(s->recorder, i);
		CLEANUP(mem_free)
		char *text = xasprintf(
			"platform %s: %s holds no wheel, but the catalog knows %" PRIu64
			" files there; is its volume mounted? (--allow-empty forgets them)",
			p->name, p->path, gone);
		summary_add(s->summary, LIST_PROBLEMS, text, NULL, NULL);
	}
}

static const char *platform_name(const struct store *store, int64_t id)
{
	for (size_t i = 0; i < store->platform_count; i++)
		if (store->platform[i].id == id)
			return store->platform[i].name;
	return "?";
}

struct unlisted {
	struct scan *scan;
	enum catalog_state state;
	enum summary_number number;
	enum summary_list list;
};

static int see_unlisted(
	void *ctx, int64_t platform, const char *path, const char *reason, struct err *e UNUSED)
{
	const struct unlisted *row = ctx;
	struct scan *s = row->scan;
	CLEANUP(mem_free) char *whole = xasprintf("%s/%s", platform_name(s->store, platform), path);
	s->summary->number[row->number]++;
	summary_add(s->summary, row->list, whole, reason, NULL);
	return 0;
}

static int sum_up_unlisted(struct scan *s, struct err *e)
{
	struct unlisted row[] = {
		{s, FILE_IS_REFUSED, SUMMARY_QUARANTINED, LIST_QUARANTINED},
		{s, FILE_IS_DUPLICATE, SUMMARY_DUPLICATES, LIST_DUPLICATES},
	};
	for (size_t i = 0; i < ARRAY_SIZE(row); i++)
		if (catalog_unlisted(s->catalog, row[i].state, see_unlisted, &row[i], e) < 0)
			return -1;
	return 0;
}

static int see_shared(void *ctx, const char *filename, uint64_t platforms, uint64_t contents,
	struct err *e UNUSED)
{
	struct scan *s = ctx;
	s->summary->number[SUMMARY_SHADOWED] += platforms - 1;
	if (contents == 1)
		return 0;
	CLEANUP(mem_free)
	char *text = xasprintf(
		"%" PRIu64 " platforms, %" PRIu64 " different files", platforms, contents);
	summary_add(s->summary, LIST_DIFFERING, filename, text, NULL);
	return 0;
}

static int sum_up(struct scan *s, struct err *e)
{
	static const struct {
		enum crew_count from;
		enum summary_number to;
	} row[] = {
		{COUNT_FILES, SUMMARY_FILES},
		{COUNT_UNCHANGED, SUMMARY_UNCHANGED},
		{COUNT_WAITING, SUMMARY_WAITING},
		{COUNT_IGNORED, SUMMARY_IGNORED},
		{COUNT_LINKS, SUMMARY_LINKS},
		{COUNT_BYTES, SUMMARY_BYTES},
	};
	for (size_t i = 0; i < ARRAY_SIZE(row); i++)
		s->summary->number[row[i].to] += crew_counted(s->crew, row[i].from);
	s->summary->number[SUMMARY_PROBLEMS] = s->summary->list[LIST_PROBLEMS].all;
	if (sum_up_unlisted(s, e) < 0)
		return -1;
	bool may_share = s->options->compare_platforms && s->store->platform_count > 1;
	return may_share ? catalog_shared(s->catalog, see_shared, s, e) : 0;
}

static int run_locked(struct scan *s, struct err *e)
{
	unsigned threads = s->options->threads ? s->options->threads : (unsigned)get_nprocs();
	s->crew_options = (struct crew_options){
		.store = s->store,
		.catalog = catalog_path(s->catalog),
		.threads = threads > MOST_THREADS ? MOST_THREADS : threads,
		.settle_ns = (int64_t)s->options->settle * SECOND_NS,
		.allow_empty = s->options->allow_empty,
		.cancel = &s->stop,
	};
	s->recorder = recorder_new(s->catalog, s->store, s->summary);
	if (catalog_enlarge_cache(s->catalog, e) < 0 ||
		catalog_platforms(s->catalog, see_platform, s, e) < 0 || walk(s, e) < 0)
		return -1;
	if (atomic_load(&s->stop))
		return cancelled(e);
	report(s, SCAN_ENDS);
	keep_emptied(s);
	if (recorder_finish(s->recorder, s->dropped, s->dropped_count, e) < 0 || sum_up(s, e) < 0)
		return -1;
	if (!s->summary->number[SUMMARY_PROBLEMS])
		return 0;
	return err_set(e, ERR_IO, "the scan is not whole: %s%s",
		s->summary->list[LIST_PROBLEMS].item[0].field[0],
		s->summary->number[SUMMARY_PROBLEMS] > 1 ? ", and more" : "");
}

int scan_run(struct store *store, struct catalog *catalog, const struct scan_options *options,
	struct summary *summary, struct err *e)
{
	int64_t begin = now_ns();
	*summary = (struct summary){0};
	CLEANUP(mem_close) int held = -1; // let go last
	CLEANUP(scan_release)
	struct scan s = {
		.store = store, .catalog = catalog, .options = options, .summary = summary};
	held = lock(&s, e);
	int result = held < 0 ? -1 : run_locked(&s, e);
	summary->seconds = (double)(now_ns() - begin) / (double)SECOND_NS;
	return result;
}
