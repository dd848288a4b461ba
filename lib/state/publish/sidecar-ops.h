// SPDX-License-Identifier: Apache-2.0
// Yanking and removing files that a platform has, and taking that back. All copies of the name are marked, in whichever
// folder of the platform they are, or the one in `folder` alone (below the platform): sidecars first, which are the
// truth, then the catalog in one transaction, so that pages show it at once. Killed in between, the next scan sees the sidecar,
// and so does whoever does it again. Where the platform has a write path, they are put there alone, and
// the pages show them after its release, which is wanted from then on. ERR_NOT_FOUND where the platform has no such file, ERR_BUSY
// where it is frozen.
#pragma once

#include <stdbool.h>

#include "lib/base/err.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/store/store.h"
#include "lib/state/store/tombstone.h"

// reason "": none. It is the whole text of the mark, and may have several lines.
int sidecar_ops_yank(const struct platform *p, struct catalog *c, const char *filename, const char *reason,
	struct err *e) MUST_CHECK;
int sidecar_ops_unyank(const struct platform *p, struct catalog *c, const char *filename, struct err *e) MUST_CHECK;
// Puts a tombstone beside it. deletes: its bytes go too, after the pages have let go of it; the
// tombstone stays, and where there is nothing else any more all is done. The tombstone of a retirement
// (TOMBSTONE_RETIRED) is put on a platform that was frozen for it.
int sidecar_ops_remove(const struct platform *p, struct catalog *c, const char *filename, const char *folder,
	const struct tombstone *t, bool deletes, struct err *e) MUST_CHECK;
// Takes the tombstone away where the bytes are there and still those (sha256): each copy is read. Then it is listed
// again. ERR_CONFLICT: other bytes. ERR_NOT_FOUND: there is nothing but the tombstone.
int sidecar_ops_restore(const struct platform *p, struct catalog *c, const char *filename, const char *folder,
	const uint8_t sha256[SHA256_SIZE], struct err *e) MUST_CHECK;
// Deletes the bytes of what has this very tombstone (its text), and no others. The tombstone stays. 1: done. 0: nothing
// is there any more. ERR_CONFLICT: another tombstone or none, or other bytes; nothing is deleted then.
int sidecar_ops_purge(const struct platform *p, struct catalog *c, const char *filename, const char *folder,
	struct str tombstone, struct err *e) MUST_CHECK;
