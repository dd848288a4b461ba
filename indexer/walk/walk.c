// SPDX-License-Identifier: Apache-2.0
#include "indexer/walk/walk.h"

#include "indexer/walk/scan-dir.h"
#include "lib/base/counted.h"
#include "lib/base/log.h"
#include "lib/os/clock.h"
#include "lib/os/processors.h"

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

static struct folder *platform_root(const struct walk *w, size_t index)
{
	const struct store *store = w->scan_workers_options.store;
	struct folder *root = folder_new(NULL, "");
	root->platform = &store->platform[index];
	root->platform_index = index;
	root->share = SHARE_ALL / store->platform_count;
	return root;
}

static int recall_folder(const struct walk *w, struct folder *f, struct err *e)
{
	struct err missing = ERR_INIT;
	if (catalog_folder_find(w->catalog, f->platform->id, f->path, &f->known, &missing) < 0 &&
		missing.kind != ERR_NOT_FOUND) {
		*e = missing;
		return -1;
	}
	f->known.path = f->path;
	f->catalog_id = f->known.id;
	return 0;
}

// Takes ownership of the job's reference to its folder.
static int submit_known(struct walk *w, const struct scan_job *job, struct err *e)
{
	if (recall_folder(w, job->folder, e) < 0) {
		folder_unref(job->folder);
		return -1;
	}
	scan_workers_submit(w->workers, job);
	return 0;
}

static int submit_platform(struct walk *w, size_t index, struct err *e)
{
	return submit_known(w, &(struct scan_job){.run = scan_dir_run, .folder = platform_root(w, index)}, e);
}

// So that a link in the folder that leads up is found to be a circle. A folder that is gone has no such links.
static void identify_folder(struct folder *f)
{
	struct err ignored = ERR_INIT;
	CLEANUP(place_folder_close) struct place_folder *open = place_open_folder(f->platform->place, f->path, &ignored);
	if (!open || place_folder_info(open, &f->info, &ignored) < 0)
		f->info.device = 0;
}

// The folder of a path, with those above it. NULL: no platform has it.
static struct folder *changed_folder(const struct walk *w, const char *path)
{
	const struct store *store = w->scan_workers_options.store;
	struct str rest = str_from(path);
	const struct platform *p = store_platform_named(store, str_cut(&rest, '/'));
	if (!p || p->is_away)
		return NULL;
	struct folder *f = platform_root(w, (size_t)(p - store->platform));
	while (rest.len) {
		struct str name = str_cut(&rest, '/');
		CLEANUP(mem_free) char *copy = xstrndup(name.ptr, name.len);
		struct folder *parent = f;
		identify_folder(parent);
		f = folder_new(parent, copy);
		folder_unref(parent);
	}
	return f;
}

static int submit_changed(struct walk *w, const struct changed_folder *c, struct err *e)
{
	struct scan_job job = {.run = scan_dir_run,
		.folder = changed_folder(w, c->path),
		.is_alone = c->is_listed && !c->is_deep,
		.names = c->is_listed ? NULL : &c->names};
	return job.folder ? submit_known(w, &job, e) : 0;
}

static int submit_all(struct walk *w, struct err *e)
{
	int result = 0;
	if (w->changes) {
		for (size_t i = 0; i < w->changes->count && result == 0; i++)
			result = submit_changed(w, &w->changes->folder[i], e);
		return result;
	}
	for (size_t i = 0; i < w->scan_workers_options.store->platform_count && result == 0; i++)
		result = submit_platform(w, i, e);
	return result;
}

// Handles events until the queue ends. After an error the remaining events are discarded, until the workers have
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
			scan_workers_inside_waits(w->workers, -(int64_t)packed_facts_size(ev->inside));
	}
	return result;
}

static void limit_threads(struct scan_workers_options *o)
{
	if (!o->threads) {
		struct processors may = processors_find("");
		o->threads = may.count;
		log_debug("reads in %s: %s", COUNTED(may.count, "thread|threads"), may.why);
	}
	if (o->threads > MOST_THREADS)
		o->threads = MOST_THREADS;
}

static int start_workers(struct walk *w, struct err *e)
{
	limit_threads(&w->scan_workers_options);
	w->scan_workers_options.catalog = catalog_path(w->catalog);
	w->scan_workers_options.cancel = &w->stop;
	w->workers = scan_workers_new(&w->scan_workers_options, e);
	return w->workers ? 0 : -1;
}

int walk_run(struct walk *w, struct err *e)
{
	if (start_workers(w, e) < 0)
		return -1;
	int result = submit_all(w, e);
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
