// SPDX-License-Identifier: Apache-2.0
#include "indexer/scan/scan-changes.h"

#include <time.h>
#include <unistd.h>

#include "indexer/scan/scan-writer.h"
#include "indexer/walk/scan-file.h"
#include "lib/base/mem.h"
#include "lib/os/clock.h"
#include "lib/os/processors.h"
#include "lib/os/safefile.h"
#include "lib/state/config/state-files.h"

enum {
	RETRY_MS = 10, // between two attempts to get the lock
	LOCK_MS = 500, // it only saves work: after this time the scan begins without it
	A_THREAD = 4,  // names for each thread
};
#define SECOND_NS ((int64_t)1000000000)

struct scan_changes {
	struct walk walk;
	struct scan_writer *writer;
};

static void scan_changes_release(struct scan_changes *s)
{
	scan_writer_free(s->writer);
	walk_release(&s->walk);
}

// Of several servers on one catalog, one reads a new file, and the others then find its row.
static int lock_changes(const char *catalog, const struct scan_changes_options *options)
{
	CLEANUP(mem_free) char *path = state_file(NULL, catalog, STATE_FILE_WATCH_LOCK);
	CLEANUP(mem_free) char *owner = xasprintf("%s, process %ld", options->owner, (long)getpid());
	for (int64_t end = clock_ms() + LOCK_MS;; nanosleep(&(struct timespec){.tv_nsec = RETRY_MS * 1000000L}, NULL)) {
		struct err why = ERR_INIT;
		int fd = safefile_lock(path, false, owner, &why);
		if (fd >= 0 || why.kind != ERR_BUSY || clock_ms() >= end)
			return fd;
	}
}

// Unlike the scan of all it takes a young row for true: what wrote it has told nothing since.
static bool is_changed_file(void *ctx UNUSED, const struct catalog_known *known, const struct place_version *now)
{
	const struct place_version before = {known->size, known->mtime_ns, known->inode};
	return place_version_match(&before, now) != PLACE_SAME;
}

// The mtime of a folder is left to the scan of all, and so is a folder that is empty.
static int handle_change(void *ctx, const struct scan_event *ev, struct err *e)
{
	struct scan_changes *s = ctx;
	bool is_for_all = ev && (ev->kind == SCAN_EVENT_FOLDER || ev->kind == SCAN_EVENT_FOLDER_GONE);
	if (ev && !is_for_all && scan_writer_handle(s->writer, ev, e) < 0)
		return -1;
	return scan_writer_tick(s->writer, e);
}

// A platform whose last files are gone is more likely a volume that is not mounted.
static int keep_last_files(struct scan_changes *s, const struct store *store, bool *wants_whole, struct err *e)
{
	for (size_t i = 0; i < store->platform_count; i++) {
		struct catalog_totals totals;
		uint64_t gone = scan_writer_gone(s->writer, i);
		if (!gone || scan_workers_files_of(s->walk.workers, i))
			continue;
		if (catalog_totals(s->walk.catalog, store->platform[i].id, &totals, e) < 0)
			return -1;
		if (totals.files > gone)
			continue;
		scan_writer_keep_platform(s->writer, i);
		*wants_whole = true;
	}
	return 0;
}

// A thread costs a connection to the catalog.
static unsigned choose_threads(const struct scan_changes_options *options, const struct store_changes *changes)
{
	size_t threads = options->threads ? options->threads : processors_find("").count,
	       useful = changes->names / A_THREAD + 1;
	for (size_t i = 0; i < changes->count; i++)
		if (changes->folder[i].is_listed)
			useful = threads;
	return (unsigned)(useful < threads ? useful : threads);
}

static int run_changes(struct scan_changes *s, const struct store *store, bool *wants_whole, struct err *e)
{
	return walk_run(&s->walk, e) < 0 || keep_last_files(s, store, wants_whole, e) < 0
		       ? -1
		       : scan_writer_finish_changes(s->writer, e);
}

int scan_changes_run(const struct store *store, struct catalog *catalog, struct store_changes *changes,
	const struct scan_changes_options *options, struct summary *summary, bool *wants_whole, struct err *e)
{
	int64_t begun = clock_ms();
	CLEANUP(mem_close) UNUSED int held = lock_changes(catalog_path(catalog), options);
	CLEANUP(scan_changes_release) struct scan_changes s = {0};
	*summary = (struct summary){.shape = &scan_report_shape};
	*wants_whole = false;
	store_changes_sort(changes);
	s.writer = scan_writer_new(catalog, store, summary);
	s.walk = (struct walk){
		.watch = {.cancel = options->cancel},
		.catalog = catalog,
		.scan_workers_options = {.store = store,
			.threads = choose_threads(options, changes),
			.settle_ns = (int64_t)options->settle * SECOND_NS,
			.takes_facts = options->takes_facts,
			.is_wanted = is_changed_file,
			.read_known = scan_file_run,
			.on_folder = options->on_folder,
			.folder_ctx = options->ctx},
		.changes = changes,
		.handle = handle_change,
		.ctx = &s,
	};
	int result = run_changes(&s, store, wants_whole, e);
	*wants_whole |= summary->list[SCAN_REPORT_LIST_PROBLEMS].all != 0;
	summary->seconds = (double)(clock_ms() - begun) / 1000;
	return result;
}
