// SPDX-License-Identifier: Apache-2.0
// The part of missing.h that needs no catalog.
#include "builder/missing/missing.h"

#include <stdlib.h>

bool missing_has_column(const struct missing *m, enum wheel_status status)
{
	return status != WHEEL_UNPROMOTED || m->total[status];
}

void missing_release(struct missing *m)
{
	free(m->branch);
	free(m->environment);
	free(m->row);
	arena_release(&m->text);
	*m = (struct missing){0};
}
