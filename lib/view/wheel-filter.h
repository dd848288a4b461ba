// SPDX-License-Identifier: Apache-2.0
// Which of upstream's wheels run on a view's machines: those with a platform tag that one of its platforms has, or "any".
// Python and ABI do not count, for a machine may have a newer Python from elsewhere. All zero: every wheel does. Pure; read by
// any number of threads.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/strset.h"
#include "lib/state/store/store.h"

struct wheel_filter {
	bool is_wanted;
	const struct platform *unknown; // the first of whose machines nothing is known; borrowed
	struct strset tag; // in lower case; none where there is such a one, or no platform: nobody knows what fits
};

void wheel_filter_init(struct wheel_filter *f, const struct platform *const *platform, size_t count);
void wheel_filter_release(struct wheel_filter *f);
// By its name alone; always for what is no wheel.
bool wheel_filter_admits(const struct wheel_filter *f, const char *filename);
