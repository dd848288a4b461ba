// SPDX-License-Identifier: Apache-2.0
// Yanking and removing files that a platform has. All copies of the name are marked, in whichever
// folder of the platform they are: sidecars first, which are the truth, then the catalog in one
// transaction, so that pages show it at once. Killed in between, the next scan sees the sidecar,
// and so does whoever does it again. Where the platform has a write path, they are put there alone, and
// the pages show them after its release, which is wanted from then on. ERR_NOT_FOUND where the platform has no such file, ERR_BUSY
// where it is frozen.
#pragma once

#include <stdbool.h>

#include "lib/base/err.h"
#include "lib/state/catalog.h"
#include "lib/state/store.h"

// reason "": none.
int marks_yank(const struct platform *p, struct catalog *c, const char *filename,
	const char *reason, struct err *e) MUST_CHECK;
int marks_unyank(const struct platform *p, struct catalog *c, const char *filename,
	struct err *e) MUST_CHECK;
// Puts a tombstone beside it. deletes: its bytes go too, after the pages have let go of it; the
// tombstone stays, and where there is nothing else any more all is done.
int marks_remove(const struct platform *p, struct catalog *c, const char *filename,
	const char *reason, const char *by, bool deletes, struct err *e) MUST_CHECK;
