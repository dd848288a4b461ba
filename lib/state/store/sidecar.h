// SPDX-License-Identifier: Apache-2.0
// Sidecars: small files beside a wheel or an sdist that carry a mark and reach every replica as the file does.
// X.whl.yanked (PEP 592) holds the reason, and may be empty. X.whl.pruned is a tombstone (tombstone.h). X.whl.time has
// the time of a file that came from another store, where the place keeps none (mark.h). PROJECT/.status is
// beside all files of a project (project-status.h): its mark stands under the project's name. A folder is open, and
// borrowed. Any thread. Errors are ERR_IO and ERR_FULL, if not said otherwise.
#pragma once

#include <stdbool.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/domain/text/mark.h"
#include "lib/place/place.h"

// ".yanked", ".pruned", ".status", ".time"
extern const char *const sidecar_ending[MARK_COUNT];

// Whether the name is that of a sidecar. *filename, a slice of name: of which wheel or sdist; empty: it is .status.
bool sidecar_is(struct str name, struct str *filename, enum mark *mark);
// The name under which the mark stands, which the caller frees: the filename that sidecar_is() gives; of .status the
// project (normal form) that the folder is named after. NULL: it has no such name, and .status means nothing there.
// folder: its path below the platform.
char *sidecar_subject(struct str filename, enum mark mark, const char *folder);
// Whether the name is short enough for every sidecar's name.
bool sidecar_fits(const char *filename);

// filename: sidecar_subject().
// Appends the text of a file's sidecar to out, at most LIMIT_SIDECAR bytes; any text is valid. 1: it exists; 0: it does
// not. ERR_DENIED: it is a link that leads out of the folder.
int sidecar_read(struct place_folder *folder, const char *filename, enum mark mark, struct buf *out, struct err *e) MUST_CHECK;
// Creates or replaces the sidecar, whole or not at all. It is on the disk when this returns.
int sidecar_write(struct place_folder *folder, const char *filename, enum mark mark, struct str text, struct err *e) MUST_CHECK;
// Removes the sidecar, if it exists.
int sidecar_remove(struct place_folder *folder, const char *filename, enum mark mark, struct err *e) MUST_CHECK;
