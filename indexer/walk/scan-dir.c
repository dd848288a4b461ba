// SPDX-License-Identifier: Apache-2.0
#include "indexer/walk/scan-dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "indexer/walk/dir-snapshot.h"
#include "indexer/walk/scan-file.h"
#include "indexer/walk/scan-sidecars.h"
#include "lib/base/limits.h"
#include "lib/base/mem.h"
#include "lib/domain/text/filename.h"
#include "lib/os/clock.h"
#include "lib/os/fs.h"
#include "lib/state/store/freeze.h"
#include "lib/state/store/tempname.h"

#define SECOND_NS ((int64_t)1000000000)

struct visit {
	struct scan_workers *workers;
	struct worker *worker;
	struct folder *folder;
	struct dir_snapshot known;
	int fd;
	uint64_t share; // of each thing in the folder
};

static void visit_release(struct visit *v)
{
	dir_snapshot_release(&v->known);
	mem_close(&v->fd);
}

static void share_among(struct visit *v, size_t things)
{
	v->share = things ? v->folder->share / things : 0;
	scan_workers_count(v->workers, COUNT_DONE, v->folder->share - v->share * things);
}

static void skip(struct visit *v, enum scan_workers_count why)
{
	scan_workers_count(v->workers, why, 1);
	scan_workers_count(v->workers, COUNT_DONE, v->share);
}

static void problem(struct visit *v, const char *filename, const struct err *why)
{
	atomic_store(&v->folder->restless, true);
	scan_workers_problem(v->workers, v->folder, filename, why);
}

// Takes child over.
static void submit(struct visit *v, struct folder *child, bool is_gone)
{
	child->share = v->share;
	scan_workers_submit(v->workers, &(struct job){.run = scan_dir_run, .folder = child, .is_gone = is_gone});
}

// It is written down before anybody looks into it: the parent counts as done without it, and a scan
// that is killed, or cannot open it, would never come back to a folder that the catalog has not.
static void submit_new(struct visit *v, struct folder *child)
{
	scan_workers_tell(v->workers, scan_event_new(SCAN_EVENT_FOLDER_NEW, child));
	submit(v, child, false);
}

// A wheel or an sdist. While many jobs wait, it is read here and now: the queue stays short.
static void see_file(struct visit *v, const char *name, struct dir_snapshot_file *file, const struct stat *st)
{
	const struct scan_workers_options *options = scan_workers_options(v->workers);
	scan_workers_saw(v->workers, v->folder);
	if (file && !options->is_wanted(options->ctx, &file->row, st)) {
		scan_workers_count(v->workers, COUNT_UNCHANGED, file->row.state == FILE_IS_LISTED);
		scan_workers_count(v->workers, COUNT_DONE, v->share);
		return;
	}
	struct job job = {.run = file ? options->look : scan_file_run,
		.folder = v->folder,
		.filename = xstrdup(name),
		.id = file ? file->row.id : 0,
		.written = file ? file->row.written : 0,
		.share = v->share};
	atomic_fetch_add(&v->folder->pending, 1);
	if (!scan_workers_is_busy(v->workers)) {
		folder_ref(job.folder);
		scan_workers_submit(v->workers, &job);
		return;
	}
	job.run(v->workers, v->worker, &job);
	free(job.filename);
}

static void see_folder(struct visit *v, const char *name, const struct stat *st, bool is_link)
{
	if (is_link && folder_is_circle(v->folder, st)) {
		skip(v, COUNT_LINKS);
		return;
	}
	if (v->folder->depth == LIMIT_DEPTH) {
		v->folder->ignored++;
		skip(v, COUNT_IGNORED);
		return;
	}
	CLEANUP(mem_free) char *path = folder_file(v->folder, name);
	struct dir_snapshot_folder *known = dir_snapshot_folder(&v->known, path);
	if (!known) {
		submit_new(v, folder_new(v->folder, name));
		return;
	}
	known->seen = true;
	submit(v, folder_ref(known->folder), false);
}

// What a link within the store leads to. 0: it leads out, or nowhere.
static int stat_link(struct visit *v, const char *name, struct stat *st, struct err *e)
{
	CLEANUP(mem_free) char *path = folder_file(v->folder, name);
	CLEANUP(mem_close) int fd = store_open_file(v->folder->platform, path, e);
	if (fd < 0)
		return e->kind == ERR_NOT_FOUND || e->kind == ERR_DENIED ? 0 : -1;
	return fstat(fd, st) < 0 ? err_errno(e, ERR_IO, "fstat") : 1;
}

