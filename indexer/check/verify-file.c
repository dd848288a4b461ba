// SPDX-License-Identifier: Apache-2.0
#include "indexer/check/verify-file.h"

#include <string.h>

#include "lib/base/mem.h"
#include "lib/os/fs.h"
#include "lib/state/catalog/catalog-check.h"

void verify_file_found(struct verify_file *c, enum check_report_list list, const struct folder *folder,
	const char *filename, const char *second, const char *third)
{
	CLEANUP(mem_free) char *below = folder_file(folder, filename);
	CLEANUP(mem_free) char *path = xasprintf("%s/%s", folder->platform->name, below);
	pthread_mutex_lock(&c->lock);
	summary_add(c->summary, list, path, second, third);
	pthread_mutex_unlock(&c->lock);
}

bool verify_file_is_wanted(void *ctx, const struct catalog_known *known, const struct stat *st)
{
	const struct verify_file *c = ctx;
	if (known->state != FILE_IS_LISTED)
		return false;
	return !c->sample || reservoir_has(c->sample, known->id) || known->size != (uint64_t)st->st_size;
}

// What is to be said of a file.
struct verdict {
	bool is_bad;
	enum check_report_list list;
	const char *second, *third;
	char recorded[SHA256_HEX + 1], found[SHA256_HEX + 1];
};

static void call_changed(struct verdict *v, const char *how)
{
	v->is_bad = true;
	v->list = CHECK_REPORT_LIST_CHANGED;
	v->second = how;
}

static void call_corrupt(struct verdict *v, const struct catalog_sum *sum, const uint8_t *found)
{
	hex_encode(sum->sha256, SHA256_SIZE, v->recorded);
	hex_encode(found, SHA256_SIZE, v->found);
	v->is_bad = true;
	v->list = CHECK_REPORT_LIST_CORRUPT;
	v->second = v->recorded;
	v->third = v->found;
}

static void compare(const struct catalog_sum *sum, const struct stat *st, const uint8_t *found, struct verdict *v)
{
	if (memcmp(found, sum->sha256, SHA256_SIZE) == 0)
		return; // also where only its time is another one
	if ((uint64_t)st->st_size == sum->size && fs_mtime_ns(st) == sum->mtime_ns)
		call_corrupt(v, sum, found);
	else
		call_changed(v, "other bytes, of another time");
}

static int look(struct scan_workers *workers, struct ingest *in, int fd, const struct catalog_sum *sum,
	struct verdict *v, struct err *e)
{
	struct err why = ERR_INIT;
	struct stat st;
	uint8_t found[SHA256_SIZE];
	if (fstat(fd, &st) < 0)
		return err_errno(e, ERR_IO, "fstat");
	if ((uint64_t)st.st_size != sum->size) {
		call_changed(v, "another size");
		return 0;
	}
	if (ingest_hash(in, fd, &st, found, &why) == 0) {
		scan_workers_count(workers, COUNT_CHECKED, 1);
		scan_workers_count(workers, COUNT_BYTES, (uint64_t)st.st_size);
		compare(sum, &st, found, v);
		return 0;
	}
	if (why.kind == ERR_BUSY) {
		call_changed(v, "while it was read");
		return 0;
	}
	*e = why;
	return -1;
}

// 1: the catalog says what it said before; 0: a scan has been here meanwhile, and knows better.
static int is_still(struct worker *w, int64_t id, const struct catalog_sum *before, struct err *e)
{
	struct catalog_sum now;
	int found = catalog_file_sum(w->catalog, id, &now, e);
	if (found <= 0)
		return found;
	return now.state == before->state && now.size == before->size && now.mtime_ns == before->mtime_ns &&
	       memcmp(now.sha256, before->sha256, SHA256_SIZE) == 0;
}

// -1: there is no saying.
static int check_file(struct scan_workers *workers, struct worker *w, struct job *job, struct err *e)
{
	struct err why = ERR_INIT;
	struct catalog_sum sum;
	struct verdict v = {0};
	int known = catalog_file_sum(w->catalog, job->id, &sum, e);
	if (known <= 0)
		return known;
	CLEANUP(mem_free) char *path = folder_file(job->folder, job->filename);
	CLEANUP(mem_close) int fd = store_open_file(job->folder->platform, path, &why);
	if (fd < 0 && (why.kind == ERR_NOT_FOUND || why.kind == ERR_DENIED)) {
		scan_workers_gone(workers, job->folder, job->id, job->written);
		return 0;
	}
	if (fd < 0) {
		*e = why;
		return -1;
	}
	if (look(workers, w->ingest, fd, &sum, &v, e) < 0)
		return -1;
	int still = v.is_bad ? is_still(w, job->id, &sum, e) : 0;
	if (still > 0)
		verify_file_found(scan_workers_options(workers)->ctx, v.list, job->folder, job->filename, v.second,
			v.third);
	return still < 0 ? -1 : 0;
}

void verify_file_run(struct scan_workers *workers, struct worker *worker, struct job *job)
{
	struct err e = ERR_INIT;
	if (check_file(workers, worker, job, &e) < 0)
		scan_workers_problem(workers, job->folder, job->filename, &e);
	scan_workers_count(workers, COUNT_DONE, job->share);
	scan_workers_folder_end(workers, job->folder);
}
