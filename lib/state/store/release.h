// SPDX-License-Identifier: Apache-2.0
// Releases: whatever was written to a platform's write path is served after its release command has run. What waits for
// that is noted in files beside the catalog (catalog.db.release/PLATFORM.wanted), a line a file, so that no end of a process
// loses it: while a release is under way the lines are in PLATFORM.running, and after a failed one they stay there.
//
// Any number of processes of one machine may want releases and run them: of one volume one runs at a time.
// Thread-safe. What has no release command wants nothing.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"
#include "lib/state/store/store.h"

// After a file of a folder of the platform was written or removed, and before anybody is told so.
int release_want(const char *catalog, const struct platform *p, const char *folder, const char *filename,
	struct err *e) MUST_CHECK;
// Whether one is wanted, and since when (seconds since 1970).
bool release_is_wanted(const char *catalog, const struct platform *p, int64_t *since);
// What waits for it, as far as it is at the write path and not in the served one.
struct release_backlog {
	uint64_t files, bytes;
};
int release_backlog(const char *catalog, const struct platform *p, struct release_backlog *out,
	struct err *e) MUST_CHECK;
// Releases what is wanted: runs the command, waits until the served path shows the files, and tells the catalog of them.
// 1: done; 0: nothing is wanted (any more). ERR_BUSY: another process is at it, and waits is false. Else ERR_IO: the
// command (lib/os/hook.h), or that the served path does not show what it should; all is wanted as before.
int release_run(const char *catalog, const struct platform *p, const _Atomic int64_t *end_ms, bool waits,
	struct err *e) MUST_CHECK;