// 1: st is what is there, links followed; 0: nothing that counts; -1: it cannot be said.
static int look(struct visit *v, const char *name, struct stat *st, bool *is_link, struct err *e)
{
	if (fstatat(v->fd, name, st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : err_errno(e, ERR_IO, "cannot look at it");
	*is_link = S_ISLNK(st->st_mode);
	if (!*is_link)
		return 1;
	int found = stat_link(v, name, st, e);
	if (found == 0)
		scan_workers_count(v->workers, COUNT_LINKS, 1);
	return found;
}

// A file that the catalog knows, in a folder whose names are as they were.
static void look_again(struct visit *v, struct dir_snapshot_file *file)
{
	struct err e = ERR_INIT;
	struct stat st;
	bool is_link;
	int found = look(v, file->row.filename, &st, &is_link, &e);
	if (found > 0 && S_ISREG(st.st_mode)) {
		see_file(v, file->row.filename, file, &st);
		return;
	}
	scan_workers_count(v->workers, COUNT_DONE, v->share);
	if (found < 0)
		problem(v, file->row.filename, &e);
	else
		scan_workers_gone(v->workers, v->folder, file->row.id, file->row.written);
}

// A mark's text may have changed where no name has.
static void look_at_known_marks(struct visit *v)
{
	for (size_t i = 0; i < v->known.mark_count; i++) {
		const struct catalog_known_mark *mark = &v->known.mark[i].row;
		scan_sidecars_see(v->workers, v->folder, v->fd, &v->known, mark->filename, mark->mark);
	}
	scan_sidecars_end(v->workers, v->folder, &v->known);
}

static void look_at_known(struct visit *v)
{
	look_at_known_marks(v);
	share_among(v, v->known.file_count + v->known.folder_count);
	scan_workers_count(v->workers, COUNT_IGNORED, v->folder->known.ignored);
	for (size_t i = 0; i < v->known.file_count && !scan_workers_is_cancelled(v->workers); i++)
		look_again(v, &v->known.file[i]);
	for (size_t i = 0; i < v->known.folder_count; i++)
		submit(v, folder_ref(v->known.folder[i].folder), false);
}

static bool is_mark(const char *name, unsigned char type, struct str *filename, enum mark *mark)
{
	return type != DT_DIR && sidecar_is(str_from(name), filename, mark);
}

static void see_entry(struct visit *v, const char *name, unsigned char type)
{
	struct err e = ERR_INIT;
	struct stat st;
	bool is_link = false, is_ours = filename_kind(str_from(name)) != FILENAME_OTHER;
	struct dir_snapshot_file *file = is_ours ? dir_snapshot_file(&v->known, name) : NULL;
	int found = type == DT_REG && !is_ours ? 1 : look(v, name, &st, &is_link, &e);
	if (found < 0) {
		if (file)
			file->seen = true; // it stays as it was
		problem(v, name, &e);
	}
	if (found <= 0) {
		scan_workers_count(v->workers, COUNT_DONE, v->share);
	} else if (type != DT_REG && S_ISDIR(st.st_mode)) {
		see_folder(v, name, &st, is_link);
	} else if (is_ours && S_ISREG(st.st_mode)) {
		if (file)
			file->seen = true;
		see_file(v, name, file, &st);
	} else {
		v->folder->ignored++;
		skip(v, COUNT_IGNORED);
	}
}

// Where we write: what was released is a copy.
static bool sweep(struct visit *v, const char *name)
{
	struct err ignored = ERR_INIT;
	const struct platform *p = v->folder->platform;
	CLEANUP(freeze_leave) struct freeze_hold hold;
	if (freeze_enter(p, false, &hold, &ignored) < 0)
		return false;
	if (!store_is_split(p))
		return tempname_sweep(v->fd, name);
	CLEANUP(mem_close) int fd = store_open_writable_folder(p, v->folder->path, &ignored);
	if (fd >= 0)
		tempname_sweep(fd, name);
	return false; // it is seen here until the next release
}

// A temporary file of ours whose maker is dead goes. While he lives, or the platform is frozen, the folder is looked at
// again: it does not change when that ends.
static void see_hidden(struct visit *v, const char *name)
{
	if (scan_workers_options(v->workers)->sweeps && tempname_is(name) && !sweep(v, name))
		atomic_store(&v->folder->restless, true);
}

// Adds a byte of type, the name and a NUL for each entry. Read to the end before any is looked at,
// so that the progress knows how many there are.
static int read_names(struct visit *v, struct buf *out, size_t *count, struct err *e)
{
	int fd = fcntl(v->fd, F_DUPFD_CLOEXEC, 0);
	CLEANUP(fs_close_dir) DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		mem_close(&fd);
		return err_errno(e, ERR_IO, "cannot list it");
	}
	for (struct dirent *entry; errno = 0, (entry = readdir(dir)) != NULL;) {
		if (entry->d_name[0] == '.') {
			see_hidden(v, entry->d_name);
			continue;
		}
		buf_putc(out, (char)entry->d_type);
		buf_add(out, entry->d_name, strlen(entry->d_name) + 1);
		++*count;
	}
	return errno ? err_errno(e, ERR_IO, "cannot list it") : 0;
}

// Before the files: a file that is new together with its mark is never without it on a page.
static void see_marks(struct visit *v, const struct buf *names)
{
	struct str filename;
	enum mark mark;
	for (const char *at = names->data; at < names->data + names->len; at += strlen(at + 1) + 2) {
		if (!is_mark(at + 1, (unsigned char)*at, &filename, &mark))
			continue;
		CLEANUP(mem_free) char *name = xstrndup(filename.ptr, filename.len);
		scan_sidecars_see(v->workers, v->folder, v->fd, &v->known, name, mark);
		scan_workers_count(v->workers, COUNT_DONE, v->share);
	}
}

static void see_entries(struct visit *v, const struct buf *names)
{
	struct str filename;
	enum mark mark;
	for (const char *at = names->data; at < names->data + names->len; at += strlen(at + 1) + 2) {
		if (scan_workers_is_cancelled(v->workers))
			return;
		if (!is_mark(at + 1, (unsigned char)*at, &filename, &mark))
			see_entry(v, at + 1, (unsigned char)*at);
	}
}

static void forget_unseen(struct visit *v)
{
	v->share = 0;
	scan_sidecars_end(v->workers, v->folder, &v->known);
	for (size_t i = 0; i < v->known.file_count; i++) {
		const struct dir_snapshot_file *file = &v->known.file[i];
		if (!file->seen)
			scan_workers_gone(v->workers, v->folder, file->row.id, file->row.written);
	}
	for (size_t i = 0; i < v->known.folder_count; i++)
		if (!v->known.folder[i].seen)
			submit(v, folder_ref(v->known.folder[i].folder), true);
}

static void list(struct visit *v)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf names;
	size_t count = 0;
	buf_init(&names, SIZE_MAX / 2);
	bool is_whole = read_names(v, &names, &count, &e) == 0;
	if (!is_whole)
		problem(v, NULL, &e);
	share_among(v, count);
	see_marks(v, &names);
	see_entries(v, &names);
	if (scan_workers_is_cancelled(v->workers))
		return;
	if (is_whole)
		forget_unseen(v);
	v->folder->is_listed = true;
}

