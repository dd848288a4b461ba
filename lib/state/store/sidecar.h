// SPDX-License-Identifier: Apache-2.0
// Marks: small files beside a wheel or an sdist that carry a fact which it does not, and reach
// every replica as it does. X.whl.yanked (PEP 592) holds the reason, and may be empty. X.whl.pruned
// is a tombstone: a JSON object with "reason", "when", "by" and what else somebody wants to know
// later; text that is no JSON is the reason. Folders are open descriptors.
#pragma once

#include <stdbool.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/domain/text/mark.h"

// ".yanked", ".pruned"
extern const char *const sidecar_ending[MARK_COUNT];

// Whether the name is that of a mark beside a wheel or an sdist: which one, and of which file (a
// slice of name).
bool sidecar_is(struct str name, struct str *filename, enum mark *mark);
// Whether a file of this name can have every mark beside it.
bool sidecar_fits(const char *filename);

// Adds the text of a file's mark to out, of a longer one than LIMIT_SIDECAR the beginning: no text is
// a wrong one. 1: it is there; 0: it is not. A link that leads out of the folder is ERR_DENIED.
int sidecar_read(int folder, const char *filename, enum mark mark, struct buf *out, struct err *e) MUST_CHECK;
// Puts the mark there, or other text into it, whole or not at all; on the disk when it returns.
int sidecar_write(int folder, const char *filename, enum mark mark, struct str text, struct err *e) MUST_CHECK;
// Takes it away; it may be gone already.
int sidecar_remove(int folder, const char *filename, enum mark mark, struct err *e) MUST_CHECK;
