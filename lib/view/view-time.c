// SPDX-License-Identifier: Apache-2.0
#include "lib/view/view-time.h"

#include <stdio.h>

#include "lib/os/clock.h"

// No name of a view has "@".
const struct view *view_time_split(const struct site *s, struct str name, struct str *when)
{
	const struct view *v = site_view(s, name);
	struct str base = str_cut(&name, '@');
	*when = v ? (struct str){NULL, 0} : name;
	return v || !base.len ? v : site_view(s, base);
}

const char *view_time_read(const struct view *v, struct str when, int64_t *at)
{
	char text[CLOCK_TEXT];
	if (!v->membership)
		return "this view has no earlier state, because it has no from: it shows all files of its platforms";
	snprintf(text, sizeof(text), STR_FMT, STR_ARG(when));
	if (when.len >= sizeof(text) || !clock_read_end(text, at))
		return "no such time: it is 2026-11-20, for the end of that day (UTC), or 2026-11-20T06:00:00Z";
	*at = *at ? *at : 1;
	return NULL;
}

int view_time_find(const struct site *s, const struct view *v, struct catalog *c, int64_t at, struct view *past,
	struct err *e)
{
	*past = *v;
	past->generation = GENERATION_UNKNOWN;
	return site_generation(s, v) == GENERATION_UNKNOWN
		       ? 0
		       : catalog_view_at(c, v->membership, at, &past->generation, e);
}