// The folder is not there: nor is anything that was in it.
static void forget(struct visit *v)
{
	share_among(v, 0);
	forget_unseen(v);
	scan_workers_tell(v->workers, scan_event_new(SCAN_EVENT_FOLDER_GONE, v->folder));
}

// 1: it is open, 0: it is gone, -1: there is no saying.
static int open_folder(struct visit *v, struct err *e)
{
	struct folder *f = v->folder;
	if (f->platform->is_away)
		return err_set(e, ERR_IO, "does not answer: is its file server away?");
	v->fd = store_open_folder(f->platform, f->path, e);
	bool is_missing = v->fd < 0 && (e->kind == ERR_NOT_FOUND || e->kind == ERR_DENIED);
	if (is_missing && (f->parent || scan_workers_options(v->workers)->allow_empty))
		return 0;
	return v->fd < 0 ? -1 : 1;
}

// Whether a later name must change the folder's time. Whole seconds do not tell, however old: a replica on AFS shows a
// folder as it was at its release, and the next one what came to it later in the same second.
static bool folder_time_tells(int64_t mtime_ns, int64_t looked_at)
{
	return mtime_ns % SECOND_NS != 0 && fs_mtime_tells(mtime_ns, looked_at);
}

static void enter(struct visit *v)
{
	struct err e = ERR_INIT;
	struct stat st;
	struct folder *f = v->folder;
	int64_t looked_at = clock_wall_ns();
	if (fstat(v->fd, &st) < 0) {
		err_errno(&e, ERR_IO, "fstat");
		problem(v, NULL, &e);
		return;
	}
	f->device = st.st_dev;
	f->inode = st.st_ino;
	f->mtime_ns = fs_mtime_ns(&st);
	f->is_settled = folder_time_tells(f->mtime_ns, looked_at);
	if (!scan_workers_options(v->workers)->lists_all && f->is_settled && f->known.id && f->known.trusted &&
		f->known.mtime_ns == f->mtime_ns)
		look_at_known(v);
	else
		list(v);
}

// What is known is read before the names of the folder: what an upload puts there in between is a new
// file then, which the recorder finds in the catalog, and never a known one that is not there.
void scan_dir_run(struct scan_workers *workers, struct worker *worker, struct job *job)
{
	struct err e = ERR_INIT;
	CLEANUP(visit_release)
	struct visit v = {.workers = workers, .worker = worker, .folder = job->folder, .fd = -1};
	int found = dir_snapshot_load(&v.known, v.folder, worker->catalog, &e);
	if (found == 0 && !job->is_gone)
		found = open_folder(&v, &e);
	if (found < 0)
		problem(&v, NULL, &e);
	else if (found)
		enter(&v);
	else
		forget(&v);
	scan_workers_folder_end(workers, v.folder);
}
