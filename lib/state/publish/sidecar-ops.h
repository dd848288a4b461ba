// SPDX-License-Identifier: Apache-2.0
// Yanks, removes and restores files of a platform, and sets the status of projects. All copies of a name are marked, in
// every folder of the platform, or only the one in `folder` (below the platform; NULL: all). The sidecars are written
// first, then the catalog in one transaction, so that pages change at once. If the process dies in between, the next
// scan reads the sidecars. If the platform has a write path, sidecars are written there alone, and a release is
// requested. One thread at a time for each catalog connection. ERR_NOT_FOUND: the platform has no such file. ERR_BUSY:
// it is frozen.
#pragma once

#include <stdbool.h>

#include "lib/base/err.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/store/store.h"
#include "lib/state/store/tombstone.h"

// Whether the file is there, and can be marked now: its platform is not frozen, and its folders can be opened.
int sidecar_ops_check(const struct platform *p, struct catalog *c, const char *filename, struct err *e) MUST_CHECK;
// reason is the whole text of the mark and may have several lines; "": none.
int sidecar_ops_yank(const struct platform *p, struct catalog *c, const char *filename, const char *reason,
	struct err *e) MUST_CHECK;
int sidecar_ops_unyank(const struct platform *p, struct catalog *c, const char *filename, struct err *e) MUST_CHECK;
// Writes the status of a project (normal form; lib/state/store/project-status.h) into the folder that has it, or a
// folder of the project's name, which is made if it is missing. text: of PROJECT/.status; NULL: the project is active
// again. The project need not be there.
int sidecar_ops_status(const struct platform *p, struct catalog *c, const char *project, const char *text,
	struct err *e) MUST_CHECK;
// Writes a tombstone beside the file. deletes: the bytes are deleted too, after the pages have changed; the tombstone
// stays. A file that has only its tombstone left is no error. The tombstone of a retirement (TOMBSTONE_RETIRED) may be
// written to a platform that is frozen for the retirement.
int sidecar_ops_remove(const struct platform *p, struct catalog *c, const char *filename, const char *folder,
	const struct tombstone *t, bool deletes, struct err *e) MUST_CHECK;
// Removes the tombstone if the bytes still have this hash; each copy is read. The file is then listed again.
// ERR_CONFLICT: other bytes. ERR_NOT_FOUND: only the tombstone is left.
int sidecar_ops_restore(const struct platform *p, struct catalog *c, const char *filename, const char *folder,
	const uint8_t sha256[SHA256_SIZE], struct err *e) MUST_CHECK;
// Deletes the bytes of files that have this tombstone (its text). The tombstone stays. 1: done. 0: no bytes are left.
// ERR_CONFLICT: another tombstone or none, or other bytes; then nothing is deleted.
int sidecar_ops_purge(const struct platform *p, struct catalog *c, const char *filename, const char *folder,
	struct str tombstone, struct err *e) MUST_CHECK;
