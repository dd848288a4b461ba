// SPDX-License-Identifier: Apache-2.0
#include "indexer/walk/scan-sidecars.h"

#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/mem.h"

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

void scan_sidecars_remove_unseen(struct scan_workers *workers, struct folder *folder, const struct dir_snapshot *known)
{
	for (size_t i = 0; i < known->mark_count; i++) {
		const struct dir_snapshot_mark *row = &known->mark[i];
		if (!row->seen)
			report_mark(workers, folder, row->row.filename, row->row.mark, NULL, row);
	}
}
