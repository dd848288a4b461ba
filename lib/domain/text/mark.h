// SPDX-License-Identifier: Apache-2.0
// The marks that a distribution file or a project can have, and the texts of the sidecars that hold them. The text of a
// yank (PEP 592) is its reason; that of a tombstone, or of a project's status (PEP 792), is a JSON object with a
// "reason". Pure functions; any thread.
#pragma once

#include <stdbool.h>

#include "lib/base/buf.h"
#include "lib/format/digest.h"

enum mark { MARK_YANKED, MARK_PRUNED, MARK_STATUS, MARK_TIME, MARK_COUNT };

// The last line of a yank that was copied from upstream begins with this. `prune follow` writes such a yank when
// upstream yanks the release, and removes it when upstream removes its own. The line is not part of the reason.
#define MARK_FROM_UPSTREAM "wheelcache: yanked by "
// Whether the text of a yank ends with that line.
bool mark_is_from_upstream(struct str text);
// The text of MARK_TIME: when a file with this hash was uploaded first, in seconds since 1970, where the place of the
// file does not keep that. mark_time_read: false if it is no such text.
enum { MARK_TIME_TEXT = 88 };
void mark_time_write(int64_t uploaded, const uint8_t sha256[SHA256_SIZE], char out[MARK_TIME_TEXT]);
bool mark_time_read(const char *text, int64_t *uploaded, uint8_t sha256[SHA256_SIZE]);
// Appends the reason in the text of a mark, as one line of at most LIMIT_REASON bytes.
void mark_reason(enum mark mark, struct str text, struct buf *out);
