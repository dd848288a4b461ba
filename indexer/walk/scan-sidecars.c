// SPDX-License-Identifier: Apache-2.0
#include "indexer/walk/scan-sidecars.h"

#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/mem.h"

// text NULL: it has gone.
static void tell(struct crew *crew, struct folder *folder, const char *filename, enum mark mark,
	const char *text, const struct known_mark *known)
{
	struct outcome *o = outcome_new(OUTCOME_MARK, folder);
	o->filename = xstrdup(filename);
	o->mark = mark;
	o->text = text ? xstrdup(text) : NULL;
	o->written = known ? known->row.written : 0;
	crew_tell(crew, o);
}

static void hold_against(struct crew *crew, struct folder *folder, const char *filename,
	enum mark mark, const char *text, const struct known_mark *known)
{
	if (!known || !known->row.text || strcmp(known->row.text, text) != 0)
		tell(crew, folder, filename, mark, text, known);
}

void marking_see(struct crew *crew, struct folder *folder, int fd, struct known *known,
	const char *filename, enum mark mark)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, 2 * LIMIT_MARK);
	struct known_mark *one = known_mark(known, filename, mark);
	int found = sidecar_read(fd, filename, mark, &text, &e);
	if (one)
		one->seen = found != 0; // one that cannot be read stays as it was
	if (found > 0)
		hold_against(crew, folder, filename, mark, text.data, one);
	if (found >= 0)
		return;
	atomic_store(&folder->restless, true);
	crew_problem(crew, folder, filename, &e);
}

void marking_end(struct crew *crew, struct folder *folder, const struct known *known)
{
	for (size_t i = 0; i < known->mark_count; i++) {
		const struct known_mark *one = &known->mark[i];
		if (!one->seen)
			tell(crew, folder, one->row.filename, one->row.mark, NULL, one);
	}
}
