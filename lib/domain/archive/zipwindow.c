// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/archive/zipwindow.h"

#include <stdlib.h>

enum { READ_AHEAD = 4096 }; // one read covers the headers of several small members

void zipwindow_release(struct zipwindow *w)
{
	free(w->bytes);
}

const char *zipwindow_get(struct zipwindow *w, uint64_t at, size_t len, struct err *e)
{
	const struct byte_source *s = w->source;
	if (at > s->size || len > s->size - at) {
		err_set(e, ERR_INVALID, "Malformed zip file: truncated");
		return NULL;
	}
	if (s->memory)
		return s->memory + at;
	if (at >= w->at && at - w->at <= w->len && len <= w->len - (at - w->at))
		return w->bytes + (at - w->at);
	size_t want = len > READ_AHEAD ? len : READ_AHEAD;
	if (want > s->size - at)
		want = (size_t)(s->size - at);
	if (want > w->room) {
		w->bytes = xreallocarray(w->bytes, want, 1);
		w->room = want;
	}
	w->len = 0;
	if (byte_source_read(s, at, w->bytes, want, e) < 0)
		return NULL;
	w->at = at;
	w->len = want;
	return w->bytes;
}
