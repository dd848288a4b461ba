// SPDX-License-Identifier: Apache-2.0
#include "indexer/walk/scan-file.h"

#include "lib/base/mem.h"
#include "lib/os/clock.h"

static void report_waiting(struct scan_workers *workers, const struct scan_job *job, const char *why)
{
	atomic_store(&job->folder->needs_rescan, true);
	scan_workers_send_waiting(workers, job->folder, job->filename, why);
}

// Whether a damaged file is no longer being written. An mtime in the future says nothing about age: such a file counts.
static bool is_old_enough(const struct scan_workers *workers, int64_t mtime_ns, int64_t looked_at)
{
	int64_t age = looked_at - mtime_ns;
	return age < 0 || age >= scan_workers_options(workers)->settle_ns;
}

static void report_unread(struct scan_workers *workers, const struct scan_job *job, const struct err *why)
{
	if (why->kind == ERR_BUSY) {
		report_waiting(workers, job, why->msg);
		return;
	}
	atomic_store(&job->folder->needs_rescan, true);
	scan_workers_send_problem(workers, job->folder, job->filename, why);
}

// What is inside the wheel, while its bytes are in memory. After a failure the catalog lacks it, and facts-backfill
// tries again, as it does with wheels that are not small.
static void take_inside(struct scan_workers *workers, struct scan_worker *worker, struct scan_event *ev,
	struct place_file *file)
{
	struct err why = ERR_INIT;
	const struct ingest_facts *f = ev->facts;
	struct err ignored = ERR_INIT; // then they are taken again
	bool is_known;
	const struct scan_workers_options *o = scan_workers_options(workers);
	if (!o->takes_facts || f->refusal || f->name.kind != FILENAME_WHEEL)
		return;
	if (o->facts_most && f->version.size > o->facts_most)
		return;
	if (catalog_facts_is_known(worker->catalog, f->sha256, WHEEL_FACTS_VERSION, &is_known, &ignored) == 0 &&
		is_known)
		return;
	if (!scan_workers_begin_inside(workers, f->sha256))
		return;
	const struct byte_source bytes = ingest_bytes(worker->ingest, file, ev->facts);
	ev->inside = xcalloc(1, sizeof(*ev->inside));
	if (packed_facts_read_file(ingest_wheel_reader(worker->ingest), &bytes, file, &ev->facts->version,
		    &ev->facts->name, ev->inside, &why) == 0)
		scan_workers_count(workers, COUNT_INSIDE, 1);
	scan_workers_inside_waits(workers, (int64_t)packed_facts_size(ev->inside));
}

static void ingest_file(struct scan_workers *workers, struct scan_worker *worker, struct scan_job *job,
	struct place_file *file)
{
	struct err e = ERR_INIT;
	CLEANUP(scan_event_cleanup) struct scan_event *ev = scan_event_new(SCAN_EVENT_FILE, job->folder);
	int64_t looked_at = clock_wall_ns();
	ev->id = job->id;
	ev->written = job->written;
	ev->facts = xmalloc(sizeof(*ev->facts));
	ingest_facts_init(ev->facts);
	if (ingest_read(worker->ingest, file, job->filename, LENIENT, ev->facts, &e) < 0) {
		report_unread(workers, job, &e);
		return;
	}
	if (ev->facts->was_read)
		scan_workers_count(workers, COUNT_BYTES, ev->facts->version.size);
	if (ev->facts->refusal && !is_old_enough(workers, ev->facts->version.time_ns, looked_at)) {
		report_waiting(workers, job, ev->facts->refusal);
		return;
	}
	ev->trusted = place_version_is_settled(&ev->facts->version, looked_at);
	take_inside(workers, worker, ev, file);
	scan_workers_send(workers, STEAL_PTR(ev));
}

bool scan_file_is_wanted(void *ctx UNUSED, const struct catalog_known *known, const struct place_version *now)
{
	const struct place_version before = {known->size, known->mtime_ns, known->inode};
	return !known->trusted || place_version_match(&before, now) != PLACE_SAME;
}

void scan_file_run(struct scan_workers *workers, struct scan_worker *worker, struct scan_job *job)
{
	struct err e = ERR_INIT;
	CLEANUP(mem_free) char *path = folder_file(job->folder, job->filename);
	CLEANUP(place_file_close) struct place_file *file = place_open(job->folder->platform->place, path, &e);
	if (file)
		ingest_file(workers, worker, job, file);
	else if (e.kind != ERR_NOT_FOUND && e.kind != ERR_DENIED)
		report_unread(workers, job, &e);
	else if (job->id)
		scan_workers_send_gone(workers, job->folder, job->id, job->written);
	scan_workers_count(workers, COUNT_DONE, job->share);
	scan_workers_item_done(workers, job->folder);
}
