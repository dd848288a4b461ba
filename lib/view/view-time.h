// SPDX-License-Identifier: Apache-2.0
// A view as it was at a time: "tested@2026-11-20", at the end of that day (UTC), or "tested@2026-11-20T06:00:00Z". Its
// membership is the generation that was the newest then, and its files are those that are there now. Any thread; one at
// a time per catalog connection.
#pragma once

#include "lib/view/view.h"

// The view of a name that may have "@TIME" behind it, borrowed from the site; NULL: none. *when: the TIME, a slice of
// name; its ptr is NULL where there is none.
const struct view *view_time_split(const struct site *s, struct str name, struct str *when);
// Reads the TIME into *at: seconds since 1970, at least 1. Returns NULL, or what is wrong: a literal.
const char *view_time_read(const struct view *v, struct str when, int64_t *at);
// Makes *past the view v of the site at that time. It borrows all from v. The catalog's errors.
int view_time_find(const struct site *s, const struct view *v, struct catalog *c, int64_t at, struct view *past,
	struct err *e) MUST_CHECK;
