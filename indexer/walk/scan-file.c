// SPDX-License-Identifier: Apache-2.0
#include "indexer/walk/scan-file.h"

#include "lib/base/mem.h"
#include "lib/os/clock.h"
#include "lib/os/fs.h"

static void wait_for(struct scan_workers *workers, const struct job *job, const char *why)
{
	atomic_store(&job->folder->restless, true);
	scan_workers_waits(workers, job->folder, job->filename, why);
}

// An mtime in the future says nothing about age.
static bool is_settled(const struct scan_workers *workers, int64_t mtime_ns, int64_t looked_at)
{
	int64_t age = looked_at - mtime_ns;
	return age < 0 || age >= scan_workers_options(workers)->settle_ns;
}

static void give_up(struct scan_workers *workers, const struct job *job, const struct err *why)
{
	if (why->kind == ERR_BUSY) {
		wait_for(workers, job, why->msg);
		return;
	}
	atomic_store(&job->folder->restless, true);
	scan_workers_problem(workers, job->folder, job->filename, why);
}

static void read_file(struct scan_workers *workers, struct worker *worker, struct job *job, int fd)
{
	struct err e = ERR_INIT;
	CLEANUP(scan_event_cleanup) struct scan_event *o = scan_event_new(SCAN_EVENT_FILE, job->folder);
	int64_t looked_at = clock_wall_ns();
	o->id = job->id;
	o->written = job->written;
	o->facts = xmalloc(sizeof(*o->facts));
	ingest_facts_init(o->facts);
	if (ingest_read(worker->ingest, fd, job->filename, LENIENT, o->facts, &e) < 0) {
		give_up(workers, job, &e);
		return;
	}
	int64_t mtime_ns = fs_mtime_ns(&o->facts->st);
	if (o->facts->was_read)
		scan_workers_count(workers, COUNT_BYTES, (uint64_t)o->facts->st.st_size);
	if (o->facts->refusal && !is_settled(workers, mtime_ns, looked_at)) {
		wait_for(workers, job, o->facts->refusal);
		return;
	}
	o->trusted = fs_mtime_tells(mtime_ns, looked_at);
	scan_workers_tell(workers, STEAL_PTR(o));
}

bool scan_file_is_wanted(void *ctx UNUSED, const struct catalog_known *known, const struct stat *st)
{
	return !known->trusted || known->size != (uint64_t)st->st_size || known->mtime_ns != fs_mtime_ns(st) ||
	       known->inode != st->st_ino;
}

void scan_file_run(struct scan_workers *workers, struct worker *worker, struct job *job)
{
	struct err e = ERR_INIT;
	CLEANUP(mem_free) char *path = folder_file(job->folder, job->filename);
	CLEANUP(mem_close) int fd = store_open_file(job->folder->platform, path, &e);
	if (fd >= 0)
		read_file(workers, worker, job, fd);
	else if (e.kind != ERR_NOT_FOUND && e.kind != ERR_DENIED)
		give_up(workers, job, &e);
	else if (job->id)
		scan_workers_gone(workers, job->folder, job->id, job->written);
	scan_workers_count(workers, COUNT_DONE, job->share);
	scan_workers_folder_end(workers, job->folder);
}
