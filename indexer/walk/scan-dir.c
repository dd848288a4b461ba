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

struct scan_dir {
	struct scan_workers *workers;
	struct scan_worker *worker;
	struct folder *folder;
	struct dir_snapshot known;
	int fd;
	bool is_alone;
	uint64_t share; // of the progress, for each entry
};

static void scan_dir_release(struct scan_dir *d)
{
	dir_snapshot_release(&d->known);
	mem_close(&d->fd);
}

static void divide_share(struct scan_dir *d, size_t things)
{
	d->share = things ? d->folder->share / things : 0;
	scan_workers_count(d->workers, COUNT_DONE, d->folder->share - d->share * things);
}

static void skip_entry(struct scan_dir *d, enum scan_workers_count why)
{
	scan_workers_count(d->workers, why, 1);
	scan_workers_count(d->workers, COUNT_DONE, d->share);
}

static void report_problem(struct scan_dir *d, const char *filename, const struct err *why)
{
	atomic_store(&d->folder->needs_rescan, true);
	scan_workers_send_problem(d->workers, d->folder, filename, why);
}

// Takes ownership of the reference to child.
static void submit_folder(struct scan_dir *d, struct folder *child, bool is_gone)
{
	child->share = d->share;
	scan_workers_submit(d->workers, &(struct scan_job){.run = scan_dir_run, .folder = child, .is_gone = is_gone});
}

// The folder is written to the catalog before its scan: its parent counts as done without it, so a later scan does not
// list the parent again and would never find the folder if this scan is killed or cannot open it.
static void submit_new_folder(struct scan_dir *d, struct folder *child)
{
	scan_workers_send(d->workers, scan_event_new(SCAN_EVENT_FOLDER_NEW, child));
	submit_folder(d, child, false);
}

// A wheel or an sdist. While many jobs are queued, this thread reads the file itself: the queue stays short.
static void handle_file(struct scan_dir *d, const char *name, struct dir_snapshot_file *file, const struct stat *st)
{
	const struct scan_workers_options *options = scan_workers_options(d->workers);
	scan_workers_count_file(d->workers, d->folder);
	if (file && !options->is_wanted(options->ctx, &file->row, st)) {
		scan_workers_count(d->workers, COUNT_UNCHANGED, file->row.state == FILE_IS_LISTED);
		scan_workers_count(d->workers, COUNT_DONE, d->share);
		return;
	}
	struct scan_job job = {.run = file ? options->read_known : scan_file_run,
		.folder = d->folder,
		.filename = xstrdup(name),
		.id = file ? file->row.id : 0,
		.written = file ? file->row.written : 0,
		.share = d->share};
	atomic_fetch_add(&d->folder->pending, 1);
	if (!scan_workers_is_busy(d->workers)) {
		folder_ref(job.folder);
		scan_workers_submit(d->workers, &job);
		return;
	}
	job.run(d->workers, d->worker, &job);
	free(job.filename);
}

static void handle_folder(struct scan_dir *d, const char *name, const struct stat *st, bool is_link)
{
	if (is_link && folder_is_circle(d->folder, st)) {
		scan_workers_send_link(d->workers, d->folder, d->fd, name, "it leads to a folder that it is in");
		scan_workers_count(d->workers, COUNT_DONE, d->share);
		return;
	}
	if (d->folder->depth == LIMIT_DEPTH) {
		d->folder->ignored++;
		skip_entry(d, COUNT_IGNORED);
		return;
	}
	CLEANUP(mem_free) char *path = folder_file(d->folder, name);
	struct dir_snapshot_folder *known = dir_snapshot_folder(&d->known, path);
	if (!known) {
		submit_new_folder(d, folder_new(d->folder, name));
		return;
	}
	known->seen = true;
	if (!d->is_alone)
		submit_folder(d, folder_ref(known->folder), false);
}

// Fills st with the target of a link. 1: the target is in the store; 0: it is outside, or there is none; -1: error.
static int stat_link(struct scan_dir *d, const char *name, struct stat *st, struct err *e)
{
	CLEANUP(mem_free) char *path = folder_file(d->folder, name);
	CLEANUP(mem_close) int fd = store_open_file(d->folder->platform, path, e);
	if (fd < 0 && e->kind != ERR_NOT_FOUND && e->kind != ERR_DENIED)
		return -1;
	if (fd < 0)
		scan_workers_send_link(d->workers, d->folder, d->fd, name,
			e->kind == ERR_DENIED ? "it leads out of the store, or in a circle" : "it leads nowhere");
	if (fd < 0)
		return 0;
	return fstat(fd, st) < 0 ? err_errno(e, ERR_IO, "fstat") : 1;
}

