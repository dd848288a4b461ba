// SPDX-License-Identifier: Apache-2.0
#include "indexer/walk/scan-dir.h"

#include <stdlib.h>
#include <string.h>

#include "indexer/walk/dir-snapshot.h"
#include "indexer/walk/scan-file.h"
#include "lib/base/limits.h"
#include "lib/base/mem.h"
#include "lib/domain/text/filename.h"
#include "lib/os/clock.h"
#include "lib/state/store/freeze.h"
#include "lib/state/store/project-status.h"

// --- marks and attachments ---

// text NULL: the mark is gone.
static void report_mark(struct scan_workers *workers, struct folder *folder, const char *filename, enum mark mark,
	const char *text, const struct dir_snapshot_mark *known)
{
	struct scan_event *ev = scan_event_new(SCAN_EVENT_MARK, folder);
	ev->filename = xstrdup(filename);
	ev->mark = mark;
	ev->text = text ? xstrdup(text) : NULL;
	ev->written = known ? known->row.written : 0;
	scan_workers_send(workers, ev);
}

static bool is_status(int found, struct str text, struct err *e)
{
	CLEANUP(project_status_release) struct project_status status = {0};
	return found > 0 && project_status_read(text, &status, e) == 0;
}

static void scan_sidecars_check(struct scan_workers *workers, struct folder *folder, struct place_folder *open,
	struct dir_snapshot *known, const char *filename, enum mark mark)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf text = buf_up_to(2 * LIMIT_SIDECAR);
	struct dir_snapshot_mark *row = dir_snapshot_mark(known, filename, mark);
	int found = sidecar_read(open, filename, mark, &text, &e);
	if (row)
		row->seen = found != 0; // the row of a mark that cannot be read stays
	bool is_other = found > 0 && (!row || !row->row.text || strcmp(row->row.text, text.data) != 0);
	bool is_damaged = mark == MARK_STATUS && found && !is_status(found, buf_view(&text), &e);
	if (is_other || (is_damaged && !row)) // a status that cannot be read withdraws the project (project-status.h)
		report_mark(workers, folder, filename, mark, text.data ? text.data : "", row);
	if (found >= 0 && !is_damaged)
		return;
	atomic_store(&folder->needs_rescan, true);
	scan_workers_send_problem(workers, folder, mark == MARK_STATUS ? sidecar_ending[mark] : filename, &e);
}

static enum place_match match_row(const struct dir_snapshot_attachment *known, const struct place_version *now)
{
	const struct place_version before = {known->row.size, known->row.mtime_ns, known->row.inode};
	return place_version_match(&before, now);
}

// attached NULL: it is gone. Takes over what attached owns.
static void report_attachment(struct scan_workers *workers, struct folder *folder, const char *filename,
	enum attachment kind, struct attachment_facts *attached, const struct dir_snapshot_attachment *known)
{
	struct scan_event *ev = scan_event_new(SCAN_EVENT_ATTACHMENT, folder);
	ev->filename = xstrdup(filename);
	ev->attachment = kind;
	ev->written = known ? known->row.written : 0;
	ev->is_known = known && attached && match_row(known, &attached->version) != PLACE_OTHER;
	if (ev->is_known) {
		ev->text = xcalloc(1, SHA256_HEX + 1);
		hex_encode(known->row.sha256, SHA256_SIZE, ev->text);
	}
	if (attached) {
		ev->attached = xmalloc(sizeof(*ev->attached));
		*ev->attached = *attached;
		*attached = (struct attachment_facts){0};
	}
	scan_workers_send(workers, ev);
}

static bool is_unchanged_attachment(const struct scan_workers *workers, struct place_folder *open, const char *filename,
	enum attachment kind, const struct dir_snapshot_attachment *known)
{
	struct place_info now;
	struct err ignored = ERR_INIT;
	CLEANUP(mem_free) char *name = attachment_file_name(filename, kind);
	return known && known->row.trusted && !scan_workers_options(workers)->reads_attachments && name &&
	       place_stat(open, name, &now, &ignored) > 0 && now.kind == PLACE_FILE &&
	       match_row(known, &now.version) == PLACE_SAME;
}

