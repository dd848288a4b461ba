// SPDX-License-Identifier: Apache-2.0
// Why no wheel of a version installs in an environment: the wheel that comes nearest, and what it lacks. Pure; one
// thread at a time for each struct fits.
#pragma once

#include "lib/base/buf.h"
#include "lib/domain/machine/environment.h"
#include "lib/install/offers.h"

// Where a wheel is to be installed.
struct nearest_place {
	size_t environment; // of struct fits
	int64_t platform;   // the id of ours
	const struct machine *machine;
	const struct python *python;
};

// Appends a sentence such as "numpy-2.0-cp312-cp312-manylinux_2_39_x86_64.whl needs glibc 2.39, the platform has 2.35"
// to out, or "no wheel at all". A Requires-Python that excludes some micro versions counts as excluding.
void nearest_describe(const struct offers *o, const struct nearest_place *place, const struct offers_release *release,
	struct buf *out);