// 1: st describes the entry, links followed; 0: the entry is gone, or a link to ignore; -1: error.
static int stat_entry(struct scan_dir *d, const char *name, struct stat *st, bool *is_link, struct err *e)
{
	if (fstatat(d->fd, name, st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : err_errno(e, ERR_IO, "cannot look at it");
	*is_link = S_ISLNK(st->st_mode);
	if (!*is_link)
		return 1;
	return stat_link(d, name, st, e);
}

// A file that the catalog knows, in a folder that is not listed because its names have not changed.
static void check_known_file(struct scan_dir *d, struct dir_snapshot_file *file)
{
	struct err e = ERR_INIT;
	struct stat st;
	bool is_link;
	int found = stat_entry(d, file->row.filename, &st, &is_link, &e);
	if (found > 0 && S_ISREG(st.st_mode)) {
		handle_file(d, file->row.filename, file, &st);
		return;
	}
	scan_workers_count(d->workers, COUNT_DONE, d->share);
	if (found < 0)
		report_problem(d, file->row.filename, &e);
	else
		scan_workers_send_gone(d->workers, d->folder, file->row.id, file->row.written);
}

// A mark's text can change while the folder's names and mtime stay the same; so can an attachment.
static void check_known_sidecars(struct scan_dir *d)
{
	for (size_t i = 0; i < d->known.mark_count; i++) {
		const struct catalog_known_mark *mark = &d->known.mark[i].row;
		scan_sidecars_check(d->workers, d->folder, d->fd, &d->known, mark->filename, mark->mark);
	}
	for (size_t i = 0; i < d->known.attachment_count; i++) {
		const struct catalog_known_attachment *row = &d->known.attachment[i].row;
		scan_sidecars_check_attachment(d->workers, d->folder, d->fd, &d->known, row->filename, row->kind);
	}
	scan_sidecars_remove_unseen(d->workers, d->folder, &d->known);
}

static void check_known_entries(struct scan_dir *d)
{
	check_known_sidecars(d);
	divide_share(d, d->known.file_count + d->known.folder_count);
	scan_workers_count(d->workers, COUNT_IGNORED, d->folder->known.ignored);
	for (size_t i = 0; i < d->known.file_count && !scan_workers_is_cancelled(d->workers); i++)
		check_known_file(d, &d->known.file[i]);
	for (size_t i = 0; i < d->known.folder_count && !d->is_alone; i++)
		submit_folder(d, folder_ref(d->known.folder[i].folder), false);
}

// A mark or an attachment.
struct sidecar_entry {
	struct str filename; // of which file
	bool is_mark;
	enum mark mark;
	enum attachment attachment;
};

static bool is_sidecar_name(const char *name, unsigned char type, struct sidecar_entry *out)
{
	out->is_mark = sidecar_is(str_from(name), &out->filename, &out->mark);
	return type != DT_DIR && (out->is_mark || attachment_is(str_from(name), &out->filename, &out->attachment));
}

static void handle_entry(struct scan_dir *d, const char *name, unsigned char type)
{
	struct err e = ERR_INIT;
	struct stat st;
	bool is_link = false, is_ours = filename_kind(str_from(name)) != FILENAME_OTHER;
	struct dir_snapshot_file *file = is_ours ? dir_snapshot_file(&d->known, name) : NULL;
	int found = type == DT_REG && !is_ours ? 1 : stat_entry(d, name, &st, &is_link, &e);
	if (found < 0) {
		if (file)
			file->seen = true; // its row stays unchanged
		report_problem(d, name, &e);
	}
	if (found <= 0) {
		scan_workers_count(d->workers, COUNT_DONE, d->share);
	} else if (type != DT_REG && S_ISDIR(st.st_mode)) {
		handle_folder(d, name, &st, is_link);
	} else if (is_ours && S_ISREG(st.st_mode)) {
		if (file)
			file->seen = true;
		handle_file(d, name, file, &st);
	} else {
		d->folder->ignored++;
		skip_entry(d, COUNT_IGNORED);
	}
}

// Removes a temporary file whose process is dead. On a split platform it does so in the writable volume, because the
// released one is a copy. False where the file is still there.
static bool sweep_tempfile(struct scan_dir *d, const char *name)
{
	struct err ignored = ERR_INIT;
	const struct platform *p = d->folder->platform;
	CLEANUP(freeze_leave) struct freeze_hold hold;
	if (freeze_enter(p, false, &hold, &ignored) < 0)
		return false;
	if (!store_is_split(p))
		return tempname_sweep(d->fd, name);
	CLEANUP(mem_close) int fd = store_open_writable_folder(p, d->folder->path, &ignored);
	if (fd >= 0)
		tempname_sweep(fd, name);
	return false; // the released copy shows it until the next release
}

// Removes abandoned temporary files of wheelcache. Where one has to stay (its process lives, or the platform is
// frozen), the folder needs another scan: its mtime does not change when that state ends.
static void handle_hidden(struct scan_dir *d, const char *name)
{
	if (scan_workers_options(d->workers)->sweeps && tempname_is(name) && !sweep_tempfile(d, name))
		atomic_store(&d->folder->needs_rescan, true);
}

// Adds the type (one byte), the name and a NUL of each entry to out. All names are read before the first entry is
// examined, so that the progress has the total.
static int read_entry_names(struct scan_dir *d, struct buf *out, size_t *count, struct err *e)
{
	int fd = fcntl(d->fd, F_DUPFD_CLOEXEC, 0);
	CLEANUP(fs_close_dir) DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		mem_close(&fd);
		return err_errno(e, ERR_IO, "cannot list it");
	}
	for (struct dirent *entry; errno = 0, (entry = readdir(dir)) != NULL;) {
		if (entry->d_name[0] == '.') {
			handle_hidden(d, entry->d_name);
			continue;
		}
		buf_putc(out, (char)entry->d_type);
		buf_add(out, entry->d_name, strlen(entry->d_name) + 1);
		++*count;
	}
	return errno ? err_errno(e, ERR_IO, "cannot list it") : 0;
}

// Sidecars come before files: a file that is new together with its mark never appears on a page without it.
static void handle_sidecars(struct scan_dir *d, const struct buf *names)
{
	struct sidecar_entry entry;
	for (const char *at = names->data; at < names->data + names->len; at += strlen(at + 1) + 2) {
		if (!is_sidecar_name(at + 1, (unsigned char)*at, &entry))
			continue;
		CLEANUP(mem_free) char *name = xstrndup(entry.filename.ptr, entry.filename.len);
		if (entry.is_mark)
			scan_sidecars_check(d->workers, d->folder, d->fd, &d->known, name, entry.mark);
		else
			scan_sidecars_check_attachment(d->workers, d->folder, d->fd, &d->known, name, entry.attachment);
		scan_workers_count(d->workers, COUNT_DONE, d->share);
	}
}

static void handle_entries(struct scan_dir *d, const struct buf *names)
{
	struct sidecar_entry entry;
	for (const char *at = names->data; at < names->data + names->len; at += strlen(at + 1) + 2) {
		if (scan_workers_is_cancelled(d->workers))
			return;
		if (!is_sidecar_name(at + 1, (unsigned char)*at, &entry))
			handle_entry(d, at + 1, (unsigned char)*at);
	}
}

static void remove_unseen(struct scan_dir *d)
{
	d->share = 0;
	scan_sidecars_remove_unseen(d->workers, d->folder, &d->known);
	for (size_t i = 0; i < d->known.file_count; i++) {
		const struct dir_snapshot_file *file = &d->known.file[i];
		if (!file->seen)
			scan_workers_send_gone(d->workers, d->folder, file->row.id, file->row.written);
	}
	for (size_t i = 0; i < d->known.folder_count; i++)
		if (!d->known.folder[i].seen)
			submit_folder(d, folder_ref(d->known.folder[i].folder), true);
}

static void list_folder(struct scan_dir *d)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf names;
	size_t count = 0;
	buf_init(&names, SIZE_MAX / 2);
	bool is_whole = read_entry_names(d, &names, &count, &e) == 0;
	if (!is_whole)
		report_problem(d, NULL, &e);
	divide_share(d, count);
	handle_sidecars(d, &names);
	handle_entries(d, &names);
	if (scan_workers_is_cancelled(d->workers))
		return;
	if (is_whole)
		remove_unseen(d);
	d->folder->is_listed = true;
}

