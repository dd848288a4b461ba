// SPDX-License-Identifier: Apache-2.0
// Platform names (slugs): "<os>-<version>-<arch>", as "ubuntu-22.04-x86_64" or "centos-8-aarch64".
#pragma once

#include <stdbool.h>

#include "lib/base/str.h"

// How platform tags (PEP 600, 656) spell an architecture, which may be named as Debian does: x86_64
// for "amd64". NULL where it is none that we know.
const char *platform_arch(struct str name);
// Looks like <os>-<version>-<arch>: a folder of this name at the top of a store is a platform.
bool platform_is_slug(struct str name);
// May name a platform or a view in a URL: letters, digits, ".", "-", "_", at most 64; not first a
// ".", and none of the first parts of our own paths (simple, files, upload, -), nor what stands in their place (upstream).
bool platform_name_is_valid(struct str name);
