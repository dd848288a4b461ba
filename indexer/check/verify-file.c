// SPDX-License-Identifier: Apache-2.0
#include "indexer/check/verify-file.h"

#include <string.h>

#include "lib/base/mem.h"
#include "lib/os/fs.h"
#include "lib/state/catalog/catalog-row.h"

void verify_file_report(struct verify_file *c, enum check_report_list list, const struct folder *folder,
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

// How a file differs from its row.
struct difference {
	bool is_found;
	enum check_report_list list;
	const char *second, *third;
	char recorded[SHA256_HEX + 1], found[SHA256_HEX + 1];
};

static void set_changed(struct difference *v, const char *how)
{
	v->is_found = true;
	v->list = CHECK_REPORT_LIST_CHANGED;
	v->second = how;
}

static void set_corrupt(struct difference *v, const struct catalog_sum *sum, const uint8_t *found)
{
	hex_encode(sum->sha256, SHA256_SIZE, v->recorded);
	hex_encode(found, SHA256_SIZE, v->found);
	v->is_found = true;
	v->list = CHECK_REPORT_LIST_CORRUPT;
	v->second = v->recorded;
	v->third = v->found;
}

static void compare_hash(const struct catalog_sum *sum, const struct stat *st, const uint8_t *found,
	struct difference *v)
{
	if (memcmp(found, sum->sha256, SHA256_SIZE) == 0)
		return; // the same bytes; a different mtime alone is no difference
	if ((uint64_t)st->st_size == sum->size && fs_mtime_ns(st) == sum->mtime_ns)
		set_corrupt(v, sum, found);
	else
		set_changed(v, "other bytes, of another time");
}

static int verify_open_file(struct scan_workers *workers, struct ingest *in, int fd, const struct catalog_sum *sum,
	struct difference *v, struct err *e)
{
	struct err why = ERR_INIT;
	struct stat st;
	uint8_t found[SHA256_SIZE];
	if (fstat(fd, &st) < 0)
		return err_errno(e, ERR_IO, "fstat");
	if ((uint64_t)st.st_size != sum->size) {
		set_changed(v, "another size");
		return 0;
	}
	if (ingest_hash(in, fd, &st, found, &why) == 0) {
		scan_workers_count(workers, COUNT_CHECKED, 1);
		scan_workers_count(workers, COUNT_BYTES, (uint64_t)st.st_size);
		compare_hash(sum, &st, found, v);
		return 0;
	}
	if (why.kind == ERR_BUSY) {
		set_changed(v, "while it was read");
		return 0;
	}
	*e = why;
	return -1;
}

// 1: the row is unchanged; 0: a scan has changed it meanwhile; -1: error.
static int is_row_unchanged(struct scan_worker *w, int64_t id, const struct catalog_sum *before, struct err *e)
{
	struct catalog_sum now;
	int found = catalog_file_sum(w->catalog, id, &now, e);
	if (found <= 0)
		return found;
	return now.state == before->state && now.size == before->size && now.mtime_ns == before->mtime_ns &&
	       memcmp(now.sha256, before->sha256, SHA256_SIZE) == 0;
}

// -1: the file could not be compared.
static int verify_one_file(struct scan_workers *workers, struct scan_worker *w, struct scan_job *job, struct err *e)
{
	struct err why = ERR_INIT;
	struct catalog_sum sum;
	struct difference v = {0};
	int known = catalog_file_sum(w->catalog, job->id, &sum, e);
	if (known <= 0)
		return known;
	CLEANUP(mem_free) char *path = folder_file(job->folder, job->filename);
	CLEANUP(mem_close) int fd = store_open_file(job->folder->platform, path, &why);
	if (fd < 0 && (why.kind == ERR_NOT_FOUND || why.kind == ERR_DENIED)) {
		scan_workers_send_gone(workers, job->folder, job->id, job->written);
		return 0;
	}
	if (fd < 0) {
		*e = why;
		return -1;
	}
	if (verify_open_file(workers, w->ingest, fd, &sum, &v, e) < 0)
		return -1;
	int still = v.is_found ? is_row_unchanged(w, job->id, &sum, e) : 0;
	if (still > 0)
		verify_file_report(scan_workers_options(workers)->ctx, v.list, job->folder, job->filename, v.second,
			v.third);
	return still < 0 ? -1 : 0;
}

void verify_file_run(struct scan_workers *workers, struct scan_worker *worker, struct scan_job *job)
{
	struct err e = ERR_INIT;
	if (verify_one_file(workers, worker, job, &e) < 0)
		scan_workers_send_problem(workers, job->folder, job->filename, &e);
	scan_workers_count(workers, COUNT_DONE, job->share);
	scan_workers_item_done(workers, job->folder);
}