// The folder is gone, with all that was in it.
static void report_gone_folder(struct scan_dir *d)
{
	divide_share(d, 0);
	remove_unseen(d);
	scan_workers_send(d->workers, scan_event_new(SCAN_EVENT_FOLDER_GONE, d->folder));
}

// 1: it is open, 0: it is gone, -1: error.
static int open_scanned_folder(struct scan_dir *d, struct err *e)
{
	struct folder *f = d->folder;
	if (f->platform->is_away)
		return err_set(e, ERR_IO, "does not answer: is its file server away?");
	d->fd = store_open_folder(f->platform, f->path, e);
	bool is_missing = d->fd < 0 && (e->kind == ERR_NOT_FOUND || e->kind == ERR_DENIED);
	if (is_missing && (f->parent || scan_workers_options(d->workers)->allow_empty))
		return 0;
	return d->fd < 0 ? -1 : 1;
}

// Whether every later change of names changes the folder's mtime too. False for whole seconds, however old: a replica
// on AFS shows a folder as of its release, and the next release may add names of the same second.
static bool is_folder_time_reliable(int64_t mtime_ns, int64_t looked_at)
{
	return mtime_ns % SECOND_NS != 0 && fs_mtime_is_reliable(mtime_ns, looked_at);
}

// Of a snapshot with these names alone, what is not seen is gone.
static void scan_names(struct scan_dir *d, const struct strset *wanted)
{
	CLEANUP(buf_release) struct buf names;
	buf_init(&names, SIZE_MAX / 2);
	folder_identify(d->folder, d->fd);
	for (size_t i = 0; i < wanted->count; i++) {
		buf_putc(&names, (char)DT_UNKNOWN);
		buf_add(&names, wanted->item[i], strlen(wanted->item[i]) + 1);
	}
	handle_sidecars(d, &names);
	handle_entries(d, &names);
	if (!scan_workers_is_cancelled(d->workers))
		remove_unseen(d);
}

