// SPDX-License-Identifier: Apache-2.0
// When the members of a view came into it: the times of the generations that added them. One thread at a time.
#pragma once

#include "lib/state/catalog/catalog-view.h"

struct promoted_times;

// Reads the times of all generations. view is borrowed. The caller closes *out.
int promoted_times_open(const char *view, struct catalog *c, struct promoted_times **out, struct err *e) MUST_CHECK;
void promoted_times_close(struct promoted_times *t); // NULL is fine
// Reads the members of a project, in place of those of the one before.
int promoted_times_load(struct promoted_times *t, const char *project, struct err *e) MUST_CHECK;
// Seconds since 1970; 0: it is not a member.
int64_t promoted_times_find(const struct promoted_times *t, int64_t platform, const char *filename);