// The same bytes are written again where their time differs, or was not to be trusted.
static bool differs_from_row(const struct scan_workers *workers, const struct attachment_facts *attached,
	const struct dir_snapshot_attachment *known)
{
	if (!known || memcmp(known->row.sha256, attached->sha256, SHA256_SIZE) != 0)
		return true;
	bool is_settled = known->row.trusted || !place_version_is_settled(&attached->version, clock_wall_ns());
	return !scan_workers_options(workers)->reads_attachments &&
	       (!is_settled || match_row(known, &attached->version) != PLACE_SAME);
}

static void scan_sidecars_check_attachment(struct scan_workers *workers, struct folder *folder, struct place_folder *open,
	struct dir_snapshot *known, const char *filename, enum attachment kind)
{
	struct err e = ERR_INIT;
	struct dir_snapshot_attachment *row = dir_snapshot_attachment(known, filename, kind);
	CLEANUP(attachment_facts_release) struct attachment_facts attached = {0};
	if (is_unchanged_attachment(workers, open, filename, kind, row)) {
		row->seen = true;
		return;
	}
	int found = attachment_file_read(open, filename, kind, &attached, &e);
	if (found < 0 && e.kind == ERR_DENIED) { // a link that leads out of the store or in a circle
		scan_workers_send_link(workers, folder, open, filename, "it leads out of the store, or in a circle");
		found = 0;
	}
	if (row)
		row->seen = found != 0; // the row of one that cannot be read stays
	if (found > 0 && differs_from_row(workers, &attached, row))
		report_attachment(workers, folder, filename, kind, &attached, row);
	if (found >= 0)
		return;
	atomic_store(&folder->needs_rescan, true);
	scan_workers_send_problem(workers, folder, filename, &e);
}

static void scan_sidecars_remove_unseen(struct scan_workers *workers, struct folder *folder, const struct dir_snapshot *known)
{
	for (size_t i = 0; i < known->mark_count; i++) {
		const struct dir_snapshot_mark *row = &known->mark[i];
		if (!row->seen)
			report_mark(workers, folder, row->row.filename, row->row.mark, NULL, row);
	}
	for (size_t i = 0; i < known->attachment_count; i++) {
		const struct dir_snapshot_attachment *row = &known->attachment[i];
		if (!row->seen)
			report_attachment(workers, folder, row->row.filename, row->row.kind, NULL, row);
	}
}

struct scan_dir {
	struct scan_workers *workers;
	struct scan_worker *worker;
	struct folder *folder;
	struct dir_snapshot known;
	struct place_folder *open;
	bool is_alone;
	uint64_t share; // of the progress, for each entry
};

