// SPDX-License-Identifier: Apache-2.0
#include "indexer/walk/scan-event.h"

#include <stdlib.h>

#include "lib/base/mem.h"

struct scan_event *scan_event_new(enum scan_event_kind kind, struct folder *folder)
{
	struct scan_event *o = xcalloc(1, sizeof(*o));
	o->kind = kind;
	o->folder = folder_ref(folder);
	return o;
}

void scan_event_cleanup(struct scan_event **outcome)
{
	struct scan_event *o = STEAL_PTR(*outcome);
	if (!o)
		return;
	if (o->facts)
		ingest_facts_release(o->facts);
	free(o->facts);
	free(o->text);
	free(o->filename);
	folder_unref(o->folder);
	free(o);
}
