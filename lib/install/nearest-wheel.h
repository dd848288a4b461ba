// SPDX-License-Identifier: Apache-2.0
// Why no wheel of a version installs in a place of struct fits: the wheel that comes nearest, and what it lacks. Pure;
// one thread at a time for each struct fits.
#pragma once

#include "lib/base/buf.h"
#include "lib/install/index-files.h"

// Appends a sentence such as "numpy-2.0-cp312-cp312-manylinux_2_39_x86_64.whl needs glibc 2.39, the platform has 2.35"
// to out, or "no wheel at all". A Requires-Python that excludes some micro versions counts as excluding. Of our files
// those of the place's platform count.
void nearest_wheel(const struct index_files *all, size_t place, const struct index_release *release, struct buf *out);