static void scan_dir_release(struct scan_dir *d)
{
	dir_snapshot_release(&d->known);
	place_folder_close(&d->open);
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

// A wheel or an sdist. While many jobs are queued, this thread reads the file itself: the queue stays short.
static void handle_file(struct scan_dir *d, const char *name, struct dir_snapshot_file *file,
	const struct place_version *now)
{
	const struct scan_workers_options *options = scan_workers_options(d->workers);
	scan_workers_count_file(d->workers, d->folder);
	if (file && !options->is_wanted(options->ctx, &file->row, now)) {
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

static void handle_folder(struct scan_dir *d, const char *name, const struct place_info *info, bool is_link)
{
	if (is_link && folder_is_circle(d->folder, info)) {
		scan_workers_send_link(d->workers, d->folder, d->open, name, "it leads to a folder that it is in");
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
		// The folder is written to the catalog before its scan: its parent counts as done without it, so a
		// later scan does not list the parent again and would never find the folder if this scan is killed or
		// cannot open it.
		struct folder *child = folder_new(d->folder, name);
		scan_workers_send(d->workers, scan_event_new(SCAN_EVENT_FOLDER_NEW, child));
		submit_folder(d, child, false);
		return;
	}
	known->seen = true;
	if (!d->is_alone)
		submit_folder(d, folder_ref(known->folder), false);
}

// 1: *info is of what the link leads to in the store; 0: it is outside, or there is none; -1: error.
static int follow_entry(struct scan_dir *d, const char *name, struct place_info *info, struct err *e)
{
	if (place_follow(d->open, name, info, e) == 0)
		return 1;
	if (e->kind != ERR_NOT_FOUND && e->kind != ERR_DENIED)
		return -1;
	scan_workers_send_link(d->workers, d->folder, d->open, name,
		e->kind == ERR_DENIED ? "it leads out of the store, or in a circle" : "it leads nowhere");
	return 0;
}

// 1: *info describes the entry, links followed; 0: the entry is gone, or a link to ignore; -1: error.
static int stat_entry(struct scan_dir *d, const char *name, struct place_info *info, bool *is_link, struct err *e)
{
	int found = place_stat(d->open, name, info, e);
	*is_link = found > 0 && info->kind == PLACE_LINK;
	return *is_link ? follow_entry(d, name, info, e) : found;
}

// A file that the catalog knows, in a folder that is not listed because its names have not changed.
static void check_known_file(struct scan_dir *d, struct dir_snapshot_file *file)
{
	struct err e = ERR_INIT;
	struct place_info info;
	bool is_link;
	int found = stat_entry(d, file->row.filename, &info, &is_link, &e);
	if (found > 0 && info.kind == PLACE_FILE) {
		handle_file(d, file->row.filename, file, &info.version);
		return;
	}
	scan_workers_count(d->workers, COUNT_DONE, d->share);
	if (found < 0)
		report_problem(d, file->row.filename, &e);
	else
		scan_workers_send_gone(d->workers, d->folder, file->row.id, file->row.written);
}

static void check_known_entries(struct scan_dir *d)
{
	// A mark's text can change while the folder's names and mtime stay the same; so can an attachment.
	for (size_t i = 0; i < d->known.mark_count; i++) {
		const struct catalog_known_mark *mark = &d->known.mark[i].row;
		scan_sidecars_check(d->workers, d->folder, d->open, &d->known, mark->filename, mark->mark);
	}
	for (size_t i = 0; i < d->known.attachment_count; i++) {
		const struct catalog_known_attachment *row = &d->known.attachment[i].row;
		scan_sidecars_check_attachment(d->workers, d->folder, d->open, &d->known, row->filename, row->kind);
	}
	scan_sidecars_remove_unseen(d->workers, d->folder, &d->known);
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

static bool is_sidecar_name(const char *name, enum place_kind kind, struct sidecar_entry *out)
{
	out->is_mark = sidecar_is(str_from(name), &out->filename, &out->mark);
	return kind != PLACE_FOLDER && (out->is_mark || attachment_is(str_from(name), &out->filename, &out->attachment));
}

static void handle_entry(struct scan_dir *d, const char *name, enum place_kind kind)
{
	struct err e = ERR_INIT;
	struct place_info info;
	bool is_link = false, is_ours = filename_kind(str_from(name)) != FILENAME_OTHER;
	struct dir_snapshot_file *file = is_ours ? dir_snapshot_file(&d->known, name) : NULL;
	int found = kind == PLACE_FILE && !is_ours ? 1 : stat_entry(d, name, &info, &is_link, &e);
	if (found < 0) {
		if (file)
			file->seen = true; // its row stays unchanged
		report_problem(d, name, &e);
	}
	if (found <= 0) {
		scan_workers_count(d->workers, COUNT_DONE, d->share);
	} else if (kind != PLACE_FILE && info.kind == PLACE_FOLDER) {
		handle_folder(d, name, &info, is_link);
	} else if (is_ours && info.kind == PLACE_FILE) {
		if (file)
			file->seen = true;
		handle_file(d, name, file, &info.version);
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
		return place_sweep(d->open, name);
	CLEANUP(place_folder_close) struct place_folder *written = place_open_folder(p->written, d->folder->path, &ignored);
	if (written)
		place_sweep(written, name);
	return false; // the released copy shows it until the next release
}

// The names of a folder: the kind of each (one byte), the name and a NUL.
struct entry_names {
	struct scan_dir *dir;
	struct buf text;
	size_t count;
};

static void entry_names_release(struct entry_names *names)
{
	buf_release(&names->text);
}

// Removes abandoned files. Where one has to stay (its process lives, or the platform is frozen), the folder needs
// another scan: its version does not change when that state ends.
static int add_entry_name(void *ctx, const char *name, enum place_kind kind, struct err *e UNUSED)
{
	struct entry_names *names = ctx;
	struct scan_dir *d = names->dir;
	if (kind == PLACE_LEFTOVER) {
		if (scan_workers_options(d->workers)->sweeps && !sweep_tempfile(d, name))
			atomic_store(&d->folder->needs_rescan, true);
		return 0;
	}
	buf_putc(&names->text, (char)kind);
	buf_add(&names->text, name, strlen(name) + 1);
	names->count++;
	return 0;
}

// Sidecars come before files: a file that is new together with its mark never appears on a page without it.
static void handle_sidecars(struct scan_dir *d, const struct buf *names)
{
	struct sidecar_entry entry;
	for (const char *at = names->data; at < names->data + names->len; at += strlen(at + 1) + 2) {
		if (!is_sidecar_name(at + 1, (enum place_kind)*at, &entry))
			continue;
		CLEANUP(mem_free)
		char *name = entry.is_mark ? sidecar_subject(entry.filename, entry.mark, d->folder->path)
					   : xstrndup(entry.filename.ptr, entry.filename.len);
		if (name && entry.is_mark)
			scan_sidecars_check(d->workers, d->folder, d->open, &d->known, name, entry.mark);
		else if (name)
			scan_sidecars_check_attachment(d->workers, d->folder, d->open, &d->known, name, entry.attachment);
		scan_workers_count(d->workers, COUNT_DONE, d->share);
	}
}

static void handle_entries(struct scan_dir *d, const struct buf *names)
{
	struct sidecar_entry entry;
	for (const char *at = names->data; at < names->data + names->len; at += strlen(at + 1) + 2) {
		if (scan_workers_is_cancelled(d->workers))
			return;
		if (!is_sidecar_name(at + 1, (enum place_kind)*at, &entry))
			handle_entry(d, at + 1, (enum place_kind)*at);
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
	CLEANUP(entry_names_release) struct entry_names names = {.dir = d};
	buf_init(&names.text, SIZE_MAX / 2);
	// All names are read before the first entry is examined, so that the progress has the total.
	bool is_whole = place_list(d->open, add_entry_name, &names, &e) == 0;
	if (!is_whole)
		report_problem(d, NULL, &e);
	divide_share(d, names.count);
	handle_sidecars(d, &names.text);
	handle_entries(d, &names.text);
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
		return err_set(e, ERR_IO, "%s",
			f->platform->away_why ? f->platform->away_why : "does not answer: is its file server away?");
	d->open = place_open_folder(f->platform->place, f->path, e);
	bool is_missing = !d->open && (e->kind == ERR_NOT_FOUND || e->kind == ERR_DENIED);
	if (is_missing && (f->parent || scan_workers_options(d->workers)->allow_empty))
		return 0;
	return d->open ? 1 : -1;
}

// Of a snapshot with these names alone, what is not seen is gone.
static void scan_names(struct scan_dir *d, const struct strset *wanted)
{
	CLEANUP(buf_release) struct buf names = buf_up_to(SIZE_MAX / 2);
	struct err e = ERR_INIT;
	if (place_folder_info(d->open, &d->folder->info, &e) < 0)
		report_problem(d, NULL, &e);
	for (size_t i = 0; i < wanted->count; i++) {
		buf_putc(&names, PLACE_UNKNOWN);
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
	struct folder *f = d->folder;
	const struct scan_workers_options *options = scan_workers_options(d->workers);
	if (options->on_folder)
		options->on_folder(options->folder_ctx, f, d->open);
	int64_t looked_at = clock_wall_ns();
	if (place_folder_info(d->open, &f->info, &e) < 0) {
		report_problem(d, NULL, &e);
		return;
	}
	f->is_settled = place_names_are_settled(&f->info.version, looked_at);
	if (!options->lists_all && f->is_settled && f->known.id && f->known.trusted &&
		f->known.mtime_ns == f->info.version.time_ns)
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
		.workers = workers, .worker = worker, .folder = job->folder, .is_alone = job->is_alone};
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
