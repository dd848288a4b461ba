// SPDX-License-Identifier: Apache-2.0
#include "indexer/walk/scan-event.h"

#include <stdlib.h>

#include "lib/base/mem.h"

struct scan_event *scan_event_new(enum scan_event_kind kind, struct folder *folder)
{
	struct scan_event *ev = xcalloc(1, sizeof(*ev));
	ev->kind = kind;
	ev->folder = folder_ref(folder);
	return ev;
}

void scan_event_cleanup(struct scan_event **event)
{
	struct scan_event *ev = STEAL_PTR(*event);
	if (!ev)
		return;
	if (ev->facts)
		ingest_facts_release(ev->facts);
	free(ev->facts);
	if (ev->inside)
		packed_facts_release(ev->inside);
	free(ev->inside);
	if (ev->attached)
		attachment_facts_release(ev->attached);
	free(ev->attached);
	free(ev->text);
	free(ev->filename);
	folder_unref(ev->folder);
	free(ev);
}
