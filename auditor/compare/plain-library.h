// SPDX-License-Identifier: Apache-2.0
// Names of libraries without what differs from build to build: the hash that auditwheel adds, also more than once, as
// where a library that was bundled is bundled again. The texts are in the arena, or borrowed. Pure functions; any thread.
#pragma once

#include "lib/base/arena.h"

// "libssl.so.3" of "libssl-3a1b2c3d.so.3"; the name itself if it has no hash.
const char *plain_library_name(struct arena *text, const char *name);
// "libssl" of the same.
const char *plain_library_stem(struct arena *text, const char *name);
