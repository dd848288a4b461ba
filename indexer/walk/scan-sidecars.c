// SPDX-License-Identifier: Apache-2.0
#include "indexer/walk/scan-sidecars.h"

#include <fcntl.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/mem.h"
#include "lib/os/clock.h"

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

static void compare_mark(struct scan_workers *workers, struct folder *folder, const char *filename, enum mark mark,
	const char *text, const struct dir_snapshot_mark *known)
{
	if (!known || !known->row.text || strcmp(known->row.text, text) != 0)
		report_mark(workers, folder, filename, mark, text, known);
}

void scan_sidecars_check(struct scan_workers *workers, struct folder *folder, int fd, struct dir_snapshot *known,
	const char *filename, enum mark mark)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, 2 * LIMIT_SIDECAR);
	struct dir_snapshot_mark *row = dir_snapshot_mark(known, filename, mark);
	int found = sidecar_read(fd, filename, mark, &text, &e);
	if (row)
		row->seen = found != 0; // the row of a mark that cannot be read stays
	if (found > 0)
		compare_mark(workers, folder, filename, mark, text.data, row);
	if (found >= 0)
		return;
	atomic_store(&folder->needs_rescan, true);
	scan_workers_send_problem(workers, folder, filename, &e);
}

// attached NULL: it is gone. Takes over what attached owns.
static void report_attachment(struct scan_workers *workers, struct folder *folder, const char *filename,
	enum attachment kind, struct attachment_facts *attached, const struct dir_snapshot_attachment *known)
{
	struct scan_event *ev = scan_event_new(SCAN_EVENT_ATTACHMENT, folder);
	ev->filename = xstrdup(filename);
	ev->attachment = kind;
	ev->written = known ? known->row.written : 0;
	ev->is_known = known && attached && known->row.size == (uint64_t)attached->st.st_size &&
		       known->row.mtime_ns == fs_mtime_ns(&attached->st);
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

static bool is_unchanged_attachment(const struct scan_workers *workers, int fd, const char *filename,
	enum attachment kind, const struct dir_snapshot_attachment *known)
{
	struct stat st;
	CLEANUP(mem_free) char *name = attachment_file_name(filename, kind);
	return known && known->row.trusted && !scan_workers_options(workers)->reads_attachments && name &&
	       fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
	       known->row.size == (uint64_t)st.st_size && known->row.mtime_ns == fs_mtime_ns(&st) &&
	       known->row.inode == st.st_ino;
}

// The same bytes are written again where their time differs, or was not to be trusted.
static bool differs_from_row(const struct scan_workers *workers, const struct attachment_facts *attached,
	const struct dir_snapshot_attachment *known)
{
	if (!known || memcmp(known->row.sha256, attached->sha256, SHA256_SIZE) != 0)
		return true;
	bool is_settled = known->row.trusted || !fs_mtime_is_reliable(fs_mtime_ns(&attached->st), clock_wall_ns());
	return !scan_workers_options(workers)->reads_attachments &&
	       (!is_settled || known->row.mtime_ns != fs_mtime_ns(&attached->st) ||
		       known->row.inode != attached->st.st_ino);
}

void scan_sidecars_check_attachment(struct scan_workers *workers, struct folder *folder, int fd,
	struct dir_snapshot *known, const char *filename, enum attachment kind)
{
	struct err e = ERR_INIT;
	struct dir_snapshot_attachment *row = dir_snapshot_attachment(known, filename, kind);
	CLEANUP(attachment_facts_release) struct attachment_facts attached = {0};
	if (is_unchanged_attachment(workers, fd, filename, kind, row)) {
		row->seen = true;
		return;
	}
	int found = attachment_file_read(fd, filename, kind, &attached, &e);
	if (found < 0 && e.kind == ERR_DENIED) { // a link that leads out of the store or in a circle
		scan_workers_send_link(workers, folder, fd, filename, "it leads out of the store, or in a circle");
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

void scan_sidecars_remove_unseen(struct scan_workers *workers, struct folder *folder, const struct dir_snapshot *known)
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