static void scan_open_folder(struct scan_dir *d)
{
	struct err e = ERR_INIT;
	struct stat st;
	struct folder *f = d->folder;
	const struct scan_workers_options *options = scan_workers_options(d->workers);
	if (options->on_folder)
		options->on_folder(options->folder_ctx, f, d->fd);
	int64_t looked_at = clock_wall_ns();
	if (fstat(d->fd, &st) < 0) {
		err_errno(&e, ERR_IO, "fstat");
		report_problem(d, NULL, &e);
		return;
	}
	f->device = st.st_dev;
	f->inode = st.st_ino;
	f->mtime_ns = fs_mtime_ns(&st);
	f->is_mtime_reliable = is_folder_time_reliable(f->mtime_ns, looked_at);
	if (!options->lists_all && f->is_mtime_reliable && f->known.id && f->known.trusted &&
		f->known.mtime_ns == f->mtime_ns)
		check_known_entries(d);
	else
		list_folder(d);
}

// The snapshot is loaded before the folder is listed. So a file that an upload adds in between is taken for a new file,
// which the scan writer finds in the catalog, and never for a known file that is gone.
void scan_dir_run(struct scan_workers *workers, struct scan_worker *worker, struct scan_job *job)
{
	struct err e = ERR_INIT;
	CLEANUP(scan_dir_release)
	struct scan_dir d = {
		.workers = workers, .worker = worker, .folder = job->folder, .fd = -1, .is_alone = job->is_alone};
	int found = job->names ? dir_snapshot_load_names(&d.known, d.folder, job->names, worker->catalog, &e)
			       : dir_snapshot_load(&d.known, d.folder, worker->catalog, &e);
	if (found == 0 && !job->is_gone)
		found = open_scanned_folder(&d, &e);
	if (found < 0)
		report_problem(&d, NULL, &e);
	else if (found && job->names)
		scan_names(&d, job->names);
	else if (found)
		scan_open_folder(&d);
	else
		report_gone_folder(&d);
	scan_workers_item_done(workers, d.folder);
}
