// SPDX-License-Identifier: Apache-2.0
#include "indexer/walk/scan-event.h"

#include <stdlib.h>

#include "lib/base/mem.h"

struct outcome *outcome_new(enum outcome_kind kind, struct folder *folder)
{
	struct outcome *o = xcalloc(1, sizeof(*o));
	o->kind = kind;
	o->folder = folder_ref(folder);
	return o;
}

void outcome_cleanup(struct outcome **outcome)
{
	struct outcome *o = STEAL_PTR(*outcome);
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
