// SPDX-License-Identifier: Apache-2.0
// Checks of the paths of archive members, as the archive spells them. Pure functions; any thread.
#pragma once

#include <stdbool.h>

#include "lib/base/str.h"

// Whether unpacking the path could write outside the target folder: it is absolute, has a drive or has a "..". Both "/"
// and "\" end a part.
bool memberpath_leads_out(struct str path);
// Whether the path has neither empty parts nor ".", so that no other spelling of it exists.
bool memberpath_is_plain(struct str path);
