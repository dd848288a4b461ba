// SPDX-License-Identifier: Apache-2.0
#include "indexer/walk/scan-file.h"

#include "lib/base/mem.h"
#include "lib/os/clock.h"
#include "lib/os/fs.h"

static void wait_for(struct crew *crew, const struct job *job, const char *why)
{
	atomic_store(&job->folder->restless, true);
	crew_waits(crew, job->folder, job->filename, why);
}

// An mtime in the future says nothing about age.
static bool is_settled(const struct crew *crew, int64_t mtime_ns, int64_t looked_at)
{
	int64_t age = looked_at - mtime_ns;
	return age < 0 || age >= crew_options(crew)->settle_ns;
}

static void give_up(struct crew *crew, const struct job *job, const struct err *why)
{
	if (why->kind == ERR_BUSY) {
		wait_for(crew, job, why->msg);
		return;
	}
	atomic_store(&job->folder->restless, true);
	crew_problem(crew, job->folder, job->filename, why);
}

static void read_file(struct crew *crew, struct worker *worker, struct job *job, int fd)
{
	struct err e = ERR_INIT;
	CLEANUP(outcome_cleanup) struct outcome *o = outcome_new(OUTCOME_FILE, job->folder);
	int64_t looked_at = clock_wall_ns();
	o->id = job->id;
	o->written = job->written;
	o->facts = xmalloc(sizeof(*o->facts));
	ingest_facts_init(o->facts);
	if (ingest_read(worker->ingest, fd, job->filename, LENIENT, o->facts, &e) < 0) {
		give_up(crew, job, &e);
		return;
	}
	int64_t mtime_ns = fs_mtime_ns(&o->facts->st);
	if (o->facts->was_read)
		crew_count(crew, COUNT_BYTES, (uint64_t)o->facts->st.st_size);
	if (o->facts->refusal && !is_settled(crew, mtime_ns, looked_at)) {
		wait_for(crew, job, o->facts->refusal);
		return;
	}
	o->trusted = fs_mtime_tells(mtime_ns, looked_at);
	crew_tell(crew, STEAL_PTR(o));
}

bool reading_is_wanted(void *ctx UNUSED, const struct catalog_known *known, const struct stat *st)
{
	return !known->trusted || known->size != (uint64_t)st->st_size ||
	       known->mtime_ns != fs_mtime_ns(st) || known->inode != st->st_ino;
}

void reading_run(struct crew *crew, struct worker *worker, struct job *job)
{
	struct err e = ERR_INIT;
	CLEANUP(mem_free) char *path = folder_file(job->folder, job->filename);
	CLEANUP(mem_close) int fd = store_open_file(job->folder->platform, path, &e);
	if (fd >= 0)
		read_file(crew, worker, job, fd);
	else if (e.kind != ERR_NOT_FOUND && e.kind != ERR_DENIED)
		give_up(crew, job, &e);
	else if (job->id)
		crew_gone(crew, job->folder, job->id, job->written);
	crew_count(crew, COUNT_DONE, job->share);
	crew_folder_end(crew, job->folder);
}
