// SPDX-License-Identifier: Apache-2.0
// The marks that a distribution file can have, and the texts of the files that carry them: yanked (PEP 592), whose text is
// the reason, and pruned, whose text is a JSON object with "reason". Pure functions: any thread.
#pragma once

#include <stdbool.h>

#include "lib/base/buf.h"

enum mark { MARK_YANKED, MARK_PRUNED, MARK_COUNT };

// The last line of a yank that is upstream's begins with this: `prune follow` put it there because upstream yanked the
// release, takes it away when upstream does, and it is no part of the reason.
#define MARK_FOLLOWS "wheelcache: yanked by "
bool mark_follows(struct str text);
// Adds the reason that a mark's text gives, as one line of at most LIMIT_REASON bytes.
void mark_reason(enum mark mark, struct str text, struct buf *out);
