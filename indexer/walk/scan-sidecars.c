// SPDX-License-Identifier: Apache-2.0
#include "indexer/walk/scan-sidecars.h"

#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/mem.h"

// text NULL: it has gone.
static void tell(struct scan_workers *workers, struct folder *folder, const char *filename, enum mark mark,
	const char *text, const struct dir_snapshot_mark *known)
{
	struct scan_event *o = scan_event_new(SCAN_EVENT_MARK, folder);
	o->filename = xstrdup(filename);
	o->mark = mark;
	o->text = text ? xstrdup(text) : NULL;
	o->written = known ? known->row.written : 0;
	scan_workers_tell(workers, o);
}

static void hold_against(struct scan_workers *workers, struct folder *folder, const char *filename, enum mark mark,
	const char *text, const struct dir_snapshot_mark *known)
{
	if (!known || !known->row.text || strcmp(known->row.text, text) != 0)
		tell(workers, folder, filename, mark, text, known);
}

void scan_sidecars_see(struct scan_workers *workers, struct folder *folder, int fd, struct dir_snapshot *known,
	const char *filename, enum mark mark)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, 2 * LIMIT_MARK);
	struct dir_snapshot_mark *one = dir_snapshot_mark(known, filename, mark);
	int found = sidecar_read(fd, filename, mark, &text, &e);
	if (one)
		one->seen = found != 0; // one that cannot be read stays as it was
	if (found > 0)
		hold_against(workers, folder, filename, mark, text.data, one);
	if (found >= 0)
		return;
	atomic_store(&folder->restless, true);
	scan_workers_problem(workers, folder, filename, &e);
}

void scan_sidecars_end(struct scan_workers *workers, struct folder *folder, const struct dir_snapshot *known)
{
	for (size_t i = 0; i < known->mark_count; i++) {
		const struct dir_snapshot_mark *one = &known->mark[i];
		if (!one->seen)
			tell(workers, folder, one->row.filename, one->row.mark, NULL, one);
	}
}
