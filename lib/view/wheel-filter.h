// SPDX-License-Identifier: Apache-2.0
// Selects the wheels of upstream that run on a view's machines: those with a platform tag of one of its platforms, or
// "any". Python and ABI tags are ignored, because a machine may have further Pythons. A filter of zeros admits every
// wheel. Pure functions; any thread may read a filter.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/strset.h"
#include "lib/state/store/store.h"

struct wheel_filter {
	bool is_enabled;
	const struct platform *unknown; // the first platform without a profile, borrowed; NULL: none
	struct strset tag; // in lower case; empty if a platform is unknown or there is none: all wheels are admitted
};

// Makes the filter of these platforms. The caller releases it.
void wheel_filter_init(struct wheel_filter *f, const struct platform *const *platform, size_t count);
void wheel_filter_release(struct wheel_filter *f);
// Decides by the file name alone. Always true for files that are not wheels.
bool wheel_filter_admits(const struct wheel_filter *f, const char *filename);
