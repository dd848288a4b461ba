// SPDX-License-Identifier: Apache-2.0
// Platform names (slugs): "<os>-<version>-<arch>", such as "ubuntu-22.04-x86_64" or "centos-8-aarch64". Pure functions;
// any thread.
#pragma once

#include <stdbool.h>

#include "lib/base/str.h"

// The spelling of an architecture in platform tags (PEP 600, 656), from this spelling or Debian's: x86_64 for "amd64".
// The result is static. NULL if the architecture is unknown.
const char *platform_arch(struct str name);
// Whether the name has the form <os>-<version>-<arch> with a known architecture. A folder of such a name at the top of
// a store is a platform.
bool platform_is_slug(struct str name);
// Whether a platform or a view may have this name, which is part of URLs: at most 64 letters, digits, ".", "-" and "_",
// without a "." in front. The first parts of the server's own paths (simple, files, upload, -) and "upstream" are
// reserved.
bool platform_name_is_valid(struct str name);
