// SPDX-License-Identifier: Apache-2.0
// Which of upstream's wheels run on a view's machines: those with a platform tag that one of its platforms has, or "any".
// Python and ABI do not count, for a machine may have a newer Python from elsewhere. All zero: every wheel does. Pure; read by
// any number of threads.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/strset.h"
#include "lib/state/store/store.h"

struct fitting {
	bool is_wanted;
	const struct platform *unknown; // the first of whose machines nothing is known; borrowed
	struct names tag; // in lower case; none where there is such a one, or no platform: nobody knows what fits
};

void fitting_init(struct fitting *f, const struct platform *const *platform, size_t count);
void fitting_release(struct fitting *f);
// By its name alone; always for what is no wheel.
bool fitting_admits(const struct fitting *f, const char *filename);
