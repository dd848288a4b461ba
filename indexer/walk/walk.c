// SPDX-License-Identifier: Apache-2.0
#include "indexer/walk/walk.h"

#include <sys/sysinfo.h>

#include "indexer/walk/scan-dir.h"
#include "indexer/walk/scan-file.h"
#include "lib/os/clock.h"

enum {
	TICK_MS = 100, // between two ticks, and between two reports of progress
	MOST_THREADS = 64,
};
#define TICK_NS ((int64_t)TICK_MS * 1000000)

void walk_release(struct walk *w)
{
	scan_workers_free(w->workers);
	w->workers = NULL;
}

bool walk_is_cancelled(const struct walk *w)
{
	return w->watch.cancel && atomic_load(w->watch.cancel);
}

static double share_done(const struct walk *w, uint64_t bytes)
{
	if (w->bytes)
		return (double)bytes / (double)w->bytes;
	return (double)scan_workers_total(w->workers, COUNT_DONE) / (double)SHARE_ALL;
}

void walk_report(struct walk *w, enum walk_phase phase)
{
	int64_t now = clock_wall_ns();
	if (!w->watch.progress || (phase == WALK_READS && now - w->reported_ns < TICK_NS))
		return;
	struct walk_progress p = {.phase = phase};
	if (w->workers) {
		p.files = scan_workers_total(w->workers, COUNT_FILES);
		p.bytes = scan_workers_total(w->workers, COUNT_BYTES);
		p.done = share_done(w, p.bytes);
	}
	w->reported_ns = now;
	w->watch.progress(w->watch.ctx, &p);
}

static int submit_platform(struct walk *w, size_t index, struct err *e)
{
	struct err missing = ERR_INIT;
	const struct store *store = w->scan_workers_options.store;
	struct folder *root = folder_new(NULL, "");
	root->platform = &store->platform[index];
	root->platform_index = index;
	root->share = SHARE_ALL / store->platform_count;
	if (catalog_folder_find(w->catalog, root->platform->id, "", &root->known, &missing) < 0 &&
		missing.kind != ERR_NOT_FOUND) {
		folder_unref(root);
		*e = missing;
		return -1;
	}
	root->known.path = root->path;
	root->catalog_id = root->known.id;
	scan_workers_submit(w->workers, &(struct scan_job){.run = scan_dir_run, .folder = root});
	return 0;
}

// Handles events until the channel ends. After an error the remaining events are discarded, until the workers have
// stopped.
static int handle_events(struct walk *w, struct err *e)
{
	int result = 0;
	for (bool ended = false; !ended;) {
		CLEANUP(scan_event_cleanup) struct scan_event *ev = scan_workers_receive(w->workers, TICK_MS, &ended);
		walk_report(w, WALK_READS);
		if (walk_is_cancelled(w))
			atomic_store(&w->stop, true);
		if (result == 0 && w->handle(w->ctx, ev, e) < 0) {
			result = -1;
			atomic_store(&w->stop, true);
		}
		if (ev && ev->inside)
			scan_workers_inside_waits(w->workers, -(int64_t)taken_facts_size(ev->inside));
	}
	return result;
}

static int start_workers(struct walk *w, struct err *e)
{
	unsigned threads = w->scan_workers_options.threads ? w->scan_workers_options.threads : (unsigned)get_nprocs();
	w->scan_workers_options.threads = threads > MOST_THREADS ? MOST_THREADS : threads;
	w->scan_workers_options.catalog = catalog_path(w->catalog);
	w->scan_workers_options.cancel = &w->stop;
	w->workers = scan_workers_new(&w->scan_workers_options, e);
	return w->workers ? 0 : -1;
}

int walk_run(struct walk *w, struct err *e)
{
	int result = 0;
	if (start_workers(w, e) < 0)
		return -1;
	for (size_t i = 0; i < w->scan_workers_options.store->platform_count && result == 0; i++)
		result = submit_platform(w, i, e);
	scan_workers_start_done(w->workers);
	if (result < 0)
		atomic_store(&w->stop, true);
	struct err later = ERR_INIT;
	if (handle_events(w, result < 0 ? &later : e) < 0)
		result = -1;
	if (result == 0 && atomic_load(&w->stop))
		return err_set(e, ERR_BUSY, "stopped before the end");
	return result;
}
